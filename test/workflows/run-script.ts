import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { endOf, folderWith, type Ended } from '../fixture/command.ts';

const BIN = join(import.meta.dirname, '../../dist/bin/setpoint.cjs');

export interface Ran extends Ended {
  /** What the script wrote to $GITHUB_OUTPUT, as it is. */
  readonly output: string;
  /** What it wrote to $GITHUB_STEP_SUMMARY. */
  readonly summary: string;
}

export interface Script {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Commands found first on the PATH: name, and the text of a program of its own first line. */
  readonly commands?: Readonly<Record<string, string>>;
}

/** The built command, as a program to be found on the PATH. */
export const SETPOINT = `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`;

/** Runs a script as a runner does: bash that stops at the first failure, the files GitHub gives a step, nothing else. */
export async function runScript(text: string, script: Script): Promise<Ran> {
  const runner = folderWith({ 'script.sh': text, output: '', summary: '' });
  try {
    const bin = join(runner.path, 'bin');
    mkdirSync(bin);
    for (const [name, program] of Object.entries(script.commands ?? {})) {
      writeFileSync(join(bin, name), program);
      chmodSync(join(bin, name), 0o755);
    }
    const ended = await bash(['-eo', 'pipefail', join(runner.path, 'script.sh')], script.cwd, {
      PATH: [bin, process.env['PATH']].join(delimiter),
      HOME: runner.path,
      RUNNER_TEMP: runner.path,
      GITHUB_OUTPUT: join(runner.path, 'output'),
      GITHUB_STEP_SUMMARY: join(runner.path, 'summary'),
      GIT_TERMINAL_PROMPT: '0',
      ...script.env,
    });
    const written = (name: string) => readFileSync(join(runner.path, name), 'utf8');
    return { ...ended, output: written('output'), summary: written('summary') };
  } finally {
    runner.remove();
  }
}

function bash(args: readonly string[], cwd: string, env: Record<string, string>): Promise<Ended> {
  const child = spawn('bash', ['--noprofile', '--norc', ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return endOf(child, `bash ${args.join(' ')}`);
}
