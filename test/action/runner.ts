import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { summary } from '@actions/core';
import { vi } from 'vitest';
import { runStep } from '../../src/command/action/step.ts';
import { inFolder } from '../fixture/command-here.ts';
import { FORK_TOKEN, JOB_TOKEN, REPOSITORY, type FakeGitHub } from '../fixture/fake-github.ts';

const MAIN = join(import.meta.dirname, '../../dist/action/index.cjs');

export interface Job {
  /** The checkout, where the step begins. */
  readonly workspace: string;
  readonly github: FakeGitHub;
  /** What the step has under with:. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** What happened; a push if it is absent. */
  readonly event?: object;
  /** Called with the process that runs. */
  readonly started?: (child: ChildProcess) => void;
  /** Whether the built action runs, in a process of its own. */
  readonly built?: boolean;
}

export interface Finished {
  readonly code: number | null;
  /** All that was printed. */
  readonly log: string;
  /** The commands in it that the runner follows. */
  readonly commands: readonly Command[];
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
}

export interface Command {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

export const HEAD = 'a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6a7b8c9d0';
export const MERGE = 'ffffffffffffffffffffffffffffffffffffffff';

let steps = 0;
/** Whether a step runs in this process. */
let isBusy = false;

/**
 * Runs the action as the runner does: inputs and files by name in the environment, commands read from what it prints. It runs in this
 * process, which is several times as quick as one of its own; the built action has a process if it is to be stopped, if the job asks
 * for it, and with SETPOINT_TEST_BUILT=1.
 */
export async function run({
  workspace,
  github,
  inputs,
  env = {},
  event,
  started,
  built = process.env['SETPOINT_TEST_BUILT'] === '1',
}: Job): Promise<Finished> {
  const folder = join(workspace, '.runner', String((steps += 1)));
  mkdirSync(join(folder, 'temp'), { recursive: true });
  const file = (name: string, text = ''): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const files = {
    GITHUB_OUTPUT: file('output'),
    GITHUB_STEP_SUMMARY: file('summary'),
    GITHUB_STATE: file('state'),
    GITHUB_ENV: file('env'),
    GITHUB_EVENT_PATH: file('event.json', JSON.stringify(event ?? { ref: 'refs/heads/main' })),
  };
  const given = { 'github-token': JOB_TOKEN, comment: 'true', all: 'false', ...inputs };
  const variables = {
    ...files,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTOR: 'octocat',
    GITHUB_API_URL: github.url,
    GITHUB_REF: 'refs/heads/main',
    GITHUB_REPOSITORY: REPOSITORY,
    GITHUB_RUN_ID: '4711',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_SHA: MERGE,
    GITHUB_WORKSPACE: workspace,
    RUNNER_TEMP: join(folder, 'temp'),
    ...asVariables(given),
    ...env,
  };
  const { code, log } =
    built || started !== undefined
      ? await ended(variables, workspace, started)
      : await endedHere(variables, workspace);
  return {
    code,
    log,
    commands: commandsIn(log),
    outputs: outputsIn(readFileSync(files.GITHUB_OUTPUT, 'utf8')),
    summary: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8'),
  };
}

/** A pull request's event, as GitHub writes it into the job's file. */
export function pullRequest(number: number, from = REPOSITORY): object {
  return {
    action: 'synchronize',
    number,
    pull_request: {
      number,
      head: { sha: HEAD, ref: 'a-branch', repo: { full_name: from } },
      base: { sha: MERGE, ref: 'main', repo: { full_name: REPOSITORY } },
    },
  };
}

/** What is different if the pull request comes from a fork. */
export const FORK = { token: FORK_TOKEN, repository: 'somebody/settings' };

function asVariables(inputs: Readonly<Record<string, string>>): Record<string, string> {
  const named = Object.entries(inputs).map(
    ([name, value]) => [`INPUT_${name.replaceAll(' ', '_').toUpperCase()}`, value] as const,
  );
  return Object.fromEntries(named);
}

function ended(
  env: Record<string, string>,
  cwd: string,
  started: Job['started'],
): Promise<{ code: number | null; log: string }> {
  const child = spawn(process.execPath, [MAIN], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  started?.(child);
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, log: Buffer.concat(chunks).toString() }));
  });
}

/** The variables, the folder and the output are those of this process, for one step at a time. */
async function endedHere(
  env: Record<string, string>,
  cwd: string,
): Promise<{ code: number; log: string }> {
  if (isBusy) throw new Error('A step runs here already.');
  isBusy = true;
  const { signal } = new AbortController();
  const chunks: string[] = [];
  const keep = (chunk: string | Uint8Array): boolean => {
    chunks.push(Buffer.from(chunk as string).toString());
    return true;
  };
  const { env: before } = process;
  const written = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write'));
  for (const write of written) write.mockImplementation(keep);
  process.env = env;
  // The toolkit remembers the file of the step before.
  Reflect.set(summary, '_filePath', undefined);
  try {
    const well = await inFolder(cwd, () => runStep({ signal, abandon: signal }));
    return { code: well ? 0 : 1, log: chunks.join('') };
  } finally {
    isBusy = false;
    process.env = before;
    for (const write of written) write.mockRestore();
  }
}

/** The runner recognizes commands behind blanks for `::`, anywhere in a line for `##[`, and nowhere while commands are stopped. */
function commandsIn(log: string): readonly Command[] {
  const found: Command[] = [];
  let stopped: string | null = null;
  for (const line of log.split(/\r\n|\r|\n/)) {
    const match =
      /^\s*::([^\s:]+)(?: ([^]*?))?::([^]*)$/.exec(line) ??
      /##\[(\S+?)(?: (.*?))?\](.*)$/.exec(line);
    if (match === null) continue;
    const [, name = '', properties = '', message = ''] = match;
    if (stopped !== null) {
      if (name === stopped) stopped = null;
    } else if (name === 'stop-commands') stopped = message;
    else found.push({ name, properties: propertiesIn(properties), message: unescaped(message) });
  }
  if (stopped !== null) throw new Error('Commands are stopped at the end.');
  return found;
}

function propertiesIn(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name.trim(), unescaped(value.join('='))];
    }),
  );
}

function unescaped(text: string): string {
  return text
    .replaceAll('%0D', '\r')
    .replaceAll('%0A', '\n')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%25', '%');
}

/** `name<<delimiter`, lines, `delimiter`. */
function outputsIn(text: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = text.split('\n');
  while (lines.length > 0) {
    const line = lines.shift() ?? '';
    if (line === '') continue;
    const [name = '', delimiter] = line.split('<<');
    if (delimiter === undefined) throw new Error(`Not the delimiter form: ${line}`);
    const end = lines.indexOf(delimiter);
    if (end < 0) throw new Error(`No end of ${name}.`);
    outputs[name] = lines
      .splice(0, end + 1)
      .slice(0, -1)
      .join('\n');
  }
  return outputs;
}
