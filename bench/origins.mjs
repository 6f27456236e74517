// A fleet whose environments all have origins of their own, against a raw loop that opens a connection for each.
import { join } from 'node:path';
import { checkPlanned } from './fleet/check-planned.mjs';
import { startFleet, writeSettings } from './fleet/lay-out.mjs';
import { COMMAND, inTurn, timeRows, watched } from './measure.mjs';

const ROUNDS = 3;
const ENVIRONMENTS = 10_000;
const AT_ONCE = 32;
const LOOP = join(import.meta.dirname, 'fleet/loop.mjs');

export async function measure() {
  // One server answers for all of 127.0.0.0/8: 10,000 origins, and one socket that listens.
  const fleet = await startFleet('0.0.0.0');
  try {
    const { folder: cwd, env, port } = fleet;
    // A key may go to one origin only, so that these environments have none.
    const addressOf = (index) => addressAt(port, index);
    writeSettings(cwd, 'origins', { from: 0, to: ENVIRONMENTS, key: false, addressOf });
    const plan = async () => {
      const args = [COMMAND, 'plan', '--max-file-size', '16MiB', '-f', 'origins.yaml'];
      const run = await watched(args, { cwd, env });
      checkPlanned(run.text, ENVIRONMENTS);
      return run;
    };
    const rows = [];
    for (const [connections, over, limit] of [
      ['agent', 'a loop by undici, an Agent for each', 1.25],
      ['client', 'a loop by undici, a Client for each', null],
    ]) {
      const args = [LOOP, 'origins.txt', String(AT_ONCE), connections];
      const pairs = await inTurn(ROUNDS, plan, () => watched(args, { cwd, env }));
      const name = 'plan of 10,000 environments of as many origins';
      rows.push(...timeRows({ name, over, limit, pairs }));
    }
    return rows;
  } finally {
    await fleet.stop();
  }
}

/** Only Linux has all of these addresses without further ado. */
function addressAt(port, index) {
  return `http://127.0.${Math.floor(index / 250)}.${(index % 250) + 1}:${port}`;
}
