// The one shape of what every part measures: a row with the times of both sides, the ratios of pairs that ran in turn, and a limit.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const COMMAND = join(import.meta.dirname, '../dist/bin/setpoint.cjs');
export const USAGE = join(import.meta.dirname, 'usage.cjs');

/** Rounds of both sides, in turn: the second goes first in every other round. Each side returns what it measured. */
export async function inTurn(rounds, ours, baseline) {
  const pairs = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) pairs.push([await ours(), await baseline()]);
    else {
      const second = await baseline();
      pairs.push([await ours(), second]);
    }
  }
  return pairs;
}

/** A row that is judged by the median of the ratios of pairs; without a limit (null) it is there to compare. */
export function ratioRow({ name, over, limit, unit, pairs }) {
  const ratio = spreadOf(pairs.map(([ours, baseline]) => ours / baseline));
  const [ours, baseline] = [0, 1].map((side) => spreadOf(pairs.map((pair) => pair[side])));
  return {
    name,
    over,
    unit,
    limit,
    ratio,
    ours,
    baseline,
    ok: limit === null || ratio.median <= limit,
  };
}

/**
 * Rows of pairs of watched runs: the time, which is judged, and the work of processors, which says more on a machine that has other
 * work to do.
 */
export function timeRows({ name, over, limit, pairs }) {
  const of = (figure) => pairs.map((pair) => pair.map((run) => run[figure]));
  return [
    ratioRow({ name, over, limit, unit: 'ms', pairs: of('milliseconds') }),
    ratioRow({ name: 'its processor time', over, limit: null, unit: 'ms', pairs: of('busy') }),
  ];
}

/** A row that is judged by the median of its figures; without a limit (null) it is there to compare. */
export function figureRow({ name, limit, unit, figures }) {
  const ours = spreadOf(figures);
  return {
    name,
    over: null,
    unit,
    limit,
    ratio: null,
    ours,
    baseline: null,
    ok: limit === null || ours.median <= limit,
  };
}

function spreadOf(figures) {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const median =
    sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1) };
}

/** Milliseconds of a whole process of Node that ends with 0. */
export function milliseconds(args, { cwd, env }) {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, env });
  const took = performance.now() - start;
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return took;
}

/**
 * Runs a process of Node that ends with 0, and reads what it prints as it comes: the milliseconds of all of it, until `first` was
 * printed and that processors worked for it, the MiB of memory it had at most, and the text.
 */
export async function watched(args, { cwd, env, first }) {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-usage-'));
  const usage = join(folder, 'usage');
  try {
    const start = performance.now();
    const since = () => performance.now() - start;
    const child = spawn(process.execPath, ['--require', USAGE, ...args], {
      cwd,
      env: { ...env, BENCH_USAGE: usage },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr] = [[], []];
    let [firstAt, seen] = [null, ''];
    child.stdout.on('data', (chunk) => {
      stdout.push(chunk);
      if (first === undefined || firstAt !== null) return;
      seen += chunk.toString();
      if (seen.includes(first)) firstAt = since();
    });
    child.stderr.on('data', (chunk) => stderr.push(chunk));
    const [code] = await once(child, 'close');
    const took = since();
    if (code !== 0)
      throw new Error(
        `${args.join(' ')} ended with ${code}: ${Buffer.concat(stderr).toString().slice(0, 2000)}`,
      );
    const { kibibytes, busy } = JSON.parse(readFileSync(usage, 'utf8'));
    return {
      milliseconds: took,
      first: firstAt,
      busy,
      mebibytes: kibibytes / 1024,
      text: Buffer.concat(stdout).toString(),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
