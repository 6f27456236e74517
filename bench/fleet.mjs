// Fleets of one origin: 10,000 environments in one file against a raw keep-alive loop, and 40,000 in four files against those 10,000.
import { join } from 'node:path';
import { checkPlanned } from './fleet/check-planned.mjs';
import { nameOf, startFleet, writeSettings } from './fleet/lay-out.mjs';
import { COMMAND, figureRow, inTurn, ratioRow, timeRows, watched } from './measure.mjs';

const ROUNDS = 3;
const ENVIRONMENTS = 10_000;
const FILES = 4;
/** How many requests the loop has open at once; more do not make it quicker here. */
const AT_ONCE = 32;
const LOOP = join(import.meta.dirname, 'fleet/loop.mjs');

export async function measure() {
  const fleet = await startFleet('127.0.0.1');
  try {
    const { folder: cwd, env, port } = fleet;
    for (let file = 0; file < FILES; file += 1) {
      const [from, to] = [file * ENVIRONMENTS, (file + 1) * ENVIRONMENTS];
      const addressOf = (index) => `http://127.0.0.1:${port}/${nameOf(index)}`;
      writeSettings(cwd, `fleet-${file}`, { from, to, key: true, addressOf });
    }
    const plan = async (files) => {
      const given = files.flatMap((file) => ['-f', `fleet-${file}.yaml`]);
      const args = [COMMAND, 'plan', '--max-file-size', '16MiB', ...given];
      const run = await watched(args, { cwd, env, first: nameOf(0) });
      checkPlanned(run.text, files.length * ENVIRONMENTS);
      return run;
    };
    const loop = () => watched([LOOP, 'fleet-0.txt', String(AT_ONCE), 'kept'], { cwd, env });
    const [one, four] = [[0], Array.from({ length: FILES }, (_, file) => file)];
    const pairs = await inTurn(ROUNDS, () => plan(one), loop);
    const all = [];
    for (let round = 0; round < ROUNDS; round += 1) all.push(await plan(four));
    const small = pairs.map(([ours]) => ours);
    return [
      ...timeRows({
        name: 'plan of 10,000 environments of one origin',
        over: 'a loop by undici, connections kept',
        limit: 3,
        pairs,
      }),
      figureRow({
        name: "until the first environment's text, of 10,000",
        limit: 1000,
        unit: 'ms',
        figures: small.map((run) => run.first),
      }),
      figureRow({
        name: 'peak memory, 10,000 environments',
        limit: 140,
        unit: 'MiB',
        figures: small.map((run) => run.mebibytes),
      }),
      ratioRow({
        name: 'peak memory, 40,000 environments in four files',
        over: '10,000 environments',
        limit: 1.15,
        unit: 'MiB',
        pairs: all.map((run, round) => [run.mebibytes, small[round].mebibytes]),
      }),
    ];
  } finally {
    await fleet.stop();
  }
}
