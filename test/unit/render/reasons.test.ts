import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Change } from '../../../src/reconciler/model/plan.ts';
import { ACTIONS } from '../../../src/reconciler/model/action.ts';
import {
  addRenameWay,
  REASON_CODES,
  REASONS,
  type Reason,
} from '../../../src/reconciler/model/reasons.ts';
import type { Json } from '../../../src/reconciler/model/value.ts';
import { changeText } from '../../../src/reconciler/render/section-text.ts';
import { toShownChange } from '../../../src/reconciler/render/change.ts';

const STYLE = { color: false, verbose: true, width: 80 };
const ALL = Object.entries<Reason>(REASONS).flatMap(([name, reason]) => [
  [name, reason] as const,
  [`${name} by way of another name`, addRenameWay(reason, 'OLD__next')] as const,
]);

function changeWith(reason: Reason, action: Change['action'], sensitive: boolean): Change<Json> {
  const own = { before: sensitive ? '(sensitive)' : 'a', after: sensitive ? '(sensitive)' : 'b' };
  return {
    resource: 'secret',
    path: ['secrets', 'OLD'],
    action,
    ...own,
    sensitive,
    ref: sensitive ? '${env:OLD}' : null,
    ...reason,
    source: null,
  };
}

it.each(ALL)(
  'a drift reports what was found, and nothing that an apply would do: %s',
  (_, reason) => {
    for (const action of ACTIONS)
      for (const sensitive of [true, false]) {
        const change = changeWith(reason, action, sensitive);
        const drift = changeText(toShownChange(change, 'drift'), STYLE).join('\n');
        expect(drift).not.toMatch(/will be|by way of/);
      }
    const plan = changeText(toShownChange(changeWith(reason, 'rotate', true), 'plan'), STYLE);
    expect(plan.join('\n')).toContain(reason.reason);
  },
);

it('no sentence but those of the table says what an apply would do', () => {
  const root = join(import.meta.dirname, '../../../src/reconciler');
  const saying = ['plan', 'resources'].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).flatMap((path) => {
      if (!path.endsWith('.ts')) return [];
      const text = readFileSync(join(root, room, path), 'utf8');
      return /['"`][^'"`\n]*[,:;] will be /.test(text) ? [`${room}/${path}`] : [];
    }),
  );
  expect(saying).toEqual([]);
});

it.each(['plan', 'outcome'])('the schema of a %s has each code of the table', (name) => {
  const file = join(import.meta.dirname, `../../../schemas/${name}.schema.json`);
  const schema = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly $defs: Readonly<Record<string, { properties?: { code?: { enum?: string[] } } }>>;
  };
  const lists = Object.values(schema.$defs).flatMap(({ properties }) =>
    properties?.code?.enum?.includes('not-set') === true ? [properties.code.enum] : [],
  );
  expect(lists).toEqual([REASON_CODES]);
});

it('no program compares a sentence', () => {
  const root = join(import.meta.dirname, '../../../src');
  const sentence =
    /\b(?:reason|message|hint|words|summary)\s*[!=]==\s*('[^']* [^']*'|`|[A-Z_.a-z]*[A-Z_]{3,}[\w.]*|\w+\.reason)/g;
  const comparing = readdirSync(root, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    if (!path.endsWith('.ts') || path.startsWith('emulator')) return [];
    const text = readFileSync(join(root, path), 'utf8');
    // The reason of a condition is a code of Kubernetes.
    const isCode = (all: string) => path.startsWith('controller/cluster') && /^reason\b/.test(all);
    return [...text.matchAll(sentence)].flatMap(([all]) =>
      isCode(all) ? [] : [`${path}: ${all}`],
    );
  });
  expect(comparing).toEqual([]);
});
