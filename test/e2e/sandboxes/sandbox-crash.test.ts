import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { OutcomeDocument } from '../../../src/reconciler/model/outcome.ts';
import { folderWith, setpoint, start } from '../../fixture/command.ts';
import {
  startFront,
  type Fault,
  type FaultyFront,
  type Listed,
  type Route,
} from '../../fixture/faulty-front.ts';
import { itEach, LONG } from '../../fixture/long.ts';
import { listSchemaErrors } from '../../fixture/published-schemas.ts';
import { until } from '../../fixture/until.ts';

const ENV = { SETPOINT_API_KEY: 'k' };
const APPLY = ['apply', '--yes', '-o', 'json'];
/** Longer than until the first observation, and shorter than until the second. */
const BOOT = 400;

interface World {
  readonly front: FaultyFront;
  readonly options: { readonly cwd: string; readonly env: Record<string, string> };
  /** The sandbox that is paused. */
  readonly paused: string;
}

/** Milliseconds within which a process has seen a signal, on a busy machine too. */
const SEEN = 3000;

function later(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** One sandbox up and one paused of three that are declared, and a field of the settings that differs. */
async function world(
  finished: (cleanUp: () => Promise<void> | void) => void,
  startMs = BOOT,
): Promise<World> {
  const front = await startFront({ startMs, becomes: startMs > BOOT ? 'starting' : 'running' });
  finished(() => front.close());
  await front.direct('POST', '/api/settings', { language: 'en', agent: 'A' });
  const { id: paused } = (await front.direct('POST', '/api/v1/sandboxes')) as Listed;
  await later(startMs > BOOT ? 0 : BOOT);
  await front.direct('POST', `/api/v1/sandboxes/${paused}/pause`);
  await front.direct('POST', '/api/v1/sandboxes');
  const folder = folderWith({
    'settings.yaml': [
      'version: 1',
      `server: { url: "${front.url}", api_key: "\${env:SETPOINT_API_KEY}" }`,
      'settings: { language: fr, sandbox_api_key: null }',
      'sandboxes: [{ running: 3 }]',
      '',
    ].join('\n'),
  });
  finished(() => folder.remove());
  return { front, options: { cwd: folder.path, env: ENV }, paused };
}

/** The answer never comes; only whether the service has heard of the request differs. */
function unanswered(effect: 'none' | 'done', at: Route): Fault {
  return { name: `killed, ${effect}`, at: [at], effect, shows: 'nothing' };
}

/** Every request of a run that nothing disturbs. */
const REQUESTS: readonly (readonly [Route, number])[] = [
  ['settings', 1],
  ['sandboxes', 1],
  ['settings', 2],
  ['store', 1],
  ['settings', 3],
  ['sandboxes', 2],
  ['resume', 1],
  ['start', 1],
  ['sandboxes', 3],
  ['sandboxes', 4],
];

beforeAll(async () => {
  const cleanUps: (() => Promise<void> | void)[] = [];
  const { front, options } = await world((cleanUp) => cleanUps.push(cleanUp));
  expect((await setpoint(APPLY, options)).code).toBe(0);
  const counts = new Map<Route, number>();
  const asked = front.requests.map(({ route }) => {
    counts.set(route, (counts.get(route) ?? 0) + 1);
    return `${route} ${counts.get(route)}`;
  });
  expect(asked.toSorted()).toEqual(REQUESTS.map((one) => one.join(' ')).toSorted());
  for (const cleanUp of cleanUps) await cleanUp();
});

describe('killed at any request, a second run converges', () => {
  for (const effect of ['none', 'done'] as const) {
    const when = effect === 'none' ? 'before' : 'after';
    for (const isShort of [true, false]) {
      const isOne = ([route]: (typeof REQUESTS)[number]): boolean =>
        (route === 'start') === isShort;
      it.concurrent.for(REQUESTS.filter(isOne))(
        `at %s %i, ${when} its effect`,
        isShort && effect === 'done' ? {} : LONG,
        async ([route, nth], { onTestFinished }) => {
          const { front, options } = await world(onTestFinished);
          const first = start(APPLY, options);
          front.put(unanswered(effect, route), { route, nth }, () => first.child.kill('SIGKILL'));
          expect((await first.ended).code).toBe(null);
          expect(front.struck()).toBe(true);
          await front.clear();
          const second = await setpoint(APPLY, options);
          expect(second.code).toBe(0);
          const posts = front.posts();
          const third = await setpoint(APPLY, options);
          expect(JSON.parse(third.stdout)).toMatchObject({
            environments: [{ status: 'in-sync', requests: { post: 0 } }],
          });
          expect(front.posts()).toBe(posts);
          expect(front.effects('start')).toBe(1);
          await later(BOOT);
          expect((await front.sandboxes()).map(({ status }) => status)).toEqual([
            'RUNNING',
            'RUNNING',
            'RUNNING',
          ]);
          expect(await front.direct('GET', '/api/settings')).toMatchObject({
            language: 'fr',
            agent: 'A',
          });
        },
      );
    }
  }
});

function outcomeIn(stdout: string): OutcomeDocument {
  const document = JSON.parse(stdout) as OutcomeDocument;
  expect(listSchemaErrors('outcome', document)).toEqual([]);
  return document;
}

describe.runIf(process.platform !== 'win32')('a signal', () => {
  const isFirst = (_: unknown, index: number): boolean => index === 0;

  itEach(
    [
      ['SIGTERM', 143, 'terminated'],
      ['SIGINT', 130, 'interrupted'],
    ] as const,
    isFirst,
  )(
    '%s while sandboxes are waited for: the outcome lists what was begun',
    async (signal, exit, code) => {
      const { front, options, paused } = await world(onTestFinished, 600_000);
      const running = start(APPLY, options);
      await until(() => front.requests.filter(({ route }) => route === 'sandboxes').length === 4);
      const posts = front.posts();
      running.child.kill(signal);
      const ended = await running.ended;
      expect(ended.code).toBe(exit);
      const asked = front.requests.length;
      expect(outcomeIn(ended.stdout)).toMatchObject({
        environments: [
          {
            status: 'partial',
            error: { code },
            changes: [
              { path: ['language'], result: 'verified' },
              { path: [paused], action: 'resume', result: 'verified' },
              { action: 'start', result: 'verified', sandbox: expect.any(String) },
            ],
            requests: { post: 3 },
          },
        ],
      });
      expect(front.posts()).toBe(posts);
      await later(100);
      expect(front.requests).toHaveLength(asked);
      const again = await setpoint([...APPLY, '--wait', '0s'], options);
      expect(JSON.parse(again.stdout)).toMatchObject({
        environments: [{ status: 'in-sync', requests: { post: 0 } }],
      });
      expect(front.effects('start')).toBe(1);
    },
  );

  itEach(
    [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const,
    () => false,
  )('%s while a start is on its way: its result is reported', async (signal, exit) => {
    const { front, options } = await world(onTestFinished);
    const running = start(APPLY, options);
    const slow: Fault = { ...unanswered('done', 'start'), shows: (answered) => answered };
    // The answer comes after the signal has been seen: otherwise it may stop the observation that follows.
    front.put(slow, { route: 'start', nth: 1 }, async () => {
      running.child.kill(signal);
      await new Promise((resolve) => setTimeout(resolve, SEEN));
    });
    const ended = await running.ended;
    expect(ended.code).toBe(exit);
    const [environment] = outcomeIn(ended.stdout).environments;
    expect(environment?.changes.at(-1)).toMatchObject({
      action: 'start',
      result: 'verified',
      sandbox: (await front.sandboxes())[0]?.id,
    });
    expect(front.effects('start')).toBe(1);
  });

  itEach(
    [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const,
    isFirst,
  )('%s before anything is sent: the sandboxes stay as they are', async (signal, exit) => {
    const { front, options } = await world(onTestFinished);
    const running = start(APPLY, options);
    front.put(unanswered('done', 'sandboxes'), { nth: 2 }, () => running.child.kill(signal));
    const ended = await running.ended;
    expect(ended.code).toBe(exit);
    expect(outcomeIn(ended.stdout)).toMatchObject({
      environments: [{ status: 'failed', requests: { post: 0 } }],
    });
    expect(front.posts()).toBe(0);
  });

  it('SIGTERM while an observation is not answered: it is not repeated', async () => {
    const { front, options } = await world(onTestFinished);
    const running = start([...APPLY, '--timeout', '500ms'], options);
    const hangs = unanswered('done', 'sandboxes');
    front.put(hangs, { route: 'sandboxes', nth: 3 }, () => running.child.kill('SIGTERM'));
    expect((await running.ended).code).toBe(143);
    expect(front.requests.filter(({ route }) => route === 'sandboxes')).toHaveLength(3);
  });

  it(
    'a second one abandons a start that is not answered, and reports its state as unknown',
    LONG,
    async () => {
      const { front, options } = await world(onTestFinished);
      const running = start(APPLY, options);
      front.put(unanswered('done', 'start'), { route: 'start', nth: 1 }, () => {
        running.child.kill('SIGTERM');
        setTimeout(() => running.child.kill('SIGTERM'), SEEN);
      });
      const ended = await running.ended;
      expect(ended.code).toBe(143);
      const [environment] = outcomeIn(ended.stdout).environments;
      expect(environment?.changes.at(-1)).toMatchObject({ action: 'start', result: 'unknown' });
      await front.clear();
      expect((await setpoint(APPLY, options)).code).toBe(0);
      expect(front.effects('start')).toBe(1);
    },
  );
});
