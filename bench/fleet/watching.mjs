// A controller of the built command over a fleet, in a process of its own, for a time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { COMMAND, USAGE } from '../measure.mjs';
import { askFleet, nameOf, startFleet, writeSettings } from './lay-out.mjs';

const QUICK_CLOCK = join(import.meta.dirname, 'quick-clock.cjs');
const MINUTE = 60_000;
/** Milliseconds between two looks at the memory, on the clock of this machine. */
const EVERY = 1000;

/** The two kinds of fleet: a key may go to one origin only, so that those of the first have none. */
export const FLEETS = {
  'as many origins': { key: false, addressOf: addressAt },
  'one origin': {
    key: true,
    addressOf: (port, index) => `http://127.0.0.1:${port}/${nameOf(index)}`,
  },
};

/**
 * Starts a controller that reads each environment every minute, and calls `during` once it watches. `speed` is how many times as fast its
 * clocks run, `node` are arguments of Node. Resolves, once it was stopped, to what it took. Throws if it found an error: a run that reads nothing would be quick.
 */
export async function watching({ fleet, environments, speed = 1, node = [], args = [] }, during) {
  const { key, addressOf } = FLEETS[fleet];
  // One server answers for all of 127.0.0.0/8: as many origins as wanted, and one socket that listens.
  const served = await startFleet('0.0.0.0');
  const usage = join(mkdtempSync(join(tmpdir(), 'setpoint-usage-')), 'usage');
  try {
    const { folder: cwd, port } = served;
    const of = (index) => addressOf(port, index);
    writeSettings(cwd, 'fleet', { from: 0, to: environments, key, addressOf: of });
    const quick = speed === 1 ? [] : ['--require', QUICK_CLOCK];
    const watch = ['watch', '-f', 'fleet.yaml', '--max-file-size', '16MiB', '-o', 'json'];
    if (!args.includes('--interval')) watch.push('--interval', '1m');
    const child = spawn(
      process.execPath,
      ['--require', USAGE, ...quick, ...node, COMMAND, ...watch, ...args],
      {
        cwd,
        env: { ...served.env, BENCH_USAGE: usage, BENCH_EVERY: EVERY, BENCH_SPEED: speed },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const closed = once(child, 'close');
    const [problems, notes] = [[], []];
    const log = createInterface({ input: child.stdout });
    log.on('line', (line) => {
      if (JSON.parse(line).level === 'error') problems.push(line);
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      // Node says on it what it has to say, too, and not in JSON.
      if (line.includes('"level":"info"')) notes.push(JSON.parse(line).message);
      else problems.push(line);
    });
    const start = performance.now();
    try {
      await Promise.race([
        during({ notes, port }),
        closed.then(([code]) => {
          throw new Error(`watch ended with ${code}: ${problems.slice(0, 5).join('\n')}`);
        }),
      ]);
    } finally {
      child.kill();
    }
    const [code] = await closed;
    const minutes = ((performance.now() - start) * speed) / MINUTE;
    if (code !== 0 || problems.length > 0)
      throw new Error(`watch ended with ${code}: ${problems.slice(0, 5).join('\n')}`);
    const { reads } = await askFleet(port);
    const { kibibytes, busy, samples } = JSON.parse(readFileSync(usage, 'utf8'));
    // The first minute is the start: locks are taken, and V8 optimises.
    const warm = samples.find(({ at }) => at * speed >= MINUTE) ?? samples[0];
    const last = samples.at(-1);
    return {
      share: ((last.busy - warm.busy) / ((last.at - warm.at) * speed)) * 100,
      start: warm.busy,
      busy,
      most: kibibytes / 1024,
      atEnd: last.mebibytes,
      missed: (1 - reads / (environments * minutes)) * 100,
    };
  } finally {
    rmSync(join(usage, '..'), { recursive: true, force: true });
    await served.stop();
  }
}

/** Only Linux has all of these addresses without further ado. */
function addressAt(port, index) {
  return `http://127.0.${Math.floor(index / 250)}.${(index % 250) + 1}:${port}`;
}
