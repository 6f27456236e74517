import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';

/** Collects the rows of all ways to install, and prints them as a table at the end. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-table-'));
  const file = join(folder, 'rows');
  process.env['SETPOINT_TEST_ROWS'] = file;
  appendFileSync(file, '');
  return () => {
    const rows = readFileSync(file, 'utf8')
      .split('\n')
      .filter((row) => row !== '')
      .toSorted();
    rmSync(folder, { recursive: true });
    const bare = measure(process.execPath, ['-e', '0'], {});
    console.log('| way | packed | on disk | first version | version | plan |');
    console.log('| --- | --- | --- | --- | --- | --- |');
    for (const row of rows) console.log(row);
    console.log(`node -e 0 of this machine: ${bare} ms. Times are medians of 7 runs.`);
  };
}

/** An installed command, and what was installed for it. */
export interface InstalledWay {
  readonly way: string;
  readonly command: string;
  readonly home: string;
  /** The file that was installed. */
  readonly packed: string;
  /** The folders that the installation has filled. */
  readonly folders: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Adds the row of a way: its sizes, and the times of its first and later starts. Each start must end well. */
export function addRow({ way, command, home, packed, folders, env = {} }: InstalledWay): void {
  const own = { PATH: join(home, 'empty'), HOME: mkdtempSync(join(home, 'cold-')), ...env };
  const first = measure(command, ['version'], own, 1);
  const version = measure(command, ['version'], own);
  const plan = measure(command, ['plan', '-f', join(home, 'settings.yaml')], own);
  const disk = folders.reduce((sum, folder) => sum + sizeOf(folder), 0);
  const cells = [way, inMegabytes(statSync(packed).size), inMegabytes(disk)];
  const times = [first, version, plan].map((time) => `${time} ms`);
  const file = process.env['SETPOINT_TEST_ROWS'];
  if (file !== undefined) appendFileSync(file, `| ${[...cells, ...times].join(' | ')} |\n`);
}

/** The median duration of some runs in milliseconds. */
function measure(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  runs = 7,
): number {
  const times = Array.from({ length: runs }, () => {
    const start = performance.now();
    const { status, stderr } = spawnSync(program, args, { env, encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    return performance.now() - start;
  });
  return Math.round(times.toSorted((a, b) => a - b)[Math.floor(runs / 2)] ?? Number.NaN);
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, one) => {
    const path = join(folder, one.name);
    return sum + (one.isDirectory() ? sizeOf(path) : one.isFile() ? statSync(path).size : 0);
  }, 0);
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
