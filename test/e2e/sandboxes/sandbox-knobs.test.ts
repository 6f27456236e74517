import { afterEach, describe, expect, it } from 'vitest';
import { LONG, describeEach } from '../../fixture/long.ts';
import { computeErrorExitCode } from '../../../src/reconciler/model/error.ts';
import type { EmulatorOptions } from '../../../src/emulator/start.ts';
import type { EnvironmentOutcome } from '../../../src/reconciler/model/outcome.ts';
import type { EnvironmentPlan } from '../../../src/reconciler/model/plan.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { drift, plan } from '../../../src/reconciler/operations/plan.ts';
import { get } from '../../../src/reconciler/operations/get.ts';
import {
  startFront,
  type FaultyFront,
  type Instead,
  type Listed,
} from '../../fixture/faulty-front.ts';
import { quickClock, request } from '../../fixture/settings.ts';
import { listSchemaErrors } from '../../fixture/published-schemas.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let front: FaultyFront;
let clock: ReturnType<typeof quickClock>;
let declared = '';
afterEach(() => front.close());

/** A service that behaves so, on the clock of the runs, and what is declared for it. */
async function service(
  options: EmulatorOptions,
  sandboxes: string,
  instead?: Instead,
): Promise<void> {
  clock = quickClock();
  front = await startFront({ ...options, now: () => clock.now() }, instead);
  declared = sandboxes;
}

/** An outage of the sandbox backend: so many lists of sandboxes are empty. */
function emptyLists(count: number): Instead {
  let left = count;
  const body = JSON.stringify({ items: [], next_page_id: null });
  return ({ route }) => {
    if (route !== 'sandboxes' || left === 0) return null;
    left -= 1;
    return { status: 200, body };
  };
}

/** The server that was recorded lists conversations by their ids only. */
const requiresIds: Instead = ({ route, path }) =>
  route === 'conversations' && !/[?&]ids=|\/search/.test(path)
    ? { status: 422, body: '{"detail":[{"type":"missing","loc":["query","ids"],"input":null}]}' }
    : null;

/** A limit of one sandbox leaves no room for a start. */
const noRoom: Instead = ({ route }) =>
  route === 'start'
    ? { status: 500, body: '{"detail":"max_num_sandboxes must be greater than 0"}' }
    : null;

async function begin(count = 1): Promise<string[]> {
  const ids: string[] = [];
  for (let left = count; left > 0; left -= 1) {
    ids.push(((await front.direct('POST', '/api/v1/sandboxes')) as Listed).id);
    await clock.sleep(1000);
  }
  return ids;
}

async function pause(id: string | undefined): Promise<void> {
  await front.direct('POST', `/api/v1/sandboxes/${id}/pause`);
}

/** A conversation in that sandbox, until its first run begins. */
async function converse(id: string | undefined): Promise<void> {
  const text = { role: 'user', content: [{ type: 'text', text: 'Go.' }], run: true };
  await front.direct('POST', '/api/settings', { llm_model: 'model-a' });
  const body = { sandbox_id: id, initial_message: text };
  await front.direct('POST', '/api/v1/app-conversations', body);
  await clock.sleep(5000);
}

async function statuses(): Promise<string[]> {
  return (await front.sandboxes()).map(({ status }) => status);
}

function asked(wait = 2 * MINUTE) {
  const made = request(front.url, '', { clock, wait, timeout: 5000 });
  return { ...made, text: `${made.text}sandboxes:\n${declared}\n` };
}

function accepted<T>(name: 'outcome' | 'plan', document: { environments: readonly T[] }): T {
  expect(listSchemaErrors(name, document)).toEqual([]);
  const [environment] = document.environments;
  if (environment === undefined) throw new Error('no environment');
  return environment;
}

/** One apply: its outcome, what it has shown while it waited, and its exit code. */
async function applied(
  wait?: number,
): Promise<{ outcome: EnvironmentOutcome; exit: number; shown: (string | null)[] }> {
  const shown: (string | null)[] = [];
  const document = await apply({
    ...asked(wait),
    onProgress: (_, waiting) => {
      for (const { status } of waiting) if (shown.at(-1) !== status) shown.push(status);
    },
  });
  const outcome = accepted('outcome', document);
  return { outcome, exit: computeErrorExitCode(outcome.error), shown };
}

/** What plan and drift both report, having sent nothing but GET. */
async function planned(): Promise<EnvironmentPlan> {
  const posts = front.posts();
  const made = { ...asked(), digests: false };
  const shown = accepted('plan', await plan(made));
  expect(accepted('plan', await drift(made))).toEqual(shown);
  expect(front.posts()).toBe(posts);
  return shown;
}

async function inSync(): Promise<void> {
  expect(await planned()).toMatchObject({ status: 'in-sync', changes: [] });
  const { outcome, exit } = await applied();
  expect(outcome).toMatchObject({ status: 'in-sync', requests: { post: 0 } });
  expect(exit).toBe(0);
}

describe('startMs', () => {
  it('a start is waited for, however long it takes within --wait', async () => {
    await service({ startMs: 100_000 }, '- running: 2');
    expect(await planned()).toMatchObject({ status: 'differs', changes: [{}, {}] });
    const begun = clock.now();
    const { outcome, exit, shown } = await applied();
    expect(outcome).toMatchObject({
      status: 'applied',
      changes: [
        { action: 'start', result: 'verified', sandbox: expect.any(String) },
        { action: 'start', result: 'verified', sandbox: expect.any(String) },
      ],
    });
    expect(exit).toBe(0);
    expect(shown).toEqual(['STARTING', 'RUNNING']);
    expect(clock.now() - begun).toBeGreaterThanOrEqual(100_000);
    await inSync();
  });

  it('longer than --wait: exit 9, and nothing is started again', async () => {
    await service({ startMs: 100_000 }, '- running: 2');
    const { outcome, exit } = await applied(MINUTE);
    expect(outcome).toMatchObject({ status: 'partial', error: { code: 'timed-out' } });
    expect(exit).toBe(9);
    await inSync();
    await clock.sleep(HOUR);
    await inSync();
    expect(front.effects('start')).toBe(2);
  });
});

describe('becomes', () => {
  it('flapping: waited for through ERROR', async () => {
    await service({ startMs: 20_000, becomes: 'flapping' }, '- running: 2');
    const { outcome, shown } = await applied();
    expect(outcome).toMatchObject({ status: 'applied', requests: { post: 2 } });
    expect(shown).toEqual(['STARTING', 'ERROR', 'RUNNING']);
    await inSync();
  });

  it('flapping: an ERROR of a start that nobody waits for is not replaced', async () => {
    await service({ startMs: 20_000, becomes: 'flapping' }, '- running: 2');
    await applied(0);
    await clock.sleep(30_000);
    expect(await statuses()).toEqual(['ERROR', 'ERROR']);
    await inSync();
    expect(front.effects('start')).toBe(2);
  });

  it('flapping: an ERROR of a resume that nobody waits for is not replaced', LONG, async () => {
    await service({ startMs: 20_000, becomes: 'flapping' }, '- running: 1');
    const [old] = await begin();
    await clock.sleep(HOUR);
    await pause(old);
    expect((await applied(0)).outcome).toMatchObject({ changes: [{ action: 'resume' }] });
    await clock.sleep(30_000);
    expect(await statuses()).toEqual(['ERROR']);
    await applied();
    await clock.sleep(MINUTE);
    expect(await statuses()).toEqual(['RUNNING']);
  });

  it('flapping: one by its id is not given up while it is resumed', async () => {
    await service({ startMs: 20_000, becomes: 'flapping' }, '');
    const [old] = await begin();
    declared = `- { id: ${old}, state: running }`;
    await clock.sleep(HOUR);
    await pause(old);
    await applied(0);
    await clock.sleep(30_000);
    expect((await applied()).outcome).toMatchObject({ error: null });
  });

  it('starting: exit 9 after --wait, and the next run is in sync', LONG, async () => {
    await service({ startMs: 1000, becomes: 'starting' }, '- running: 2');
    const { outcome, exit } = await applied(MINUTE);
    expect(outcome).toMatchObject({ status: 'partial', error: { code: 'timed-out' } });
    expect(exit).toBe(9);
    await inSync();
    await clock.sleep(HOUR);
    await inSync();
    expect(await statuses()).toEqual(['STARTING', 'STARTING']);
  });

  it('starting: a start is done once it has read STARTING for two minutes, and says so', async () => {
    await service({ startMs: 1000, becomes: 'starting' }, '- running: 1');
    const begun = clock.now();
    const { outcome, exit } = await applied(5 * MINUTE);
    const passed = clock.now() - begun;
    expect(passed).toBeGreaterThanOrEqual(2 * MINUTE);
    expect(passed).toBeLessThan(2.5 * MINUTE);
    expect(exit).toBe(0);
    expect(outcome).toMatchObject({
      status: 'applied',
      error: null,
      remaining: [],
      changes: [{ action: 'start', result: 'unverifiable' }],
      warnings: [{ code: 'sandbox-starting' }],
    });
    await inSync();
  });

  it('starting: so is a resume', LONG, async () => {
    await service({ startMs: 1000, becomes: 'starting' }, '- running: 1');
    const [old] = await begin();
    await clock.sleep(HOUR);
    await pause(old);
    const { outcome, exit } = await applied(5 * MINUTE);
    expect(exit).toBe(0);
    expect(outcome).toMatchObject({ changes: [{ action: 'resume', result: 'unverifiable' }] });
    await inSync();
  });

  it('starting: a surplus is still paused', LONG, async () => {
    await service({ startMs: 1000, becomes: 'starting' }, '- { running: 1, surplus: pause }');
    await begin(3);
    expect((await applied()).outcome).toMatchObject({ status: 'applied', requests: { post: 2 } });
    expect(await statuses()).toEqual(['PAUSED', 'PAUSED', 'STARTING']);
    await inSync();
  });

  it(
    'error: timed out; replaced once it is too old to be a start, with a warning',
    LONG,
    async () => {
      await service({ startMs: 1000, becomes: 'error' }, '- running: 1');
      const first = await applied(MINUTE);
      expect(first.outcome).toMatchObject({ status: 'partial', error: { code: 'timed-out' } });
      expect(first.outcome.error?.message).toContain('ERROR');
      expect(first.exit).toBe(9);
      await inSync();
      await clock.sleep(10 * MINUTE);
      expect(await planned()).toMatchObject({
        changes: [{ action: 'start' }],
        warnings: [{ code: 'sandbox-failed' }],
      });
      expect((await applied(MINUTE)).outcome.warnings).toMatchObject([{ code: 'sandbox-failed' }]);
      expect(front.effects('start')).toBe(2);
    },
  );

  it('missing: timed out, and one more is started by a run, never two', async () => {
    await service({ startMs: 1000, becomes: 'missing' }, '- running: 1');
    for (const run of [1, 2, 3]) {
      const { outcome, exit } = await applied(MINUTE);
      expect(outcome).toMatchObject({ status: 'partial', requests: { post: 1 } });
      expect(outcome.error?.message).toContain('MISSING');
      expect(exit).toBe(9);
      expect(front.effects('start')).toBe(run);
    }
  });
});

describe('a limit of one sandbox', () => {
  it('every start is answered with 500; it is sent once a run, and reported', async () => {
    await service({}, '- running: 2', noRoom);
    for (let run = 0; run < 2; run += 1) {
      const { outcome, exit } = await applied();
      expect(outcome).toMatchObject({
        status: 'partial',
        error: { code: 'applied-in-part' },
        changes: [{ result: 'unknown' }, { result: 'unknown' }],
        requests: { post: 2 },
      });
      expect(exit).toBe(7);
    }
    expect(await statuses()).toEqual([]);
  });
});

describe('lists that are empty', () => {
  it.each([1, 2])('%i: nothing is started of what is there', async (count) => {
    await service({ startMs: 1000 }, '- running: 2', emptyLists(count));
    await begin(2);
    await clock.sleep(HOUR);
    const { outcome, exit } = await applied();
    expect(outcome).toMatchObject({ requests: { post: 0 }, error: null });
    expect(exit).toBe(0);
    expect(clock.slept.includes(2000)).toBe(count === 2);
    await inSync();
    expect(await statuses()).toHaveLength(2);
  });

  it('1: what has not been started is not reported as started', async () => {
    await service({ startMs: 1000 }, '- running: 2', emptyLists(1));
    await begin(2);
    const { outcome } = await applied();
    expect(front.effects('start')).toBe(0);
    const verified = outcome.changes.filter(({ result }) => result === 'verified');
    expect(
      verified.filter(({ action, sandbox }) => action === 'start' && sandbox === undefined),
    ).toEqual([]);
  });

  it('4, the last of them after the start: it is observed again', LONG, async () => {
    await service({ startMs: 1000 }, '- running: 1', emptyLists(4));
    expect((await applied()).outcome).toMatchObject({ status: 'applied', requests: { post: 1 } });
    await inSync();
  });

  it('2, with one declared by its id: nothing is sent, and then it is there', async () => {
    await service({ startMs: 1000 }, '', emptyLists(2));
    const [id] = await begin();
    declared = `- { id: ${id}, state: running }`;
    for (let run = 0; run < 2; run += 1)
      expect((await applied()).outcome).toMatchObject({ requests: { post: 0 } });
    await inSync();
  });
});

describe('pageSize', () => {
  it('250 sandboxes over three pages are all counted', LONG, async () => {
    await service({ startMs: 0 }, '- running: 250');
    await begin(250);
    await inSync();
    const seen = await get({ ...asked(), resources: ['sandboxes'] });
    expect(new Set(seen.environments[0]?.sandboxes?.map(({ id }) => id)).size).toBe(250);
    declared = '- running: 251';
    expect(await planned()).toMatchObject({
      changes: [{ action: 'start', reason: '250 of 251 running' }],
    });
    declared = '- { running: 247, surplus: pause }';
    expect((await planned()).changes.map(({ action }) => action)).toEqual([
      'pause',
      'pause',
      'pause',
    ]);
  });

  it('7 a page of 20: counted, started, and in sync', async () => {
    await service({ startMs: 0, pageSize: 7 }, '- running: 22');
    await begin(20);
    expect((await applied()).outcome).toMatchObject({ status: 'applied', requests: { post: 2 } });
    await inSync();
  });
});

describeEach([false, true], (requireIds) => requireIds)(
  'runMs, with ids required: %s',
  (requireIds) => {
    const options = { startMs: 1000, runMs: HOUR };
    const instead = requireIds ? requiresIds : undefined;

    it('a sandbox in which a conversation runs is not paused until it has finished', async () => {
      await service(options, '- { running: 0, surplus: pause }', instead);
      const [busy] = await begin(2);
      await converse(busy);
      expect((await planned()).warnings).toMatchObject([{ code: 'sandbox-busy', path: [busy] }]);
      expect((await applied()).outcome).toMatchObject({
        status: 'applied',
        warnings: [{ code: 'sandbox-busy', path: [busy] }],
      });
      expect(await statuses()).toEqual(['PAUSED', 'RUNNING']);
      await inSync();
      await clock.sleep(HOUR);
      expect((await applied()).outcome).toMatchObject({ status: 'applied', warnings: [] });
      expect(await statuses()).toEqual(['PAUSED', 'PAUSED']);
      await inSync();
      const reads = front.requests.filter(({ route }) => route === 'conversations');
      expect(new Set(reads.map(({ status }) => status))).toEqual(
        new Set(requireIds ? [422, 200] : [200]),
      );
      expect(reads.some(({ path }) => path.includes('/search'))).toBe(requireIds);
    });

    it('with when_busy: pause it is', async () => {
      await service(options, '- { running: 0, surplus: pause, when_busy: pause }', instead);
      const [busy] = await begin(2);
      await converse(busy);
      expect((await applied()).outcome).toMatchObject({ status: 'applied', warnings: [] });
      expect(await statuses()).toEqual(['PAUSED', 'PAUSED']);
      expect(front.requests.some(({ route }) => route === 'conversations')).toBe(false);
    });

    it('one that is declared paused by its id waits for it, too', LONG, async () => {
      await service(options, '', instead);
      const [busy] = await begin();
      await converse(busy);
      declared = `- { id: ${busy}, state: paused }`;
      expect((await applied()).outcome).toMatchObject({
        status: 'in-sync',
        warnings: [{ code: 'sandbox-busy' }],
        requests: { post: 0 },
      });
      declared = `- { id: ${busy}, state: paused, when_busy: pause }`;
      expect((await applied()).outcome).toMatchObject({ status: 'applied', requests: { post: 1 } });
      expect(await statuses()).toEqual(['PAUSED']);
      await inSync();
    });
  },
);

describe('specs', () => {
  it('start what was named, and count what was started', async () => {
    await service({ specs: ['a:1', 'b:1'] }, '- { spec: "b:1", running: 2 }\n- running: 1');
    expect((await applied()).outcome).toMatchObject({ status: 'applied', requests: { post: 3 } });
    const specs = (await front.sandboxes()).map(({ sandbox_spec_id }) => sandbox_spec_id);
    expect(specs.toSorted()).toEqual(['a:1', 'b:1', 'b:1']);
    await inSync();
  });

  it('a name that the service does not have is refused before anything is sent', async () => {
    await service({ specs: ['a:1', 'b:1'] }, '- { spec: "b:2", running: 2 }');
    const { outcome, exit } = await applied();
    expect(outcome).toMatchObject({ status: 'refused', error: { code: 'spec-refused' } });
    expect(outcome.error?.hint).toContain('b:1');
    expect(exit).toBe(3);
    expect(front.posts()).toBe(0);
    expect(await planned()).toMatchObject({ status: 'error', error: { code: 'spec-refused' } });
  });
});
