import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { circlesIn, forbidden, importsIn, importsOf, roomsIn, wingOf } from '../fixture/walls.ts';

const ROOT = join(import.meta.dirname, '../..');
const imports = importsIn(join(ROOT, 'src'));
const rooms = roomsIn(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'));

describe('the table of rooms in ARCHITECTURE.md', () => {
  it('lists every room of src/, and no other', () => {
    const there = readdirSync(join(ROOT, 'src'))
      .flatMap((wing) =>
        ['emulator', 'index.ts'].includes(wing)
          ? [wing]
          : readdirSync(join(ROOT, 'src', wing)).map((room) => `${wing}/${room}`),
      )
      .toSorted();
    expect(rooms.map(({ name }) => name).toSorted()).toEqual(there);
  });

  it('lists every import of src/', () => {
    expect(imports.length).toBeGreaterThan(1000);
    expect(forbidden(rooms, imports)).toEqual([]);
  });

  it('lists nothing that nobody imports', () => {
    const unused = rooms.flatMap(({ name, rooms: others, packages }) => {
      const own = imports.filter(({ from }) => from === name || from.startsWith(`${name}/`));
      const isUsed = (listed: string): boolean =>
        listed === 'node:*' || own.some(({ to }) => to === listed || to.startsWith(`${listed}/`));
      return [...others, ...packages].filter((one) => !isUsed(one)).map((one) => `${name}: ${one}`);
    });
    expect(unused).toEqual([]);
  });
});

it('no pure room keeps a result outside of model/cache.ts', () => {
  const pure = rooms.filter(({ isPure }) => isPure).map(({ name }) => name);
  const caches = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && pure.some((room) => name.startsWith(`${room}/`)))
    .filter((name) => readFileSync(join(ROOT, 'src', name), 'utf8').includes('new WeakMap'));
  expect(pure.length).toBeGreaterThan(5);
  expect(caches).toEqual(['reconciler/model/cache.ts']);
});

it('no file of src/ has more than 450 lines', () => {
  const names = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const long = names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.gen.ts'))
    .filter((name) => readFileSync(join(ROOT, 'src', name), 'utf8').split('\n').length > 451);
  expect(names.length).toBeGreaterThan(200);
  expect(long).toEqual([]);
});

it('a wing imports no other wing than it may', () => {
  const MAY: Readonly<Record<string, readonly string[]>> = {
    reconciler: ['emulator/start.ts'],
    command: ['reconciler', 'controller', 'emulator'],
    controller: ['reconciler'],
    emulator: [],
    'index.ts': ['reconciler', 'emulator/start.ts'],
  };
  const crossing = imports
    .filter(({ to }) => to.endsWith('.ts'))
    .filter(({ from, to }) => wingOf(from) !== wingOf(to));
  const others = crossing.filter(
    ({ from, to }) => !MAY[wingOf(from)]?.some((one) => one === to || one === wingOf(to)),
  );
  expect(crossing.length).toBeGreaterThan(400);
  expect(others).toEqual([]);
});

describe('circles of files, of imports of types too', () => {
  it('there are none', () => {
    expect(circlesIn(imports)).toEqual([]);
  });

  it.each([
    ['a.ts b.ts, b.ts c.ts, c.ts a.ts, c.ts d.ts', [['a.ts', 'b.ts', 'c.ts']]],
    ['a.ts b.ts, a.ts c.ts, b.ts d.ts, c.ts d.ts', []],
    [
      'e.ts b.ts, a.ts b.ts, b.ts a.ts, b.ts c.ts, c.ts d.ts, d.ts c.ts',
      [
        ['c.ts', 'd.ts'],
        ['a.ts', 'b.ts'],
      ],
    ],
    ['a.ts b.ts, b.ts a.ts, a.ts node:fs', [['a.ts', 'b.ts']]],
  ])('of %s they are %j', (arrows, circles) => {
    const drawn = arrows.split(', ').map((arrow) => {
      const [from = '', to = ''] = arrow.split(' ');
      return { from, to };
    });
    expect(circlesIn(drawn)).toEqual(circles);
  });
});

describe('an import that the table does not list is named', () => {
  it.each([
    ['reconciler/plan/guard.ts', "import { resolve } from '../desired/resolve.ts';"],
    ['reconciler/plan/guard.ts', "import type { Markup } from '../render/html/page.ts';"],
    ['reconciler/plan/guard.ts', "export { client } from '../../command/github/client.ts';"],
    ['reconciler/desired/parse.ts', "import { planSettings } from '../plan/plan-settings.ts';"],
    ['reconciler/render/plan-text.ts', "import '../plan/plan-settings.ts';"],
    ['reconciler/reconcile/send.ts', "import { resolve } from '../desired/resolve.ts';"],
    [
      'reconciler/reconcile/send.ts',
      "const { planText } = await import('../render/plan-text.ts');",
    ],
    ['command/cli/main.ts', "import { Agent } from 'undici';"],
    ['reconciler/operations/plan.ts', "import { readFileSync } from 'fs';"],
    ['reconciler/operations/plan.ts', "import Agent from 'undici/index.js';"],
    [
      'reconciler/operations/plan.ts',
      "import { readBody } from '../../emulator/http/read-body.ts';",
    ],
    ['reconciler/model/secret.ts', "import { planText } from '../render/plan-text.ts';"],
    ['reconciler/model/secret.ts', "import { readFileSync } from 'node:fs';"],
    ['util/helpers.ts', "import { join } from 'node:path';"],
  ])('%s: %s', (file, text) => {
    expect(forbidden(rooms, importsOf(file, text))).toHaveLength(1);
  });

  it('and one that it lists is not', () => {
    const text = "import { startEmulator } from '../../emulator/start.ts'; import 'node:path';";
    expect(forbidden(rooms, importsOf('reconciler/operations/open-target.ts', text))).toEqual([]);
  });
});
