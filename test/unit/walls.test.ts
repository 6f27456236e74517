import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forbidden, importsIn, importsOf, roomsIn } from '../fixture/walls.ts';

const ROOT = join(import.meta.dirname, '../..');
const rooms = roomsIn(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'));

describe('the table of rooms in ARCHITECTURE.md', () => {
  it('lists every room of src/, and no other', () => {
    const there = readdirSync(join(ROOT, 'src')).toSorted();
    expect(rooms.map(({ name }) => name).toSorted()).toEqual(there);
  });

  it('lists every import of src/', () => {
    const imports = importsIn(join(ROOT, 'src'));
    expect(imports.length).toBeGreaterThan(1000);
    expect(forbidden(rooms, imports)).toEqual([]);
  });

  it('lists nothing that nobody imports', () => {
    const imports = importsIn(join(ROOT, 'src'));
    const unused = rooms.flatMap(({ name, rooms: others, packages }) => {
      const own = imports.filter(({ from }) => from.split('/')[0] === name);
      const isUsed = (listed: string): boolean =>
        listed === 'node:*' || own.some(({ to }) => to === listed || to.startsWith(`${listed}/`));
      return [...others, ...packages].filter((one) => !isUsed(one)).map((one) => `${name}: ${one}`);
    });
    expect(unused).toEqual([]);
  });
});

it('no file of src/ has more than 300 lines', () => {
  const names = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const long = names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.gen.ts'))
    .filter((name) => readFileSync(join(ROOT, 'src', name), 'utf8').split('\n').length > 301);
  expect(names.length).toBeGreaterThan(200);
  expect(long).toEqual([]);
});

describe('an import that the table does not list is named', () => {
  it.each([
    ['plan/guard.ts', "import { resolve } from '../desired/resolve.ts';"],
    ['plan/guard.ts', "import type { Markup } from '../render/html/markup.ts';"],
    ['plan/guard.ts', "export { client } from '../github/client.ts';"],
    ['desired/parse.ts', "import { planSettings } from '../plan/plan-settings.ts';"],
    ['render/plan-text.ts', "import '../plan/plan-settings.ts';"],
    ['reconcile/send.ts', "import { resolve } from '../desired/resolve.ts';"],
    ['reconcile/send.ts', "const { planText } = await import('../render/plan-text.ts');"],
    ['cli/main.ts', "import { Agent } from 'undici';"],
    ['operations/plan.ts', "import { readFileSync } from 'fs';"],
    ['operations/plan.ts', "import Agent from 'undici/index.js';"],
    ['operations/plan.ts', "import { readBody } from '../emulator/http/read-body.ts';"],
    ['model/secret.ts', "import { planText } from '../render/plan-text.ts';"],
    ['model/secret.ts', "import { readFileSync } from 'node:fs';"],
    ['util/helpers.ts', "import { join } from 'node:path';"],
  ])('%s: %s', (file, text) => {
    expect(forbidden(rooms, importsOf(file, text))).toHaveLength(1);
  });

  it('and one that it lists is not', () => {
    const text = "import { startEmulator } from '../emulator/start.ts'; import 'node:path';";
    expect(forbidden(rooms, importsOf('operations/open-target.ts', text))).toEqual([]);
  });
});
