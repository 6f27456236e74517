import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** Runs the action's file as the runner does: inputs and files by name in the environment, commands read from what it prints. */
export async function run({
  workspace,
  github,
  inputs,
  env = {},
  event,
  started,
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
  const { code, log } = await ended(
    {
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
    },
    workspace,
    started,
  );
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
