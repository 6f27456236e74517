import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exchange } from '../fixture/loop/dialects.ts';
import type { LoopServer } from '../fixture/loop/server.ts';
import { realSecrets, realTokens } from './real-secrets.ts';
import type { JsonRecord } from '../fixture/store-server.ts';
import type { Release } from './releases.ts';

/** The key that the exchanges were recorded with. */
const KEY = 'contract-key';

/** How long a server may take until it answers, on a machine that does other things, too. */
const START_MS = 540_000;

/** How long it may take to end before it is killed. */
const END_MS = 15_000;

export interface RealServer extends LoopServer {
  /** The folder of its store. */
  readonly store: string;
  /** Removes all that is stored. A server reads its files at each request; an automation service must be stopped. */
  empty(): void;
  /** Writes a file of its store; null removes it. */
  put(name: string, text: string | null): void;
  /** Runs its Python on its store, with this text to read; returns what is printed. */
  python(args: readonly string[], input: string): string;
  /** With variables of its own, beside those that every start has. */
  start(variables?: Readonly<Record<string, string>>): Promise<void>;
}

interface Beginning {
  /** The text of a config.toml in the folder where it starts. */
  readonly config?: string;
  /** Whether its sandboxes are to start on any machine: see awake.py. */
  readonly isAwake?: boolean;
  /** Variables of its own at every start. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Another server, which has stopped: this one goes on with its store and at its address, and leaves the store to it. */
  readonly after?: RealServer;
}

/** Starts a release on a free port of loopback with a store in a folder of its own, and waits until it answers. */
export async function startRealServer(
  release: Release,
  venv: string,
  { config, variables: own = {}, after, isAwake = false }: Beginning = {},
): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-real-'));
  const store = after?.store ?? join(folder, 'store');
  const port = after === undefined ? await freePort() : Number(new URL(after.url).port);
  const url = `http://127.0.0.1:${port}`;
  const isAutomation = release.server === 'openhands-automation';
  const read = (name: string) => {
    const path = join(store, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : null;
  };
  let running: ChildProcess | null = null;

  const server: RealServer = {
    dialect: release.dialect,
    url,
    key: KEY,
    lacks: release.lacks ?? [],
    store,
    keepsSecrets: true,
    async record() {
      const text = read('settings.json');
      if (text === null || release.server === 'openhands-ai')
        return text === null ? null : (JSON.parse(text) as JsonRecord);
      // This server encrypts the secrets that it stores, and answers them in clear to this header.
      const reveal = { 'X-Expose-Secrets': 'plaintext' };
      const answer = await exchange(server, 'GET', '/api/settings', undefined, reveal);
      const { llm_api_key_is_set: _, ...record } = answer ?? {};
      return record;
    },
    bytes: () => read('settings.json'),
    secrets: () => realSecrets(server, read('secrets.json')),
    gitTokens: () => Promise.resolve(realTokens(read('secrets.json'))),
    files: () => filesIn(store),
    breakSecrets() {
      const whole = read('secrets.json');
      server.put('secrets.json', '{"custom_secrets": ');
      return () => server.put('secrets.json', whole);
    },
    empty() {
      for (const name of readdirSync(store).filter((one) => one !== 'cwd'))
        if (isAutomation || !name.endsWith('.db')) rmSync(join(store, name), { recursive: true });
    },
    put(name, text) {
      const path = join(store, name);
      mkdirSync(dirname(path), { recursive: true });
      if (text === null) rmSync(path, { force: true });
      else writeFileSync(path, text);
    },
    python: (args, input) =>
      execFileSync(join(venv, 'bin/python'), ['-B', ...args], {
        cwd: join(store, 'cwd'),
        env: { ...environmentOf(release, venv, store, url), ...own },
        encoding: 'utf8',
        input,
        stdio: ['pipe', 'pipe', 'ignore'],
      }),
    async start(variables = {}) {
      const cwd = join(store, 'cwd');
      mkdirSync(cwd, { recursive: true });
      if (config !== undefined) writeFileSync(join(cwd, 'config.toml'), config);
      const log = openSync(join(folder, 'log'), 'a');
      running = spawn(join(venv, 'bin/python'), argumentsOf(release, port, isAwake), {
        cwd,
        env: { ...environmentOf(release, venv, store, url), ...own, ...variables },
        stdio: ['ignore', log, log],
      });
      closeSync(log);
      noteRunning(running);
      await answers(running, `${url}/${isAutomation ? 'ready' : 'alive'}`, () =>
        readFileSync(join(folder, 'log'), 'utf8'),
      );
    },
    async stop() {
      if (running === null) return;
      await end(running);
      noteEnded(running);
      running = null;
    },
    async close() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** What a server writes by itself, whatever is asked of it. */
const OWN_FILES = /^(cwd|conversations|workspace|\.cache)\b|\.(db|log|lock|db-wal|db-shm)$/;

function filesIn(store: string): Readonly<Record<string, string>> {
  const files = readdirSync(store, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .map((path) => [relative(store, path), path] as const)
    .filter(([name]) => !OWN_FILES.test(name));
  return Object.fromEntries(files.map(([name, path]) => [name, readFileSync(path, 'latin1')]));
}

function argumentsOf({ server }: Release, port: number, isAwake: boolean): readonly string[] {
  const address = ['--host', '127.0.0.1', '--port', String(port)];
  if (isAwake && server === 'openhands-ai')
    return ['-B', '-m', 'uvicorn', '--app-dir', import.meta.dirname, 'awake:app', ...address];
  const app = APPS[server];
  return app === null
    ? ['-m', 'openhands.agent_server', ...address]
    : ['-m', 'uvicorn', app, ...address];
}

/** The applications that uvicorn runs; null for a server that runs it itself. */
const APPS: Readonly<Record<Release['server'], string | null>> = {
  'openhands-ai': 'openhands.server.listen:app',
  'openhands-automation': 'openhands.automation.app:app',
  'openhands-agent-server': null,
};

/** Its runs stay pending, and nothing that it could ask is there. Another server's address is a variable of its own. */
function automationVariables(store: string, url: string) {
  const nowhere = 'http://127.0.0.1:9';
  return {
    AUTOMATION_LOCAL_API_KEY: KEY,
    AUTOMATION_AGENT_SERVER_URL: nowhere,
    AUTOMATION_AGENT_SERVER_API_KEY: KEY,
    AUTOMATION_DB_URL: `sqlite+aiosqlite:///${store}/automations.db`,
    LOCAL_STORAGE_PATH: join(store, 'files'),
    AUTOMATION_WORKSPACE_BASE: join(store, 'workspaces'),
    AUTOMATION_BASE_URL: url,
    AUTOMATION_OPENHANDS_API_BASE_URL: nowhere,
    AUTOMATION_POSTHOG_API_KEY: '',
    AUTOMATION_POSTHOG_HOST: nowhere,
    AUTOMATION_DISPATCHER_INTERVAL_SECONDS: '86400',
    AUTOMATION_WATCHDOG_INTERVAL_SECONDS: '86400',
    DO_NOT_TRACK: '1',
    OPENHANDS_SUPPRESS_BANNER: '1',
  };
}

/** Nothing of this process's own environment but the search path: no key of the person who runs the tests gets into a server. */
function environmentOf({ server }: Release, venv: string, store: string, url: string) {
  const common = {
    PATH: `${join(venv, 'bin')}:${process.env['PATH'] ?? ''}`,
    HOME: store,
    OH_PERSISTENCE_DIR: store,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  };
  if (server === 'openhands-automation') return { ...common, ...automationVariables(store, url) };
  if (server === 'openhands-ai')
    return {
      ...common,
      SESSION_API_KEY: KEY,
      SERVE_FRONTEND: 'false',
      FILE_STORE: 'local',
      FILE_STORE_PATH: store,
      RUNTIME: 'local',
      SKIP_DEPENDENCY_CHECK: '1',
      OH_WEB_URL: url,
    };
  return {
    ...common,
    OH_SESSION_API_KEYS_0: KEY,
    OH_SECRET_KEY: 'secret-key-for-the-contract-tests',
    OH_CONVERSATIONS_PATH: join(store, 'conversations'),
    OH_ENABLE_VSCODE: '0',
    OH_PRELOAD_TOOLS: '0',
  };
}

/** Leaves the server's id where `scripts/test-real.mjs` looks for what the tests could not end, because they were ended themselves. */
function noteRunning({ pid }: ChildProcess): void {
  const folder = process.env['SETPOINT_REAL_PIDS'];
  if (folder !== undefined && pid !== undefined) writeFileSync(join(folder, `${pid}.pid`), '');
}

function noteEnded({ pid }: ChildProcess): void {
  const folder = process.env['SETPOINT_REAL_PIDS'];
  if (folder !== undefined && pid !== undefined)
    rmSync(join(folder, `${pid}.pid`), { force: true });
}

async function answers(running: ChildProcess, url: string, log: () => string): Promise<void> {
  const until = Date.now() + START_MS;
  for (;;) {
    const status = await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
      (response) => response.status,
      () => null,
    );
    // What answers at this port after the server has ended is another one.
    const ended = running.exitCode !== null || running.signalCode !== null;
    if (status === 200 && !ended) return;
    if (ended || Date.now() > until) {
      if (!ended) await end(running);
      throw new Error(`The server ${ended ? 'ended' : 'does not answer'}.\n${log().slice(-2_000)}`);
    }
    await sleep(200);
  }
}

async function end(running: ChildProcess): Promise<void> {
  if (running.exitCode !== null || running.signalCode !== null) return;
  const ended = once(running, 'exit');
  running.kill('SIGTERM');
  const late = setTimeout(() => running.kill('SIGKILL'), END_MS);
  await ended;
  clearTimeout(late);
}

/** A port that nothing listens on, and that no connection is given while the server starts. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
