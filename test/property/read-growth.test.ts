import { describe, expect, it } from 'vitest';
import { nodesOfData, textOfData } from '../../src/reconciler/desired/data-nodes.ts';
import { sourceFile } from '../../src/reconciler/desired/node.ts';
import { parseWhole } from '../../src/reconciler/desired/parse.ts';
import { readTargets } from '../../src/reconciler/desired/target.ts';
import { specSchema, type Structural } from '../../src/reconciler/kubernetes/crd.ts';
import {
  findTextProblems,
  readSettingsTarget,
} from '../../src/reconciler/kubernetes/read-target.ts';
import type { TargetSpec } from '../../src/reconciler/kubernetes/settings-target.ts';
import { isRecord, type Value, type ValueRecord } from '../../src/reconciler/model/value.ts';
import { growth, LINEAR } from '../fixture/growth.ts';
import { LONG } from '../fixture/long.ts';

/** A part of a spec with so many members or entries in one place. */
type Grow = (count: number) => ValueRecord;
type Shape = readonly [place: string, grow: Grow];

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const members = (count: number, value: (index: number) => Value): ValueRecord =>
  Object.fromEntries(many(count, (index) => [`K${index}`, value(index)]));

function smallest(schema: Structural, index: number): Value {
  if (schema.type === 'array') return [];
  if (schema.type !== 'object') return schema.type === 'string' ? `x${index}` : index + 1;
  const { required = [], properties = {} } = schema;
  return Object.fromEntries(
    required.map((name) => [name, smallest(properties[name] ?? {}, index)] as const),
  );
}

/** Each map and each list of the definition, with members that it has not, that are near to those it has, and that are of another type. */
function* shapesOf(
  schema: Structural,
  path: readonly string[],
  wrap: (value: Value) => Value,
): Generator<Shape> {
  const place = path.join('.');
  const { type, items, properties = {} } = schema;
  const grow = (make: (count: number) => Value): Grow => {
    return (count) => wrap(make(count)) as ValueRecord;
  };
  if (type === 'array') {
    const entry = items ?? {};
    yield [`${place}: entries`, grow((count) => many(count, (index) => smallest(entry, index)))];
    yield [
      `${place}: unknown members of entries`,
      grow((count) =>
        many(count, (index) => ({
          ...(smallest(entry, index) as object),
          zz: index,
        })),
      ),
    ];
    yield* shapesOf(entry, [...path, '0'], (value) => wrap([value]));
    return;
  }
  if (path.length > 0 && type !== undefined && type !== 'object') return;
  yield [`${place}: texts`, grow((count) => members(count, (index) => `x${index}`))];
  yield [`${place}: maps`, grow((count) => members(count, () => ({})))];
  yield [`${place}: nulls`, grow((count) => members(count, () => null))];
  const [near] = Object.keys(properties);
  if (near !== undefined)
    yield [
      `${place}: near ${near}`,
      grow((count) => Object.fromEntries(many(count, (index) => [`${near}x${index}`, 'x']))),
    ];
  for (const [name, member] of Object.entries(properties))
    yield* shapesOf(member, [...path, name], (value) => wrap({ [name]: value }));
}

const server = { url: 'https://agents.example.com' };

/** What names, or repeats, something of another place. */
const CROSSED: readonly Shape[] = [
  [
    'names that are near to others',
    (count) => ({
      mcp_servers: Object.fromEntries(many(count, (index) => [`m_${index}`, server])),
      agent_profiles: {
        a: {
          llm_profile: 'x',
          mcp_servers: many(count, (index) => `m${index}`),
        },
      },
    }),
  ],
  [
    'long names',
    (count) => ({
      mcp_servers: { [`${'m'.repeat(20 * count)}a`]: server },
      agent_profiles: {
        a: { llm_profile: 'x', mcp_servers: [`${'m'.repeat(20 * count)}b`] },
      },
    }),
  ],
  [
    'items that moved',
    (count) => ({
      moved: many(count, (index) => ({
        from: `llm_profiles.A${index}`,
        to: `llm_profiles.A${index + 1}`,
      })),
      llm_profiles: Object.fromEntries(many(count, (index) => [`A${index + 1}`, { model: 'x' }])),
      agent_profiles: Object.fromEntries(
        many(count, (index) => [`a${index}`, { llm_profile: `A${index}` }]),
      ),
    }),
  ],
  [
    'values of entries of a list',
    (count) => ({
      settings: {
        mcp_config: {
          sse_servers: many(count, (i) => ({ url: `http://h${i}/` })),
        },
      },
      valuesFrom: many(count, (index) => ({
        path: `settings.mcp_config.sse_servers["http://h${index}/"].api_key`,
        secretKeyRef: { name: 's', key: 'k' },
      })),
    }),
  ],
  [
    'paths that are left alone',
    (count) => ({ unmanaged: many(count, (index) => `languag${index}`) }),
  ],
];

const SHAPES = [...shapesOf(specSchema(), [], (value) => value), ...CROSSED];

function merged(below: ValueRecord, above: ValueRecord): ValueRecord {
  const own = Object.entries(above).map(([name, value]) => {
    const other = below[name];
    return [name, isRecord(value) && isRecord(other) ? merged(other, value) : value] as const;
  });
  return { ...below, ...Object.fromEntries(own) };
}

const specOf = (grow: Grow, count: number) =>
  merged({ server, mode: 'Observe' }, grow(count)) as TargetSpec;

function readSpec(spec: TargetSpec): void {
  const object = {
    metadata: { namespace: 'agents', name: 'production' },
    spec,
  };
  if (findTextProblems(object).length === 0) readSettingsTarget(object);
}

describe('reading takes time in proportion to what is declared', LONG, () => {
  it.each(SHAPES)('%s', (_, grow) => {
    expect(growth((count) => specOf(grow, count), readSpec, SIZE)).toBeLessThan(LINEAR);
  });

  it.each(CROSSED)('%s, in a file', (_, grow) => {
    const fileOf = (count: number) => ({
      path: 'settings.yaml',
      text: JSON.stringify({ version: 1, server, ...grow(count) }),
      bases: [],
    });
    const read = (file: ReturnType<typeof fileOf>) =>
      readTargets(file, { serverGiven: true, several: false });
    expect(growth(fileOf, read, SIZE)).toBeLessThan(LINEAR);
  });
});

/** A quarter of the largest count. */
const SIZE = 500;

describe('nodes that are made of data', () => {
  const agree = (data: Value) => {
    const file = sourceFile('SettingsTarget production', textOfData(data));
    expect(nodesOfData(file, data)).toEqual(parseWhole(file).root);
  };

  it.each(SHAPES.slice(0, 40))('are those of the text: %s', (_, grow) => {
    agree({ version: 1, name: 'production', ...grow(3) });
  });

  it.each([
    {
      text: 'a: b # c\n"d" \u{1F600} \\ \t \u2028',
      '"key": x': '${env:NAME}',
      __proto__x: 1,
    },
    {
      empty: {},
      none: [],
      nested: [[], [{}], [[{ a: [1, -2.5e300, true, null, ''] }]]],
    },
    {
      '': { '1': { '0': 'numbers first' } },
      'a b': ['- x', '&a', '*a', '!t', '%d', '---'],
    },
    { lone: '\uD800', pair: '\u{10000}', nul: '\u0000', bom: '\uFEFF' },
  ])('are those of the text: %o', agree);

  it('are not made where the parser finds a problem', () => {
    const deep = many(70, () => 0).reduce<Value>((inner) => ({ a: inner }), 1);
    for (const data of [deep, { ['k'.repeat(1_100)]: 1 }])
      expect(nodesOfData(sourceFile('x', textOfData(data)), data)).toBeNull();
  });
});
