import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { credentialSource } from '../../../src/command/cli/watch-page.ts';
import { servePage } from '../../../src/controller/page/serve-page.ts';
import { createMetrics } from '../../../src/controller/watch/telemetry/metrics.ts';
import { DiskAnswers } from '../../../src/reconciler/host/disk-answers.ts';
import { SYSTEM_CLOCK } from '../../../src/reconciler/host/this-process.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { onLoopback } from '../../fixture/on-loopback.ts';
import { hasProgram } from '../../fixture/program.ts';
import { receiver } from '../../fixture/receivers.ts';
import {
  ALERTS,
  expectAlerts,
  seriesOf,
  type Scrape,
  type Series,
} from '../../fixture/scraped-series.ts';
import { startStore, type JsonRecord, type StoreServer } from '../../fixture/store-server.ts';
import {
  HandClock,
  MINUTE,
  settingsFile,
  startWatching,
  tableLocks,
  watchFolder,
  type World,
  type WorldOptions,
} from '../../fixture/watch-world.ts';
import { itEach } from '../../fixture/long.ts';
import { until } from '../../fixture/until.ts';

const HOUR = 60;
const DECLARED = { language: 'en', llm_model: 'gpt-4o' };
const DRIFTED = { ...DECLARED, language: 'fr' };

function settings(url: string, watch = '{ mode: detect, interval: 1m }', more = ''): string {
  return `version: 1
server: { url: "${url}", api_key: "\${env:SETPOINT_API_KEY}" }
settings: { language: en, llm_model: gpt-4o }
watch: ${watch}
${more}`;
}

const environments = (...names: readonly string[]): string =>
  `environments:\n${names.map((name) => `  ${name}: {}\n`).join('')}`;

async function aStore(stored: JsonRecord = DECLARED): Promise<StoreServer> {
  const store = await startStore({}, { ...stored });
  onTestFinished(() => store.close());
  return store;
}

/** A service, a settings file for it, and a controller of it. */
async function scene({
  stored = DECLARED,
  watch,
  more = '',
  ...options
}: WorldOptions & { stored?: JsonRecord; watch?: string; more?: string } = {}) {
  const store = await aStore(stored);
  const folder = watchFolder();
  settingsFile(folder, settings(store.url, watch, more));
  return { store, world: startWatching({ folder, ...options }) };
}

/** The metrics of a controller from when it has begun. What returns them as a scrape gets them. */
async function scraped(world: World, instance = 'a'): Promise<() => Promise<Scrape>> {
  await world.begun;
  const metrics = createMetrics(world.controller, world.notices()?.counts ?? null);
  onTestFinished(() => metrics.close());
  return async () => ({ instance, text: (await metrics.text()).text });
}

/** What Prometheus has after an hour of a controller, scraped once a minute. `event` is what happens at the beginning of a minute. */
async function hourOf(
  world: World,
  event: (minute: number) => unknown = () => {},
  pass: (minute: number) => Promise<unknown> = () => world.pass(MINUTE),
): Promise<readonly Series[]> {
  const start = world.clock.now() / 1000;
  const scrape = await scraped(world);
  await world.settle();
  const scrapes: Scrape[][] = [];
  for (let minute = 0; minute <= HOUR; minute += 1) {
    scrapes.push([await scrape()]);
    await event(minute);
    await pass(minute);
  }
  await world.stop();
  return seriesOf(scrapes, start);
}

/** The same of two controllers on one clock, of which the second ends after 20 minutes. */
async function hourOfTwo(both: readonly [World, World]): Promise<readonly Series[]> {
  const [first, second] = both;
  const start = first.clock.now() / 1000;
  const [one, other] = [await scraped(first, 'a'), await scraped(second, 'b')];
  const scrapes: Scrape[][] = [];
  for (let minute = 0; minute <= HOUR; minute += 1) {
    if (minute === 20) await second.stop();
    scrapes.push([await one(), minute < 20 ? await other() : { instance: 'b', text: null }]);
    await first.pass(MINUTE);
    if (minute < 20) await second.settle();
  }
  await first.stop();
  return seriesOf(scrapes, start);
}

/** What Prometheus has of a file that one run from cron has written, so many minutes long. */
async function minutesOfCron(url: string, minutes: number): Promise<readonly Series[]> {
  const folder = watchFolder();
  settingsFile(folder, settings(url));
  const start = Date.now() / 1000;
  const env = { SETPOINT_API_KEY: 'a-session-key' };
  await setpoint(['drift', '-o', 'prometheus=setpoint.prom'], {
    cwd: folder,
    env,
  });
  const text = readFileSync(join(folder, 'setpoint.prom'), 'utf8');
  return seriesOf(
    Array.from({ length: minutes }, () => [{ instance: 'a', text }]),
    start,
  );
}

interface State {
  /** Those that fire besides, because the state is theirs, too. */
  readonly also?: readonly string[];
  readonly make: () => Promise<readonly Series[]>;
}

const STATES: Readonly<Record<string, State>> = {
  SetpointDrift: {
    make: async () => {
      const { store, world } = await scene();
      return hourOf(world, (minute) => minute === 5 && (store.stored = { ...DRIFTED }));
    },
  },
  SetpointFlapping: {
    make: async () => {
      const { store, world } = await scene();
      return hourOf(world, (minute) => {
        if (minute >= 5 && minute < 40)
          store.stored = minute % 3 === 1 ? { ...DRIFTED } : { ...DECLARED };
      });
    },
  },
  SetpointConflict: {
    make: async () => {
      const { store, world } = await scene();
      await world.pass(2 * MINUTE);
      await world.stop();
      const { folder, clock, file } = world;
      writeFileSync(file, readFileSync(file, 'utf8').replace('language: en', 'language: de'));
      store.stored = { ...DRIFTED };
      return hourOf(startWatching({ folder, clock }));
    },
  },
  SetpointRefused: {
    make: async () => {
      const stored = { ...DRIFTED, llm_model: 'other' };
      const { world } = await scene({
        stored,
        more: 'guards: { max_changes: 1 }\n',
      });
      return hourOf(world);
    },
  },
  SetpointHealingStopped: {
    also: ['SetpointDrift'],
    make: async () => {
      const { store, world } = await scene({
        watch: '{ mode: heal, interval: 40s }',
      });
      return hourOf(world, (minute) => minute % 2 === 1 && (store.stored = { ...DRIFTED }));
    },
  },
  SetpointHealFails: {
    also: ['SetpointDrift', 'SetpointWritesFail'],
    make: async () => {
      const { store, world } = await scene({
        watch: '{ mode: heal, interval: 1m }',
      });
      refuseWrites(store, Number.POSITIVE_INFINITY);
      return hourOf(world, (minute) => minute === 5 && (store.stored = { ...DRIFTED }));
    },
  },
  SetpointWritesFail: {
    make: async () => {
      const { store, world } = await scene({
        watch: '{ mode: heal, interval: 1m }',
      });
      refuseWrites(store, 1);
      return hourOf(world, (minute) => minute === 5 && (store.stored = { ...DRIFTED }));
    },
  },
  SetpointFailing: {
    make: async () => {
      const { store, world } = await scene();
      return hourOf(world, (minute) => {
        if (minute === 5) store.intercept = (_, response) => Boolean(response.destroy());
      });
    },
  },
  SetpointCronFailing: {
    make: async () => minutesOfCron('http://127.0.0.1:9', HOUR + 10),
  },
  SetpointCronStale: {
    make: async () => minutesOfCron((await aStore()).url, 4 * HOUR),
  },
  SetpointStale: {
    make: async () => {
      const { store, world } = await scene();
      return hourOf(
        world,
        (minute) => minute === 5 && (store.intercept = () => true),
        (minute) => (minute < 5 ? world.pass(MINUTE) : hanging(world)),
      );
    },
  },
  SetpointReadsLate: {
    also: ['SetpointStale'],
    make: async () => {
      const more = environments('one', 'two', 'three', 'four');
      const { store, world } = await scene({ more, parallel: 1 });
      return hourOf(
        world,
        (minute) => minute === 5 && (store.intercept = () => true),
        (minute) => (minute < 5 ? world.pass(MINUTE) : hanging(world)),
      );
    },
  },
  SetpointStuck: {
    also: ['SetpointStale'],
    make: async () => {
      const { world } = await scene();
      return hourOf(
        world,
        () => {},
        async (minute) => {
          if (minute < 5) await world.pass(MINUTE);
          else world.clock.passed += MINUTE;
        },
      );
    },
  },
  SetpointFilesInvalid: {
    make: async () => {
      const { world } = await scene();
      return hourOf(world, (minute) => {
        if (minute === 5) writeFileSync(world.file, 'version: 1\nsetings: {}\n');
      });
    },
  },
  SetpointPageCredentials: {
    make: async () => {
      const { world } = await scene();
      const token = join(world.folder, 'token');
      writeFileSync(token, 'the-first-token-of-the-page\n');
      const env = { SETPOINT_WATCH_TOKEN_FILE: token };
      const page = await servePage(world.controller, {
        host: '127.0.0.1',
        port: 0,
        publicOrigin: null,
        token: new Secret('the-first-token-of-the-page'),
        tls: null,
        allowActions: false,
        metrics: null,
        failed: () => {},
        clock: SYSTEM_CLOCK,
        source: credentialSource({ listen: '127.0.0.1:0' }, env, new DiskAnswers()),
        bounds: { look: 5 },
      });
      onTestFinished(() => page.close());
      return hourOf(world, async (minute) => {
        if (minute !== 5) return;
        rmSync(token);
        await until(() => world.controller.conditions.has('page'));
      });
    },
  },
  SetpointControllerProblem: {
    also: ['SetpointDrift'],
    make: async () => {
      const { store, world } = await scene();
      const journal = join(world.data, 'journal.jsonl');
      return hourOf(world, (minute) => {
        if (minute !== 5) return;
        renameSync(journal, `${journal}.away`);
        mkdirSync(journal);
        store.stored = { ...DRIFTED };
      });
    },
  },
  SetpointNoticesFail: {
    also: ['SetpointDrift'],
    make: async () => {
      const chat = await onLoopback((_, response) => response.writeHead(500).end());
      onTestFinished(() => chat.close());
      const { store, world } = await scene({ notify: notified(chat.url) });
      return hourOf(world, (minute) => minute === 5 && (store.stored = { ...DRIFTED }));
    },
  },
  SetpointDown: {
    also: ['SetpointInstanceDown'],
    make: async () => {
      const { world } = await scene();
      const [start, scrape] = [world.clock.now() / 1000, await scraped(world)];
      const scrapes: Scrape[][] = [];
      for (let minute = 0; minute < 5; minute += 1) {
        await world.pass(MINUTE);
        scrapes.push([await scrape()]);
      }
      await world.stop();
      while (scrapes.length <= HOUR) scrapes.push([{ instance: 'a', text: null }]);
      return seriesOf(scrapes, start);
    },
  },
  SetpointShardDown: {
    also: ['SetpointInstanceDown'],
    make: async () => {
      const [folder, clock] = [watchFolder(), new HandClock()];
      const more = environments('one', 'two', 'three', 'four', 'five', 'six');
      settingsFile(folder, settings((await aStore()).url, undefined, more));
      const start = (index: number): World =>
        startWatching({
          folder,
          clock,
          data: join(folder, `data-${index}`),
          request: { shard: { index, count: 2 } },
        });
      return hourOfTwo([start(0), start(1)]);
    },
  },
  SetpointInstanceDown: {
    make: async () => {
      const [folder, clock, table] = [watchFolder(), new HandClock(), new Map<string, object>()];
      settingsFile(folder, settings((await aStore()).url));
      const start = (name: string): World =>
        startWatching({
          folder,
          clock,
          data: join(folder, name),
          locks: () => tableLocks(table),
        });
      return hourOfTwo([start('a'), start('b')]);
    },
  },
};

/** Rules about objects of a cluster: test/e2e/cluster/alerts.test.ts makes their states. */
const OF_CLUSTER: ReadonlySet<string> = new Set(['SetpointNotWatched']);

/** Refuses so many writes. */
function refuseWrites(store: StoreServer, count: number): void {
  let left = count;
  store.intercept = (request, response) => {
    if (request.method === 'GET' || left <= 0) return false;
    left -= 1;
    response.writeHead(422, { 'content-type': 'application/json' });
    response.end('{"detail":"no such model"}');
    return true;
  };
}

/** Lets a minute pass in which reads stay under way. */
async function hanging({ clock }: World): Promise<void> {
  for (let second = 0; second < 60; second += 15) {
    clock.passed += 15_000;
    clock.wake();
    await pause(5);
  }
}

function notified(url: string): NonNullable<WorldOptions['notify']> {
  const to = {
    form: 'json' as const,
    url: new Secret(url),
    headers: new Map(),
  };
  return { page: null, receivers: [receiver({ to })], heartbeat: null };
}

describe.runIf(hasProgram('promtool'))(
  'the alerts of an hour, from what was scraped in it (skipped if promtool is not installed)',
  () => {
    it('are none of a fleet that is well, while drift is healed and edits are applied', async () => {
      const chat = await onLoopback((_, response) => response.end('ok'));
      onTestFinished(() => chat.close());
      const { store, world } = await scene({
        watch: '{ mode: heal, interval: 2m }',
        more: environments('one', 'two', 'three'),
        notify: notified(chat.url),
      });
      const series = await hourOf(world, (minute) => {
        if (minute === 10) store.stored = { ...DRIFTED };
        if (minute !== 30) return;
        const text = readFileSync(world.file, 'utf8');
        writeFileSync(world.file, text.replace('gpt-4o', 'gpt-5'));
      });
      expect(store.stored).toMatchObject({
        language: 'en',
        llm_model: 'gpt-5',
      });
      expectAlerts(series, []);
    });

    it('are none of a run from cron that is well', async () => {
      expectAlerts(await minutesOfCron((await aStore()).url, HOUR), []);
    });

    itEach(
      ALERTS.filter((name) => !OF_CLUSTER.has(name)),
      (name) => ['SetpointDrift', 'SetpointFailing'].includes(name),
    )('%s', async (name) => {
      const state = STATES[name];
      if (state === undefined) throw new Error(`No state is made for ${name}: add it to STATES.`);
      expectAlerts(await state.make(), [name, ...(state.also ?? [])]);
    });
  },
);
