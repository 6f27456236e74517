/** What a client leaves that ends between two requests about custom secrets: what the front before the service lets a test see of it. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EmulatorDialect } from '../../../src/emulator/options.ts';
import { send } from '../../contract/send.ts';
import { FAULTS, startFront, type Fault, type FaultyFront } from '../../fixture/faulty-front.ts';

async function frontOf(dialect: EmulatorDialect): Promise<FaultyFront> {
  const front = await startFront({ dialect });
  onTestFinished(() => front.close());
  return front;
}

function faultCalled(name: string): Fault {
  const found = FAULTS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no fault "${name}".`);
  return found;
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** Sends one request after another, until one gets no answer. */
async function run(front: FaultyFront, requests: readonly Request[]): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const { method, path, body } of requests) {
    const headers = { 'content-type': 'application/json' };
    const text = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    const answer = await send(front.url, { method, path, ...text }).catch(() => undefined);
    if (answer === undefined) break;
    statuses.push(answer.status);
  }
  return statuses;
}

describe('a rotation on settings-v0 by way of a second name', () => {
  const path = '/api/secrets';
  const rotation: readonly Request[] = [
    { method: 'POST', path, body: { name: 'A__next', value: 'sec-example-2' } },
    { method: 'DELETE', path: `${path}/A` },
    { method: 'PUT', path: `${path}/A__next`, body: { name: 'A' } },
  ];
  const namesIn = async (front: FaultyFront) => {
    const { custom_secrets } = (await front.direct('GET', path)) as {
      readonly custom_secrets: readonly { readonly name: string }[];
    };
    return custom_secrets.map(({ name }) => name);
  };

  it.each([
    [1, 'before', ['A']],
    [1, 'after', ['A', 'A__next']],
    [2, 'before', ['A', 'A__next']],
    [2, 'after', ['A__next']],
    [3, 'before', ['A__next']],
    [3, 'after', ['A']],
  ] as const)('that ends at request %i, %s its effect, leaves %j', async (nth, when, left) => {
    const front = await frontOf('settings-v0');
    await front.direct('POST', path, { name: 'A', value: 'sec-example-1' });
    front.put(faultCalled(`dead from ${when} its effect`), { route: 'keep', nth });

    expect(await run(front, rotation)).toHaveLength(nth - 1);

    expect(front.struck()).toBe(true);
    expect(front.effects('keep')).toBe(when === 'after' ? nth : nth - 1);
    await front.clear();
    expect(await namesIn(front)).toEqual(left);
    const after = rotation.slice(front.effects('keep'));
    expect((await run(front, after)).every((status) => status < 300)).toBe(true);
    expect(await namesIn(front)).toEqual(['A']);
  });
});

const WRITES: readonly (readonly [EmulatorDialect, Request, list: string])[] = [
  [
    'settings-v0',
    { method: 'POST', path: '/api/secrets', body: { name: 'A', value: 'sec-example-1' } },
    '/api/secrets',
  ],
  [
    'app-server',
    { method: 'POST', path: '/api/v1/secrets', body: { name: 'A', value: 'sec-example-1' } },
    '/api/v1/secrets/search',
  ],
  [
    'agent-server',
    { method: 'PUT', path: '/api/settings/secrets', body: { name: 'A', value: 'sec-example-1' } },
    '/api/settings/secrets',
  ],
];

it.each(WRITES)('%s: a write that may have been done, and lists that lie', async (...given) => {
  const [dialect, write, list] = given;
  const front = await frontOf(dialect);
  front.put(faultCalled('500 after its effect'), { route: 'keep', nth: 1 });
  expect(await run(front, [write])).toEqual([500]);
  expect(JSON.stringify(await front.direct('GET', list))).toContain('"A"');
  front.put(faultCalled('no secrets'), { route: 'secrets', nth: 1 });
  const { text } = await send(front.url, { path: list });
  expect(text).toContain('[]');
  expect(front.requests.map(({ route }) => route)).toEqual(['keep', 'secrets']);
});
