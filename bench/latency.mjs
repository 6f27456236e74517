// What --parallel does where answers take time: 1,000 environments at 8 to 64 at a time, answers after 0 and 50 ms, of one origin and
// of as many origins, against a raw loop with as many requests at a time. Says on stderr how many connections each had open at most.
import { join } from 'node:path';
import { checkPlanned } from './fleet/check-planned.mjs';
import { askFleet, nameOf, startFleet, writeSettings } from './fleet/lay-out.mjs';
import { COMMAND, inTurn, ratioRow, watched } from './measure.mjs';

const ROUNDS = 3;
const ENVIRONMENTS = 1_000;
const LOOP = join(import.meta.dirname, 'fleet/loop.mjs');
/** Milliseconds until an answer. */
const LATENCIES = [0, 50];

export async function measure() {
  const rows = [];
  for (const latency of LATENCIES) {
    // One server answers for all of 127.0.0.0/8, which only Linux has without further ado.
    const fleet = await startFleet('0.0.0.0', latency);
    try {
      const { port, folder } = fleet;
      const files = {
        'one origin': (index) => `http://127.0.0.1:${port}/${nameOf(index)}`,
        'as many origins': (index) =>
          `http://127.0.${Math.floor(index / 250)}.${(index % 250) + 1}:${port}`,
      };
      for (const [origins, addressOf] of Object.entries(files)) {
        const key = origins === 'one origin';
        writeSettings(folder, 'fleet', { from: 0, to: ENVIRONMENTS, key, addressOf });
        for (const parallel of [8, 16, 32, 64])
          rows.push(await measured({ fleet, latency, origins, parallel }));
      }
    } finally {
      await fleet.stop();
    }
  }
  return rows;
}

async function measured({ fleet, latency, origins, parallel }) {
  const { folder: cwd, env, port } = fleet;
  const most = { plan: 0, loop: 0 };
  const counted = async (side, args) => {
    await askFleet(port);
    const run = await watched(args, { cwd, env });
    most[side] = Math.max(most[side], (await askFleet(port)).most);
    return run;
  };
  const plan = async () => {
    const run = await counted('plan', [
      COMMAND,
      'plan',
      '-f',
      'fleet.yaml',
      '--parallel',
      String(parallel),
    ]);
    checkPlanned(run.text, ENVIRONMENTS);
    return run;
  };
  const kind = origins === 'one origin' ? 'kept' : 'client';
  const loop = () => counted('loop', [LOOP, 'fleet.txt', String(parallel), kind]);
  const pairs = await inTurn(ROUNDS, plan, loop);
  const name = `1,000 environments of ${origins}, ${latency} ms, ${parallel} at a time`;
  console.error(`${name}: ${most.plan} connections at most, the loop ${most.loop}`);
  return ratioRow({
    name,
    over: `a loop by undici, ${parallel} at a time`,
    limit: null,
    unit: 'ms',
    pairs: pairs.map((pair) => pair.map((run) => run.milliseconds)),
  });
}
