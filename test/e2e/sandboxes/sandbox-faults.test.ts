import { describe, expect, it } from 'vitest';
import type { EmulatorOptions } from '../../../src/emulator/start.ts';
import type { Clock } from '../../../src/reconciler/model/ports.ts';
import type { EnvironmentOutcome } from '../../../src/reconciler/model/outcome.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { drift } from '../../../src/reconciler/operations/plan.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import {
  FAULTS,
  faultsNamed,
  startFront,
  type Fault,
  type FaultyFront,
  type Listed,
  type Route,
} from '../../fixture/faulty-front.ts';
import { quickClock, request } from '../../fixture/settings.ts';
import { itEach, LONG } from '../../fixture/long.ts';

const PYTHON = 'ghcr.io/example/agent-server:1.0-python';
const NODE = 'ghcr.io/example/agent-server:1.0-node';
const HOUR = 3_600_000;
const SANDBOXES = '/api/v1/sandboxes';

/** What there is before the first run, what is declared, and what a run that nothing disturbs makes of it. */
interface World {
  readonly name: string;
  readonly settings?: string;
  readonly stored?: Readonly<Record<string, unknown>>;
  /** What is stored in the end: what was, and what is declared. */
  readonly kept?: Readonly<Record<string, unknown>>;
  /** Prepares the service; the sandboxes' ids in the order of their age. */
  readonly begin: (service: Service) => Promise<readonly string[]>;
  readonly declared: (ids: readonly string[]) => string;
  /** How many have to be started. */
  readonly missing: number;
  /** Whether it is as declared in the end, when all have had an hour to start. */
  readonly asDeclared: (sandboxes: readonly Listed[], ids: readonly string[]) => boolean;
}

interface Service {
  readonly front: FaultyFront;
  readonly clock: Clock;
  readonly start: (spec?: string) => Promise<string>;
  readonly pause: (id: string) => Promise<void>;
}

function running(sandboxes: readonly Listed[], spec?: string): number {
  return sandboxes.filter(
    ({ status, sandbox_spec_id }) =>
      status === 'RUNNING' && (spec === undefined || sandbox_spec_id === spec),
  ).length;
}

/** One that runs, an hour old, and one that is paused, older than that. */
async function oneOfEach({ start, pause, clock }: Service): Promise<readonly string[]> {
  const paused = await start();
  await clock.sleep(HOUR);
  await pause(paused);
  const up = await start();
  await clock.sleep(HOUR);
  return [paused, up];
}

const WORLDS: readonly World[] = [
  {
    name: 'nothing there, 2 declared',
    begin: () => Promise.resolve([]),
    declared: () => '- running: 2',
    missing: 2,
    asDeclared: (all) => running(all) === 2,
  },
  {
    name: '1 up, 1 paused, 3 declared',
    begin: oneOfEach,
    declared: () => '- running: 3',
    missing: 1,
    asDeclared: (all) => running(all) === 3,
  },
  {
    name: 'settings that differ, 1 up, 1 paused, 3 declared',
    stored: { language: 'en', agent: 'A' },
    settings: '  git_user_name: bot\n  sandbox_api_key: null\n',
    kept: { language: 'en', agent: 'A', git_user_name: 'bot' },
    begin: oneOfEach,
    declared: () => '- running: 3',
    missing: 1,
    asDeclared: (all) => running(all) === 3,
  },
  {
    name: '2 up, 1 paused, 2 declared',
    begin: async (service) => [...(await oneOfEach(service)), await service.start()],
    declared: () => '- running: 2',
    missing: 0,
    asDeclared: (all) => running(all) === 2,
  },
  {
    name: '3 up and one of them busy, 1 declared',
    stored: { language: 'en', llm_model: 'model-a' },
    begin: async ({ start, front, clock }) => {
      const ids = [await start(), await start(), await start()];
      const message = { role: 'user', content: [{ type: 'text', text: 'Go.' }], run: true };
      await clock.sleep(HOUR);
      await front.direct('POST', '/api/v1/app-conversations', {
        sandbox_id: ids[2],
        initial_message: message,
      });
      await clock.sleep(HOUR);
      return ids;
    },
    declared: () => '- { running: 1, surplus: pause }',
    missing: 0,
    // The newest would be paused first, but it is busy.
    asDeclared: (all, ids) =>
      all.map(({ id, status }) => `${ids.indexOf(id)} ${status}`).join() ===
      '2 RUNNING,1 PAUSED,0 PAUSED',
  },
  {
    name: 'two items, one by spec',
    begin: async ({ start, pause, clock }) => {
      const paused = await start(PYTHON);
      await clock.sleep(HOUR);
      await pause(paused);
      const ids = [paused, await start(NODE), await start(PYTHON)];
      await clock.sleep(HOUR);
      return ids;
    },
    declared: () => `- running: 3\n- { spec: "${NODE}", running: 2 }`,
    missing: 2,
    asDeclared: (all) => running(all, PYTHON) === 3 && running(all, NODE) === 2,
  },
  {
    name: 'one by its id, which is paused',
    begin: oneOfEach,
    declared: ([paused]) => `- { id: ${paused}, state: running }`,
    missing: 0,
    asDeclared: (all) => running(all) === 2,
  },
];

/** The one with all that there is to write. */
const FULLEST = WORLDS.find(({ settings }) => settings !== undefined);

function worldsNamed(...names: string[]): World[] {
  return WORLDS.filter(({ name }) => names.some((begin) => name.startsWith(begin)));
}

/** How the service behaves, and which faults are tried there, at which requests, in which worlds. */
interface Manner {
  readonly name: string;
  readonly options?: EmulatorOptions;
  readonly wait?: number;
  readonly faults: readonly Fault[];
  readonly routes: readonly Route[];
  readonly worlds: readonly World[];
}

const LISTS: readonly Route[] = ['sandboxes', 'specs', 'conversations'];
const READS: readonly Route[] = ['settings', ...LISTS];
const WRITES: readonly Route[] = ['store', 'start', 'resume', 'pause'];

const LIES = FAULTS.filter(({ lies }) => lies === true);
const FAILURES = FAULTS.filter(({ lies }) => lies !== true);
/** One of several that setpoint cannot distinguish, and none that takes real time to wait for. */
const QUICK = FAULTS.filter(({ name }) => !/^50[23]|^40|^cut| its deadline$/.test(name));

const EVERYWHERE: Manner = {
  name: 'every write',
  faults: FAULTS,
  routes: WRITES,
  worlds: WORLDS,
};

const MANNERS: readonly Manner[] = [
  EVERYWHERE,
  { name: 'every lie of a read', faults: LIES, routes: READS, worlds: WORLDS },
  {
    name: 'every read that fails',
    faults: FAILURES,
    routes: READS,
    // These ask for all that there is to be read.
    worlds: worldsNamed('settings', '3 up', 'two'),
  },
  {
    name: 'sandboxes that read ERROR while they boot',
    options: { becomes: 'flapping' },
    faults: QUICK,
    routes: ['sandboxes', ...WRITES],
    worlds: worldsNamed('1 up', 'one'),
  },
  {
    name: 'nothing is waited for',
    wait: 0,
    faults: QUICK,
    routes: ['sandboxes', ...WRITES],
    worlds: worldsNamed('1 up', '3 up'),
  },
  {
    name: 'one sandbox a page',
    options: { pageSize: 1 },
    faults: faultsNamed('500', 'half', 'a web page', 'an empty', 'the', 'pages'),
    routes: LISTS,
    worlds: worldsNamed('1 up', '3 up'),
  },
];

/** Milliseconds for a request, if one is answered too late and so has to be waited for. */
const SLOW = 1_000;

interface Case {
  readonly fault: Fault;
  readonly route: Route;
  readonly nth: number;
}

async function opened(world: World, { options, wait = 20_000 }: Manner) {
  const clock = quickClock();
  const front = await startFront({
    startMs: 400,
    runMs: 999_999_999,
    ...options,
    now: () => clock.now(),
  });
  if (world.stored !== undefined) await front.direct('POST', '/api/settings', world.stored);
  const ids = await world.begin({
    front,
    clock,
    start: async (spec = PYTHON) => {
      const path = `${SANDBOXES}?sandbox_spec_id=${encodeURIComponent(spec)}`;
      const { id } = (await front.direct('POST', path)) as Listed;
      await clock.sleep(5000);
      return id;
    },
    pause: async (id) => {
      await front.direct('POST', `${SANDBOXES}/${id}/pause`);
    },
  });
  const asked = (timeout = 5000) => {
    const made = request(front.url, world.settings ?? '', { clock, timeout, wait });
    return { ...made, text: `${made.text}sandboxes:\n${world.declared(ids)}\n` };
  };
  const run = async (timeout?: number): Promise<EnvironmentOutcome> => {
    const [outcome] = (await apply(asked(timeout))).environments;
    if (outcome === undefined) throw new Error('no outcome');
    return outcome;
  };
  const amiss = async () => {
    const sandboxes = await front.sandboxes();
    return world.asDeclared(sandboxes, ids) || sandboxes.map(({ status }) => status);
  };
  /** What is stored and was not to be changed, or was. */
  const lost = async () => {
    if (world.kept === undefined) return true;
    const stored = (await front.direct('GET', '/api/settings')) as Record<string, unknown>;
    const found = Object.entries(world.kept).filter(([name, value]) => stored[name] !== value);
    return found.length === 0 || found.map(([name]) => `${name}: ${String(stored[name])}`);
  };
  return { front, clock, asked, run, amiss, lost };
}

/** Every request of a run that nothing disturbs, with every fault that can strike it. */
async function casesOf(world: World, manner: Manner): Promise<Case[]> {
  const { front, run } = await opened(world, manner);
  await run();
  await front.close();
  const counts = new Map<Route, number>();
  return front.requests.flatMap(({ route }) => {
    const nth = (counts.get(route) ?? 0) + 1;
    counts.set(route, nth);
    const faults = manner.faults.filter(({ at }) => at.includes(route));
    return manner.routes.includes(route) ? faults.map((fault) => ({ fault, route, nth })) : [];
  });
}

/** What is not as it should be after one run with the fault and two without; empty if all is. */
async function problemsOf(
  world: World,
  manner: Manner,
  { fault, route, nth }: Case,
): Promise<object> {
  const { front, clock, run, amiss, lost } = await opened(world, manner);
  try {
    front.put(fault, { route, nth });
    const first = await run(fault.shows === 'nothing' ? SLOW : undefined);
    const saw = {
      struck: front.struck(),
      // A refusal is believed, even if it comes after the effect.
      reported: fault.name === '401 after its effect' || amissIn(first, front),
      counted: first.requests.post === front.posts() || first.requests,
      // A run that has observed everything running reports that, and is not mistaken unless the list was wrong.
      done:
        manner.wait === 0 ||
        (fault.lies === true && route === 'sandboxes') ||
        first.status !== 'applied' ||
        (await amiss()),
    };
    await front.clear();
    await run();
    const before = front.posts();
    const last = await run();
    const starts = front.effects('start');
    const writes = front.effects('store');
    await clock.sleep(HOUR);
    const found = {
      ...saw,
      declared: await amiss(),
      lost: await lost(),
      starts: starts <= world.missing || starts,
      writes: writes <= (world.settings === undefined ? 0 : 2) || writes,
      last: (last.status === 'in-sync' && front.posts() === before) || last,
    };
    return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== true));
  } finally {
    await front.close();
  }
}

/** Whether what the outcome reports of what it sent is what happened: true, or what is not so. */
function amissIn({ changes, status, error }: EnvironmentOutcome, front: FaultyFront): unknown {
  const done = front.requests.filter((seen) => seen.status === 200);
  const starts = done.filter(({ route }) => route === 'start').length;
  const mayBe = changes.filter(({ action, result }) => action === 'start' && result !== 'not-sent');
  const missed = changes.filter(
    ({ action, result, path }) =>
      result === 'not-sent' &&
      done.some(({ route, path: asked }) => route === action && asked.includes(path[0] ?? '')),
  );
  const amiss = [
    ...(starts > mayBe.length ? [`${starts} started, ${mayBe.length} reported`] : []),
    ...missed.map(({ action }) => `a ${action} that was sent is reported as not sent`),
    ...((status === 'applied' || status === 'in-sync') === (error === null) ? [] : [status]),
  ];
  return amiss.length === 0 || amiss;
}

/** Those for which somebody has to wait do so at the same time. */
const WAITING = [false, true] as const;

/** Each fault goes wrong with writes or with reads in `npm test`, every other one with writes. */
function isTurn(manner: Manner, fault: Fault): boolean {
  const isWritten = FAULTS.indexOf(fault) % 2 === 0;
  return isWritten
    ? manner === EVERYWHERE
    : MANNERS.indexOf(manner) === 1 || MANNERS.indexOf(manner) === 2;
}

for (const manner of MANNERS) {
  describe(`${manner.name}: whatever goes wrong with any one request`, async () => {
    const worlds = await Promise.all(
      manner.worlds.map(async (world) => ({ world, cases: await casesOf(world, manner) })),
    );
    for (const waiting of WAITING) {
      for (const { world, cases } of worlds) {
        const faults = manner.faults.filter(
          (fault) =>
            (fault.shows === 'nothing') === waiting && cases.some((one) => one.fault === fault),
        );
        const test = waiting ? it.concurrent : it;
        for (const fault of faults) {
          const isShort = world === FULLEST && !waiting && isTurn(manner, fault);
          test(`${world.name}: ${fault.name}`, isShort ? {} : LONG, async () => {
            const found = await Promise.all(
              cases
                .filter((one) => one.fault === fault)
                .map(async (one) => {
                  const problems = await problemsOf(world, manner, one);
                  return [`${one.route} ${one.nth}`, problems] as const;
                }),
            );
            const amiss = found.filter(([, problems]) => Object.keys(problems).length > 0);
            expect(Object.fromEntries(amiss)).toEqual({});
          });
        }
      }
    }
  });
}

describe('plan and drift, whatever goes wrong with any one request', () => {
  itEach(
    WORLDS.map((world) => [world.name, world] as const),
    ([, world]) => world === FULLEST,
  )('send nothing but GET: %s', async (_, world) => {
    const manner: Manner = { name: 'read only', faults: FAULTS, routes: READS, worlds: [world] };
    const cases = (await casesOf(world, manner)).filter(
      ({ fault, nth }) => nth === 1 && fault.shows !== 'nothing',
    );
    for (const [index, { fault, route, nth }] of cases.entries()) {
      const { front, asked } = await opened(world, manner);
      front.put(fault, { route, nth });
      // The two differ in nothing but what is made of the answer.
      const { environments } = await (index % 2 === 0 ? plan : drift)(asked());
      expect(front.struck(), `${fault.name}, ${route}`).toBe(true);
      expect(front.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
      expect(environments).toHaveLength(1);
      await front.close();
    }
  });
});

describe('a start that was turned away', () => {
  it.each(faultsNamed('409 before', '429'))(
    '$name: is not sent again if somebody else has started one meanwhile',
    async (fault) => {
      const [world] = WORLDS;
      if (world === undefined) throw new Error('no world');
      const { front, run } = await opened(world, EVERYWHERE);
      front.put(fault, { route: 'start', nth: 1 }, () => front.direct('POST', SANDBOXES));
      await run();
      expect(front.struck()).toBe(true);
      expect(await front.sandboxes()).toHaveLength(2);
      await run();
      expect((await run()).status).toBe('in-sync');
      expect(await front.sandboxes()).toHaveLength(2);
      await front.close();
    },
  );
});
