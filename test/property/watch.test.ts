import { appendFileSync, mkdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Journal } from '../../src/controller/watch/journal/journal.ts';
import { isInAnyWindow } from '../../src/controller/watch/schedule.ts';
import { SuspensionFile } from '../../src/controller/watch/suspension-file.ts';
import { propertyRuns } from '../fixture/property-runs.ts';
import { randomOf } from '../fixture/random-of.ts';
import { loaded, RECORDED, startStore, type JsonRecord } from '../fixture/store-server.ts';
import { RECEIVER_FAULTS, startReceivers } from '../fixture/watch-receivers.ts';
import {
  HandClock,
  HOUR,
  Life,
  MINUTE,
  NOON,
  recordsOf,
  SECOND,
  settingsFile,
  startWatching,
  tableLocks,
  watchFolder,
  type World,
} from '../fixture/watch-world.ts';
import { wouldSend } from '../fixture/would-send.ts';
import { LONG } from '../fixture/long.ts';

const DECLARED = { language: 'en', llm_model: 'gpt-4o' };
const MOST_HEALS = 3;
const WINDOW = { text: '', days: new Set([0, 1, 2, 3, 4, 5, 6]), from: 600, to: 1200, zone: 'UTC' };

interface Modes {
  mode: 'heal' | 'detect';
  windows: boolean;
}

function settings(url: string, { mode, windows }: Modes): string {
  return `version: 1
server:
  url: ${url}
  api_key: \${env:SETPOINT_API_KEY}
settings:
  language: en
  llm_model: gpt-4o
watch:
  mode: ${mode}
  interval: 30s
  max_heals_per_hour: ${MOST_HEALS}
${windows ? '  windows: ["10:00-20:00"]\n' : ''}`;
}

type Fault = 'none' | 'cut' | '500' | '401' | '429' | 'old' | 'flags' | 'flapping' | 'lost-writes';
const FAULTS: readonly Fault[] = [
  'none',
  'none',
  'none',
  'cut',
  '500',
  '401',
  '429',
  'old',
  'flags',
  'flapping',
  'lost-writes',
];

interface Result {
  readonly broken: readonly string[];
  readonly posts: number;
  readonly notices: number;
  readonly kills: number;
}

/** One campaign: what went wrong with a promise is in `broken`. */
async function campaign(seed: number): Promise<Result> {
  const random = randomOf(seed);
  /** What controllers and servers draw, in an order of their own. */
  const [ofControllers, ofServers] = [randomOf(seed + 10_000), randomOf(seed + 20_000)];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const broken: string[] = [];
  const clock = new HandClock();
  const folder = watchFolder();
  const data = join(folder, 'data');
  const store = await startStore({}, { ...DECLARED });
  const receivers = await startReceivers(data, clock);
  let kills = 0;
  /** Records of states that somebody was told of. */
  const seen = new Set<string>();
  const modes: Modes = { mode: 'heal', windows: false };
  let modesAt = Number.NEGATIVE_INFINITY;
  let suspended = false;
  let isFull = false;
  let fault: Fault = 'none';
  let old: JsonRecord = { ...DECLARED };
  let shown = '';
  let isFirst = false;
  let count = 0;
  const heals: { at: number; paths: readonly string[] }[] = [];
  let begun: { readonly at: number; readonly paths: readonly string[] } = { at: 0, paths: [] };
  const table = new Map<string, object>();
  const holders = new Map<string, () => boolean>();
  const checks: Promise<void>[] = [];

  store.intercept = (request, response, proceed, _, body) => {
    const answer = (status: number, text: string, headers = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    };
    if (request.method === 'POST') onPost(body, String(request.headers['x-session-api-key']));
    const flapped = (['none', 'cut', '500', 'none'] as const)[Math.floor(ofServers() * 4)];
    const now = fault === 'flapping' ? (flapped ?? 'none') : fault;
    const isRead = request.method === 'GET';
    if (now === 'cut') response.destroy();
    else if (now === '500') answer(500, '{}');
    else if (now === '401') answer(401, '{}');
    else if (now === '429') answer(429, '{}', { 'retry-after': '2' });
    else if (now === 'lost-writes' && !isRead) answer(200, '{"message":"Settings stored"}');
    else if (isRead) {
      const record = loaded(now === 'old' ? old : (store.stored ?? {}), RECORDED);
      if (now === 'flags') record['llm_api_key_set'] = ofServers() < 0.5;
      shown = JSON.stringify(record);
      answer(200, shown);
    } else proceed();
    return true;
  };

  const onPost = (body: string, key: string): void => {
    const at = clock.passed;
    if (holders.get(key)?.() !== true) broken.push(`${key} wrote without the lock`);
    if (!isFirst) return;
    isFirst = false;
    if (suspended) broken.push('wrote while suspended');
    const isInForce = at - modesAt > 6 * SECOND;
    if (isInForce && modes.mode === 'detect') broken.push('wrote in mode detect');
    if (isInForce && modes.windows && !isInAnyWindow([WINDOW], clock.now()))
      broken.push('wrote out of windows');
    // A heal counts from when it begins; its request may be tried again for a while.
    heals.push(begun);
    for (const path of begun.paths) {
      const recent = heals.filter((heal) => heal.paths.includes(path) && heal.at > begun.at - HOUR);
      if (recent.length > MOST_HEALS)
        broken.push(`healed ${path} ${recent.length} times in an hour`);
    }
    const seen = shown;
    checks.push(
      wouldSend(settings(store.url, { mode: 'heal', windows: false }), seen).then((expected) => {
        if (expected !== body) broken.push(`sent ${body}, an apply sends ${expected} to ${seen}`);
      }),
    );
  };

  const start = (): World => {
    count += 1;
    const key = `key-${count}`;
    let self: object | null = null;
    const life = new Life();
    life.atEnd(() => {
      kills += 1;
      // As a system that ends a process: another one may have its locks.
      if (self !== null && table.get('default') === self) table.delete('default');
    });
    const world = startWatching({
      folder,
      clock,
      random: ofControllers,
      life,
      notify: receivers.settings,
      issues: receivers.issues,
      boot: async () => 'this start of the machine',
      interval: 30 * SECOND,
      request: { env: { SETPOINT_API_KEY: key } },
      limits: { bytes: 6_000, age: 6 * HOUR, files: 1_000 },
      locks: () => {
        const locks = tableLocks(table);
        return {
          ...locks,
          take: async (name) => {
            const taken = await locks.take(name);
            if (!('heldBy' in taken)) self = table.get(name) ?? null;
            return taken;
          },
        };
      },
    });
    holders.set(key, () => self !== null && table.get('default') === self);
    world.controller.subscribe((_, event) => {
      if (event.kind === 'state') seen.add(JSON.stringify(event));
      if (event.kind !== 'writing') return;
      isFirst = true;
      begun = { at: event.up?.ms ?? Number.NaN, paths: event.paths };
    });
    return world;
  };

  const journal = join(data, 'journal.jsonl');
  const setFull = (full: boolean): void => {
    if (full === isFull) return;
    if (full) {
      renameSync(journal, join(data, 'away'));
      mkdirSync(journal);
    } else {
      rmdirSync(journal);
      renameSync(join(data, 'away'), journal);
    }
    isFull = full;
  };

  settingsFile(folder, settings(store.url, modes));
  let worlds: World[] = [start()];
  /** Two on one clock: it moves on once both have done what is due. */
  const settled = async (): Promise<void> => {
    for (const world of worlds) await world.settle();
  };
  const passed = async (milliseconds: number): Promise<void> => {
    for (let left = milliseconds; left > 0; left -= 15 * SECOND) {
      await settled();
      const end = clock.passed + Math.min(left, 15 * SECOND);
      while (clock.next <= end) {
        clock.passed = Math.max(clock.passed, clock.next);
        clock.wake();
        await settled();
      }
      clock.passed = Math.max(clock.passed, end);
      await revive();
    }
  };
  const started = async (): Promise<World> => {
    const { memory } = await new Journal(data, () => clock.now()).remember();
    const known = memory.environments.get('default');
    const world = start();
    const [state = world.state()] = await world.begun;
    const { found, digest, since, stopped, heals, lastApply } = state;
    const paths = (all: typeof heals | undefined) => all?.flatMap((heal) => heal.paths);
    const [has, says] = [
      { found, digest, since, stopped, lastApply, heals: paths(heals) },
      { ...known, heals: paths(known?.heals) },
    ];
    for (const [name, value] of Object.entries(has))
      if (known !== undefined && JSON.stringify(value) !== JSON.stringify(says[name as 'found']))
        broken.push(
          `after a start ${name} is ${JSON.stringify(value)}, the journal says ${JSON.stringify(says[name as 'found'])}`,
        );
    await world.settle();
    return world;
  };
  /** Starts anew those that were killed. */
  const revive = async (): Promise<void> => {
    for (const world of worlds) {
      if (!world.life.isOver) continue;
      setFull(false);
      worlds = worlds.filter((one) => one !== world);
      worlds.unshift(await started());
    }
  };
  const restart = async (hard: boolean): Promise<void> => {
    setFull(false);
    const [first, ...rest] = worlds;
    if (hard) first?.life.end();
    else await first?.stop();
    if (random() < 0.5)
      appendFileSync(
        journal,
        '{"v":1,"at":"2026-03-01T12:0'.slice(0, 1 + Math.floor(random() * 27)),
      );
    worlds = [...rest, await started()];
  };
  /** As the command does: the journal has it, too. */
  const resumed = async (): Promise<void> => {
    setFull(false);
    await new Journal(data, () => clock.now()).append({ kind: 'resumed', environment: 'default' });
    heals.length = 0;
  };
  const change = async (): Promise<void> => {
    const at = clock.now();
    const other = new SuspensionFile(data);
    switch (
      pick([
        'fault',
        'fault',
        'other',
        'other',
        'other',
        'other',
        'clock',
        'full',
        'restart',
        'kill',
        'kill-soon',
        'kill-soon',
        'receivers',
        'receivers',
        'mode',
        'windows',
        'suspend',
        'second',
        'tear',
        'none',
      ])
    ) {
      case 'fault':
        fault = pick(FAULTS);
        break;
      case 'other':
        old = { ...store.stored };
        store.stored = {
          ...store.stored,
          [pick(['language', 'llm_model'])]: pick(['fr', 'de', 'it']),
        };
        break;
      case 'clock':
        clock.set += pick([-48, -2, -0.5, 0.5, 2, 48]) * HOUR;
        break;
      case 'full':
        setFull(!isFull);
        break;
      case 'restart':
        await restart(false);
        break;
      case 'kill':
        await restart(true);
        break;
      case 'kill-soon': {
        const life = pick(worlds).life;
        life.cut = random();
        life.left = Math.floor(random() * 12);
        break;
      }
      case 'receivers':
        receivers.fault = pick(RECEIVER_FAULTS);
        break;
      case 'mode':
        modes.mode = pick(['heal', 'heal', 'detect']);
        modesAt = clock.passed;
        writeFileSync(join(folder, 'settings.yaml'), settings(store.url, modes));
        break;
      case 'windows':
        modes.windows = random() < 0.5;
        modesAt = clock.passed;
        writeFileSync(join(folder, 'settings.yaml'), settings(store.url, modes));
        break;
      case 'suspend': {
        const resumes = suspended || random() < 0.3;
        if (resumes) await resumed();
        const suspension = { at: new Date(at).toISOString(), reason: 'x', until: null };
        await other.change(['default'], resumes ? null : suspension, at);
        suspended = !resumes;
        const since = clock.passed - clock.skipped;
        receivers.suspendedAt = suspended ? (receivers.suspendedAt ?? since) : null;
        break;
      }
      case 'second':
        setFull(false);
        if (worlds.length === 1) worlds.push(await started());
        else await worlds.pop()?.stop();
        break;
      case 'tear':
        if (!isFull) appendFileSync(journal, '{"v":1,"at":"x');
        break;
      case 'none':
        break;
    }
  };

  await passed(MINUTE);
  for (let step = 0; step < 30; step += 1) {
    await change();
    await passed(pick([5, 20, 45, 120, 600]) * SECOND);
  }
  // In the end all is well, and what is known is what is kept.
  setFull(false);
  fault = 'none';
  receivers.fault = 'none';
  receivers.suspendedAt = null;
  for (const { life } of worlds) life.left = Number.POSITIVE_INFINITY;
  modes.mode = 'heal';
  modes.windows = false;
  modesAt = clock.passed;
  writeFileSync(join(folder, 'settings.yaml'), settings(store.url, modes));
  await resumed();
  await new SuspensionFile(data).change(['default'], null, clock.now());
  suspended = false;
  await passed(70 * MINUTE);
  const holder = worlds.find((world) => world.state().heldBy === null);
  const { memory } = await new Journal(data, () => NOON).remember();
  const known = memory.environments.get('default');
  const state = holder?.state();
  if (state?.found !== 'in-sync')
    broken.push(`ends ${state?.found}: ${state?.plan?.error?.message ?? ''}`);
  if (known?.found !== state?.found || known?.digest !== state?.digest)
    broken.push(`the journal says ${known?.found}, the controller ${state?.found}`);
  const states = recordsOf(data, 'state');
  for (const [index, { digest, status }] of states.entries()) {
    const before = states[index - 1];
    if (before !== undefined && before.digest === digest && before.status === status)
      broken.push(`recorded ${status} twice`);
  }
  const kept = states.map((record) => JSON.stringify(record));
  const lost = [...seen].filter((one) => !kept.includes(one));
  if (lost.length > 0) broken.push(`lost ${lost.join(' ')}`);
  for (const [index, one] of kept.entries())
    if (kept.indexOf(one) < index) broken.push(`has twice ${one}`);
  for (const { name } of receivers.settings.receivers) {
    const { difference, failing } = memory.notified.of(name, 'default');
    const isEnded = difference === null && failing === null;
    if (!isEnded) broken.push(`${name} is not told of the end`);
  }
  const isNear = (at: number): boolean => clock.passed - at < 5 * MINUTE;
  const stillFiring = [...receivers.firing].filter(([, at]) => isNear(at));
  if (stillFiring.length > 0) broken.push(`${String(stillFiring)} fires on`);
  if (receivers.openIssues.size > 0) broken.push('an issue stays open');
  broken.push(...receivers.broken);
  for (const world of worlds) await world.stop();
  await Promise.all(checks);
  await store.close();
  await receivers.close();
  return { broken, posts: store.posts(), notices: receivers.told.length, kills };
}

describe('a controller among faults', LONG, () => {
  const seed = process.env['SETPOINT_PROPERTY_SEED'];
  const first = Number(seed ?? 1);
  const campaigns = propertyRuns(seed === undefined ? 6 : 1);

  it(`keeps its promises in ${campaigns} campaigns of the seeds from ${first} on`, async () => {
    const failed: string[] = [];
    const all = { posts: 0, notices: 0, kills: 0 };
    for (let seed = first; seed < first + campaigns; seed += 1) {
      const found = await campaign(seed).catch((thrown: unknown) => ({
        broken: [String(thrown)],
        posts: 0,
        notices: 0,
        kills: 0,
      }));
      for (const one of ['posts', 'notices', 'kills'] as const) all[one] += found[one];
      if (found.broken.length > 0) failed.push(`seed ${seed}: ${found.broken.join('; ')}`);
    }
    expect(failed).toEqual([]);
    // A controller that never writes, tells or dies would keep all promises.
    expect(Object.values(all).filter((count) => count === 0)).toEqual([]);
  });
});
