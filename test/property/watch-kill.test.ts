import { spawn, type ChildProcess } from 'node:child_process';
import {
  appendFileSync,
  readFileSync,
  statSync,
  truncateSync,
  watch as watchFiles,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Journal } from '../../src/controller/watch/journal/journal.ts';
import { onLoopback } from '../fixture/on-loopback.ts';
import { propertyRuns } from '../fixture/property-runs.ts';
import { randomOf } from '../fixture/random-of.ts';
import { startStore } from '../fixture/store-server.ts';
import { journalLines, recordsOf, watchFolder } from '../fixture/watch-world.ts';
import { wouldSend } from '../fixture/would-send.ts';
import { LONG } from '../fixture/long.ts';
import { until } from '../fixture/until.ts';

/** How many times as fast as usual time passes for the command. */
const TIMES = 20;
const SINCE = Date.now();
const BIN = join(import.meta.dirname, '../../dist/bin/setpoint.cjs');
const QUICK = join(import.meta.dirname, '../fixture/quick-time.cjs');
const DECLARED = { language: 'en', llm_model: 'gpt-4o' };

interface Result {
  readonly broken: readonly string[];
  readonly kills: readonly string[];
  readonly posts: number;
  readonly notices: number;
}

/** A life of the real command: it is killed again and again, at moments of a seed, and its journal may be cut off where it was writing. */
async function lives(seed: number): Promise<Result> {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const broken: string[] = [];
  const kills: string[] = [];
  const folder = watchFolder();
  const data = join(folder, 'data');
  const journal = join(data, 'journal.jsonl');
  const store = await startStore({}, { ...DECLARED });
  const shown = new Map<string, string>();
  const checks: Promise<void>[] = [];
  /** How often something was stored since somebody else changed it, and what of that may be repeated. */
  let [stored, notStored] = [0, 0];
  let onRequest = (_method: string): 'answer' | 'take' | 'drop' => 'answer';

  store.intercept = (request, response, proceed, _, body) => {
    const { method = '', headers } = request;
    const key = String(headers['x-session-api-key']);
    if (method === 'POST') {
      const read = shown.get(key) ?? '';
      checks.push(
        wouldSend(settings(store.url), read).then((expected) => {
          if (expected !== body) broken.push(`sent ${body}, an apply sends ${expected}`);
        }),
      );
    }
    const fate = onRequest(method);
    if (method === 'POST') {
      if (fate === 'drop') notStored += 1;
      else stored += 1;
      if (stored > 1) broken.push(`stored ${stored} times what somebody changed once`);
    }
    const end = response.end.bind(response);
    response.end = ((...given: Parameters<typeof end>) => {
      if (method === 'GET') shown.set(key, String(given[0]));
      return end(...given);
    }) as typeof response.end;
    if (fate === 'drop') response.destroy();
    else proceed();
    return true;
  };

  const told: string[] = [];
  let onNotice = (): void => {};
  const hook = await onLoopback((_, response, body) => {
    const { notices } = JSON.parse(body) as { notices: { event: string; digest: string }[] };
    for (const { event, digest } of notices) {
      const open = told.slice(told.findLastIndex((one) => one.startsWith('resolved')) + 1);
      if (event !== 'resolved' && open.some((one) => one.endsWith(digest)))
        broken.push(`told ${event} twice`);
      told.push(`${event} ${digest}`);
    }
    onNotice();
    response.end('ok');
  });
  writeFileSync(join(folder, 'settings.yaml'), settings(store.url));
  writeFileSync(
    join(folder, 'notify.yaml'),
    `version: 1\nnotify:\n  - name: hook\n    json: ${hook.url}/hook\n`,
  );

  let count = 0;
  const started = () => {
    count += 1;
    const command = ['watch', '--data', 'data', '--lock', 'file', '--notify', 'notify.yaml'];
    const child = spawn(process.execPath, ['-r', QUICK, BIN, ...command, '--interval', '10s'], {
      cwd: folder,
      env: {
        SETPOINT_API_KEY: `key-${count}`,
        SETPOINT_TEST_TIMES: String(TIMES),
        SETPOINT_TEST_SINCE: String(SINCE),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    return { child, ended, said: () => said };
  };

  const change = (): void => {
    [stored, notStored] = [0, 0];
    store.stored = { ...store.stored, language: `l${Math.floor(random() * 1e6)}` };
  };

  /** Kills it at a moment that is drawn; resolves to what that was. */
  const killed = async (child: ChildProcess): Promise<string> => {
    const kill = (): boolean => child.kill('SIGKILL');
    let left = 1 + Math.floor(random() * 6);
    const how = pick([
      'time',
      'request',
      'request',
      'post',
      'post',
      'notice',
      'journal',
      'journal',
    ]);
    const fate = pick(['take', 'drop'] as const);
    const over = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const isLast = (): boolean => {
      left -= 1;
      return left === 0;
    };
    if (how === 'time') void wait(random() * 4_000).then(kill);
    if (how === 'post') left = 1;
    onRequest = (method) => {
      const counts = how === 'request' || (how === 'post' && method === 'POST');
      if (!counts || !isLast()) return 'answer';
      kill();
      return fate;
    };
    onNotice = () => {
      if (how === 'notice') kill();
    };
    const watcher = how === 'journal' ? watchFiles(data, () => isLast() && kill()) : null;
    // What it waits for may not come: nothing differs, or everybody was told.
    const late = new AbortController();
    void wait(8_000, undefined, { signal: late.signal }).then(kill, () => {});
    await over;
    late.abort();
    watcher?.close();
    onRequest = () => 'answer';
    onNotice = () => {};
    return how;
  };

  /** What a kill in the middle of a write leaves; what was kept before stays. */
  const tear = (): void => {
    if (random() < 0.5) return;
    const size = statSync(journal, { throwIfNoEntry: false })?.size ?? 0;
    const text = size === 0 ? '' : readFileSync(journal, 'utf8');
    const last = text.split('\n').findLast((line) => line !== '') ?? '';
    const isRepeatable = text.endsWith(`${last}\n`) && REPEATABLE.test(last);
    const cut = Math.floor(random() * last.length);
    if (isRepeatable) truncateSync(journal, size - 1 - cut);
    else appendFileSync(journal, last.slice(0, cut));
  };

  writeFileSync(join(folder, 'now'), '');
  for (let round = 0; round < 4; round += 1) {
    const before = count === 0 ? [] : recordsOf(data, 'notice');
    const command = started();
    if (round > 0 && random() < 0.7) change();
    // It makes the folder itself.
    const isBegun = () => statSync(journal, { throwIfNoEntry: false }) !== undefined;
    await until(isBegun, { show: command.said });
    kills.push(await killed(command.child));
    const after = recordsOf(data, 'notice');
    for (const [index, record] of before.entries())
      if (JSON.stringify(after[index]) !== JSON.stringify(record)) broken.push('lost a notice');
    tear();
  }
  const known = (await new Journal(data, Date.now).remember()).memory.environments.get('default');
  const last = started();
  const isOver = (): boolean =>
    JSON.stringify(store.stored) === JSON.stringify({ ...store.stored, ...DECLARED }) &&
    shown.has(`key-${count}`) &&
    recordsOf(data, 'state').at(-1)?.status === 'in-sync';
  await until(isOver, { show: last.said }).catch(({ message }: Error) => broken.push(message));
  await wait(12_000 / TIMES);
  last.child.kill('SIGTERM');
  const code = await last.ended;
  if (code !== 0) broken.push(`ended with ${code}: ${last.said()}`);
  const states = recordsOf(data, 'state');
  const isKept =
    known === undefined ||
    states.some(({ digest, at }) => digest === known.digest && at === known.lastRead);
  if (!isKept) broken.push('lost a state');
  const torn = journalLines(data).filter((line) => line === null).length;
  if (torn > kills.length) broken.push(`has ${torn} lines that cannot be read`);
  for (const [index, { digest, status }] of states.entries()) {
    const former = states[index - 1];
    if (former?.digest === digest && former.status === status) broken.push(`has ${status} twice`);
  }
  await Promise.all(checks);
  await store.close();
  await hook.close();
  return { broken, kills, posts: store.posts(), notices: told.length };
}

/** Records that a controller makes anew if they were cut off. */
const REPEATABLE = /"kind":"(state|files|agreed|started)"/;

function settings(url: string): string {
  return `version: 1
server: { url: "${url}", api_key: "\${env:SETPOINT_API_KEY}" }
settings: ${JSON.stringify(DECLARED)}
watch: { mode: heal, interval: 10s, max_heals_per_hour: 60 }
`;
}

const seed = process.env['SETPOINT_PROPERTY_SEED'];
const first = Number(seed ?? 1);
const runs = propertyRuns(seed === undefined ? 4 : 1);

it(
  `the command keeps its promises over kills at any moment, by the seeds ${first} to ${first + runs - 1}`,
  LONG,
  async () => {
    const failed: string[] = [];
    const all = { kills: 0, posts: 0, notices: 0 };
    let next = first;
    const one = async (): Promise<void> => {
      while (next < first + runs) {
        const own = next++;
        const found = await lives(own);
        all.kills += found.kills.length;
        all.posts += found.posts;
        all.notices += found.notices;
        if (found.broken.length > 0)
          failed.push(`seed ${own} (${found.kills.join(', ')}): ${found.broken.join('; ')}`);
      }
    };
    // They wait for most of their time.
    await Promise.all(Array.from({ length: 4 }, one));
    expect(failed).toEqual([]);
    // A command that writes or tells nothing would keep all promises.
    expect(Object.values(all).filter((count) => count === 0)).toEqual([]);
  },
);
