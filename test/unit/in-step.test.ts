import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SCHEMAS } from '../../src/command/cli/words.ts';
import { ACTIONS } from '../../src/reconciler/model/action.ts';
import { fields } from '../../src/reconciler/model/field.ts';
import { RULES } from '../../src/reconciler/model/guard.ts';
import { VERSION } from '../../src/reconciler/model/version.ts';
import { RESOURCES } from '../../src/reconciler/resources/resources.ts';

interface ChangeSchema {
  readonly properties: Readonly<Record<'resource' | 'action', { readonly enum: unknown }>>;
}

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The rows of the tables in a page: the first two cells. */
function rows(page: string): string[][] {
  return [...read(page).matchAll(/^\| `([a-z0-9-]+)` \| ([^|]+) \|/gm)].map(
    ([, code = '', cell = '']) => [code, cell.trim()],
  );
}

describe('what is written twice is the same', () => {
  it('a guard is in the guide, in the file by its name, and in the schemas of plans and outcomes', () => {
    expect(rows('docs/guides/guards.md').map(([rule]) => rule)).toEqual([...RULES]);
    const schemaOf = (name: string) =>
      JSON.parse(read(`schemas/${name}.schema.json`)) as {
        $defs: {
          guards: { properties: Record<string, unknown> };
          refusal: { properties: { rule: { enum: string[] } } };
        };
      };
    for (const rule of RULES)
      expect(schemaOf('settings').$defs.guards.properties).toHaveProperty(
        rule.replaceAll('-', '_'),
      );
    for (const name of ['plan', 'outcome'])
      expect(schemaOf(name).$defs.refusal.properties.rule.enum).toEqual([...RULES, 'frozen']);
  });

  it('documents may be about each resource, and say each verb of it', () => {
    const resources = RESOURCES.map(({ name }) => name);
    for (const name of ['plan', 'outcome', 'explain']) {
      const text = read(`schemas/${name}.schema.json`);
      const { change } = (JSON.parse(text) as { $defs: { change: ChangeSchema } }).$defs;
      expect(change.properties.resource.enum).toEqual(resources);
      expect(change.properties.action.enum).toEqual(ACTIONS);
    }
    const outcome = read('schemas/outcome.schema.json');
    const { remainder } = (JSON.parse(outcome) as { $defs: { remainder: ChangeSchema } }).$defs;
    expect(remainder.properties.resource.enum).toEqual(resources);
  });

  it('docs/reference/library.md lists what each door of the package exports', () => {
    const { exports } = JSON.parse(read('package.json')) as {
      exports: Record<string, { import: { types: string } } | string>;
    };
    const doors = Object.entries(exports).flatMap(([door, to]) =>
      typeof to === 'string' ? [] : [{ name: `setpoint${door.slice(1)}`, file: to.import.types }],
    );
    expect(doors.map(({ name }) => name)).toEqual([
      'setpoint',
      'setpoint/watch',
      'setpoint/emulator',
    ]);
    const [main = '', ...others] = read('docs/reference/library.md').split(/^## (?=setpoint\/)/m);
    expect(others.map((section) => section.split('\n')[0])).toEqual(
      doors.slice(1).map(({ name }) => name),
    );
    for (const [index, { file }] of doors.entries()) {
      const listed = [main, ...others][index] ?? '';
      const source = read(file.replace('./dist', 'src').replace('.d.ts', '.ts'));
      const names = [...source.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, all = '']) =>
        all.split(',').flatMap((one) => /(\w+)\s*$/.exec(one.trim())?.[1] ?? []),
      );
      expect(names.length).toBeGreaterThan(2);
      const isMissing = (name: string): boolean =>
        !listed.includes(`\n### ${name}\n`) && !listed.includes(`\n| \`${name}\` |`);
      expect(names.filter(isMissing)).toEqual([]);
    }
  });

  it('the version is that of package.json, of the schemas and of the changelog', () => {
    expect((JSON.parse(read('package.json')) as { version: string }).version).toBe(VERSION);
    for (const name of SCHEMAS)
      expect(read(`schemas/${name}.schema.json`)).toContain(`setpoint@${VERSION}/`);
    expect(read('CHANGELOG.md')).toContain(`## ${VERSION}`);
  });

  it('the changelog has a line for each change, under what kind of change it is', () => {
    const lines = read('CHANGELOG.md').split('## Unreleased')[1]?.split('\n').slice(1) ?? [];
    const odd = lines.filter(
      (line) =>
        !/^(|## \d+\.\d+\.\d+|### (Added|Changed|Fixed|Removed|Security)|- .{1,140}\.)$/.test(
          line,
        ) && !line.startsWith('The first version.'),
    );
    expect(odd).toEqual([]);
    expect(lines.length).toBeGreaterThan(20);
  });

  it('examples/complete names every field of the schema', () => {
    const example = read('examples/complete/settings.yaml');
    for (const { name } of fields()) expect(example).toContain(`${name}:`);
  });
});
