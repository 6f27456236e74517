import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { startEmulator, type Emulator } from '../../src/emulator/start.ts';
import { endOf, folderWith, inTime, quickTime } from '../fixture/command.ts';
import { blocksIn, commandsIn, fileIn, ROOT, type ShownCommand } from './pages.ts';
import { store, whyNotRun, type Setup } from './set-ups.ts';
import { endInTime } from '../fixture/until.ts';

const BIN = join(ROOT, 'dist/bin/setpoint.cjs');

/** What became of a command of a page. */
export interface Ran {
  readonly shown: ShownCommand;
  readonly exit: number | null;
  /** stdout and stderr, as a terminal has them, with the addresses of the page. */
  readonly output: string;
}

/**
 * Runs every command of a page in one folder, in order, files written where the page shows them. The services that the page
 * names are embedded ones; files, commands and outputs are translated between the two addresses. A controller is stopped once its
 * output `isAsShown`.
 */
export async function runPage(
  text: string,
  setup: Setup,
  isAsShown: (shown: ShownCommand, output: string) => boolean,
): Promise<readonly Ran[]> {
  const folder = folderWith({ ...setup.files, 'bin/.keep': '', 'secrets/.keep': '' });
  const services: (Emulator | ChildProcess)[] = [];
  const addresses = new Map([['/run/secrets', join(folder.path, 'secrets')]]);
  const inside = (shown: string) => translated(shown, [...addresses]);
  const outside = (actual: string) =>
    translated(
      actual,
      [...addresses].map(([shown, at]) => [at, shown]),
    );
  const shell = new Shell(folder.path, {
    XDG_CACHE_HOME: join(ROOT, 'node_modules/.cache'),
    SETPOINT_ALLOWED_FILES: join(folder.path, 'secrets'),
    ...setup.env,
  });
  try {
    // A controller begins within a minute: time passes faster for all commands of a page that starts one.
    const quick = inTime(/^\$ setpoint watch /m.test(text) ? quickTime() : undefined);
    Object.assign(shell.env, quick.env);
    const node = [process.execPath, ...quick.flags].join(' ');
    writeFileSync(join(folder.path, 'bin/setpoint'), `#!/bin/sh\nexec ${node} '${BIN}' "$@"\n`, {
      mode: 0o755,
    });
    mkdirSync(join(folder.path, 'work/node_modules'), { recursive: true });
    symlinkSync(ROOT, join(folder.path, 'work/node_modules/setpoint'));
    for (const [address, stored] of Object.entries(setup.services ?? {})) {
      const service = await startEmulator({ startMs: 0, runMs: 600_000, ...stored.options });
      services.push(service);
      addresses.set(address, service.url);
      if (stored.settings !== undefined) await store(service.url, stored.settings);
    }
    for (const command of setup.before ?? []) {
      const { exit, output } = await shell.run(inside(command));
      if (exit !== 0) throw new Error(`${command} ended with ${exit}: ${output}`);
    }
    const ran: Ran[] = [];
    for (const block of blocksIn(text)) {
      const file = fileIn(block);
      if (file !== null && !file.name.startsWith('.github/')) {
        const path = join(folder.path, 'work', file.name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, inside(file.text));
      }
      for (const shown of commandsIn(block)) {
        if (whyNotRun(shown.command) !== null) continue;
        if (shown.command.startsWith('setpoint serve ')) {
          const [child, port, url] = await serve(shell, shown.command);
          services.push(child);
          addresses.set(`http://127.0.0.1:${port}`, url);
          // The address of all interfaces, where a page is about a service that is not on loopback.
          addresses.set(`http://0.0.0.0:${port}`, url.replace('127.0.0.1', '0.0.0.0'));
          ran.push({ shown, exit: 0, output: outside(url) });
          continue;
        }
        if (shown.command.startsWith('setpoint watch ')) {
          const isThere = (output: string) => isAsShown(shown, output);
          ran.push({ shown, ...(await watch(shell, shown.command, isThere)) });
          continue;
        }
        await setup.between?.[shown.command]?.(inside);
        const { exit, output } = await shell.run(inside(shown.command));
        ran.push({ shown, exit, output: outside(output) });
      }
    }
    return ran;
  } finally {
    for (const service of services)
      if ('close' in service) await service.close();
      else service.kill('SIGTERM');
    folder.remove();
  }
}

/** Commands one after another, with the variables that one exports for the next. */
class Shell {
  readonly folder: string;
  readonly env: Record<string, string>;

  constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.env = { ...env, PATH: `${folder}/bin:${process.env['PATH'] ?? ''}`, HOME: folder };
  }

  async run(command: string): Promise<{ exit: number | null; output: string }> {
    const state = join(this.folder, 'exported');
    const script = `[ ! -f '${state}' ] || . '${state}'\n{ ${command}\n} 2>&1\ncode=$?\nexport -p > '${state}'\nexit $code`;
    const child = this.start('bash', ['-c', script]);
    const { code, stdout } = await endOf(child, command);
    return { exit: code, output: stdout };
  }

  start(program: string, args: readonly string[]): ChildProcess {
    return spawn(program, args, {
      cwd: join(this.folder, 'work'),
      env: this.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  }
}

/** How long a controller may take to say what a page shows: it reads within a minute what it has never read. */
const PATIENCE = 120_000;

/** A controller on a free port in place of the one the page names, until it has said what the page shows, or for too long. */
async function watch(
  shell: Shell,
  command: string,
  isThere: (output: string) => boolean,
): Promise<{ exit: number | null; output: string }> {
  const [address = '', host = ''] = /([\d.]+):\d+$/.exec(command) ?? [];
  const child = shell.start('bash', ['-c', `exec ${command.replace(address, `${host}:0`)} 2>&1`]);
  const ended = once(child, 'close') as Promise<[number | null]>;
  let output = '';
  // A second signal would not let it end what it is at.
  const stop = (): void => {
    if (!child.killed) child.kill('SIGTERM');
  };
  const timer = setTimeout(stop, PATIENCE);
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (isThere(shown())) stop();
  });
  const shown = () => output.replace(/(The page is at http:\/\/)[\d.:]+/, `$1${address}`);
  const [exit] = await ended;
  clearTimeout(timer);
  return { exit, output: shown() };
}

/** A service that the page starts, on a free port in place of the one it names. */
async function serve(shell: Shell, command: string): Promise<[ChildProcess, string, string]> {
  const [, port = '3000'] = /--port (\d+)/.exec(command) ?? [];
  const args = command
    .replace(/[#&].*$/, '')
    .replace(/ --port \d+/, '')
    .trim()
    .split(/\s+/)
    .slice(1);
  const child = shell.start(process.execPath, [BIN, ...args, '--port', '0']);
  if (child.stdout === null) throw new Error('serve has no output');
  const stop = new AbortController();
  const ended = once(child, 'close', { signal: stop.signal }).then(([code]) => {
    throw new Error(`${command} ended with ${String(code)}`);
  });
  const lines = once(createInterface(child.stdout), 'line') as Promise<[string]>;
  const [url] = await endInTime(Promise.race([lines, ended]), command);
  ended.catch(() => {});
  stop.abort();
  return [child, port, url];
}

function translated(text: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((all, [from, to]) => all.replaceAll(from, to), text);
}
