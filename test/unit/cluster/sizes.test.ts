import { expect, it } from 'vitest';
import {
  InvalidSize,
  secretsProblem,
  textProblem,
} from '../../../src/controller/cluster/declared.ts';
import { OBJECT_LIMITS, VALUE_LIMITS } from '../../../src/controller/cluster/limits.ts';
import { ObjectStream, type RawObject } from '../../../src/controller/cluster/object-stream.ts';
import { ClusterSecrets } from '../../../src/controller/cluster/secrets.ts';
import { readObject } from '../../../src/controller/cluster/stored-object.ts';
import { SharedValues } from '../../../src/reconciler/model/redactor.ts';

const SERVER = { url: 'https://agents.example.com' };
const OBJECT = { metadata: { namespace: 'agents', name: 'production' } };

/** What is stored of an object that a watch hands out. */
function stored(object: string, isShared = true) {
  const raw: RawObject[] = [];
  const most = () => 1024 * 1024;
  const stream = new ObjectStream({
    depth: 1,
    most,
    onObject: (one) => raw.push(one),
    onAnswer: () => {},
  });
  stream.push(Buffer.from(`{"type":"ADDED","object":${object}}`));
  const [first] = raw;
  return first === undefined ? null : readObject(first, () => undefined, isShared)?.object;
}

it.each([
  ['list', '[', ']'],
  ['map', '{"a":', '}'],
])('a spec that nests each %s in another is refused before it is parsed', (_, open, close) => {
  const nested = (levels: number) => {
    const value = `${open.repeat(levels)}1${close.repeat(levels)}`;
    return `{"metadata":{"name":"a"},"spec":{"settings":${value}},"status":{"x":${value}}}`;
  };
  const within = stored(nested(OBJECT_LIMITS.depth - 2));
  expect(within?.refused).toBeUndefined();
  expect(within?.spec).toHaveProperty('settings');
  const deep = stored(nested(5_000));
  expect(deep).toMatchObject({ spec: {}, refused: { by: 'depth', size: 5_001 } });
  expect(deep).not.toHaveProperty('status');
});

it('labels and annotations that nothing reads take no memory; those of a namespace are read', () => {
  const many = Object.fromEntries(
    Array.from({ length: 500 }, (_, i) => [`setpoint.dev/x${i}`, 'y'.repeat(60)]),
  );
  const asked = { 'setpoint.dev/requestedAt': '1' };
  const metadata = { name: 'a', labels: many, annotations: { ...many, ...asked } };
  const object = JSON.stringify({ metadata, spec: {} });
  expect(stored(object)?.metadata).toEqual({ name: 'a', annotations: asked });
  expect(stored(object, false)?.metadata.labels).toEqual(many);
});

it.each([
  { conditions: 'x' },
  { conditions: [null] },
  { conditions: [{ type: 'Ready' }] },
  { secretFingerprints: null },
  { secretFingerprints: { keyId: 1, address: 'a', entries: [] } },
  { secretFingerprints: { keyId: 'k', address: 'a', entries: [{ path: 'x', hmac: 'y' }] } },
  { plan: 7 },
  { history: 'x' },
])('a member of a status that has other types than the definition counts as none: %o', (status) => {
  const object = { metadata: { name: 'a' }, spec: {}, status };
  expect(stored(JSON.stringify(object))).toHaveProperty('status', {});
  const whole = { lastHandledReconcileAt: '1', sync: 'Synced' };
  const both = stored(JSON.stringify({ ...object, status: { ...status, ...whole } }));
  expect(both).toHaveProperty('status', whole);
});

const BOMBS = {
  'empty entries': ['settings:\n', '-\n'],
  'lists in a list': ['settings: [', '[],'],
  'commas alone': ['settings: [', ','],
  aliases: ['settings: [', '*x,'],
  'aliases without a name': ['settings: ', '* '],
  anchors: ['settings:\n', '- &a\n'],
  'keys without a value': ['settings:\n', '? \n'],
  tags: ['settings:\n', '- !!str\n'],
  documents: ['', '---\n'],
  directives: ['', '%A\n'],
  brackets: ['settings: ', '['],
  comments: ['', '#\n'],
  lines: ['', '\n'],
  values: ['settings:\n', '- a\n'],
  'quoted keys': ['settings: {', '"":'],
} as const;

it.each(Object.entries(BOMBS))(
  'a text of %s is refused before it is parsed',
  (_, [before, part]) => {
    const text = before + part.repeat((OBJECT_LIMITS.textBytes - 20) / part.length);
    const outside = { settings: { kind: 'text', text } as const, missing: new Set<string>() };
    const object = { ...OBJECT, spec: { server: SERVER, mode: 'Observe' } } as const;
    expect(textProblem(outside, object)).toBeInstanceOf(InvalidSize);
  },
);

it('an object names so many Secrets at most', () => {
  const naming = (count: number) =>
    secretsProblem({
      spec: {
        mode: 'Observe',
        server: { ...SERVER, apiKeySecretRef: { name: 's0', key: 'k' } },
        valuesFrom: Array.from({ length: 2 * count }, (_, i) => ({
          path: `secrets.K${i}.value`,
          secretKeyRef: { name: `s${i % count}`, key: 'k' },
        })),
      },
    } as never);
  expect(naming(OBJECT_LIMITS.secrets)).toBeNull();
  expect(naming(OBJECT_LIMITS.secrets + 1)).toBeInstanceOf(InvalidSize);
});

const KIB = 1024;

/** The values that a run is given of Secrets with one key. */
async function valuesOf(sizes: readonly number[], annotations = {}, origin = SERVER.url) {
  let [underWay, most] = [0, 0];
  const secrets = new ClusterSecrets({
    ask: async ({ path }) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((done) => setImmediate(done));
      underWay -= 1;
      const data = {
        k: Buffer.alloc(sizes[Number(path.split('/').at(-1))] ?? 0, 'x').toString('base64'),
      };
      return { kind: 'done', value: { metadata: { name: 's', annotations }, data } };
    },
  }).forRun();
  const request = (name: string) => ({ namespace: 'agents', origin, name, key: 'k' });
  await secrets.request(sizes.map((_, index) => [`${index}`, request(`${index}`)] as const));
  return { values: sizes.map((_, index) => secrets.valueFor(`${index}`)), most };
}

it('values of Secrets are limited, each and all of a run, one Secret in memory at a time', async () => {
  const { values, most } = await valuesOf([10, VALUE_LIMITS.bytes, VALUE_LIMITS.bytes + 1, 10]);
  expect(values.map((value) => value !== null && 'text' in value)).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect(most).toBe(1);
  const many = await valuesOf(Array.from({ length: 10 }, () => 60 * KIB));
  const read = many.values.filter((value) => value !== null && 'text' in value);
  expect(read).toHaveLength(Math.floor(VALUE_LIMITS.ofRun / (60 * KIB)));
});

it('a Secret that names origins gives its values to a run of those, whatever the object names by now', async () => {
  const pin = { 'setpoint.dev/allowed-origins': SERVER.url };
  const [own] = (await valuesOf([10], pin)).values;
  expect(own).toHaveProperty('text');
  const [other] = (await valuesOf([10], pin, 'https://other.example.com')).values;
  expect(other).toHaveProperty('problem');
});

it('masks forget the oldest values above their limit, and none that is read again', () => {
  const values = new SharedValues(1_000);
  const masks = (text: string) => values.spans(text).length > 0;
  for (let index = 0; index < 1_000; index += 1) {
    values.add('the value in use');
    values.add(`rotated value ${index} of a secret`);
    expect(masks('has the value in use inside')).toBe(true);
    expect(masks(`and rotated value ${index} of a secret`)).toBe(true);
  }
  expect(masks('and rotated value 1 of a secret')).toBe(false);
  expect(values.size).toBeLessThan(100);
});
