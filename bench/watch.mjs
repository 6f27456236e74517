// `setpoint watch` over 1,000 environments that are read every minute, of as many origins and of one: for some minutes as they are, and for
// an hour on clocks that run faster. Takes `--minutes N` (2), `--rounds N` (1) and `--environments N`; the limits are those of 1,000.
import { setTimeout as sleep } from 'node:timers/promises';
import { FLEETS, watching } from './fleet/watching.mjs';
import { figureRow } from './measure.mjs';

const USUAL = 1_000;
const MINUTE = 60_000;
/** Clocks run so much faster that this many environments are read in a second. */
const READS_PER_SECOND = 300;

export async function measure({ minutes = 2, rounds = 1, environments = USUAL }) {
  const rows = [];
  const speed = Math.floor((READS_PER_SECOND * 60) / environments);
  const cases = [{ time: `${minutes} min`, minutes, speed: 1 }];
  if (speed > 1) cases.push({ time: 'an hour in quick motion', minutes: 60, speed });
  for (const { time, ...of } of cases) {
    const runs = Object.fromEntries(Object.keys(FLEETS).map((fleet) => [fleet, []]));
    for (let round = 0; round < rounds; round += 1) {
      // At the same time: neither keeps a processor busy.
      const both = Object.keys(FLEETS).map(async (fleet) => {
        runs[fleet].push(await run({ fleet, environments, ...of }));
      });
      await Promise.all(both);
    }
    for (const [fleet, of] of Object.entries(runs))
      rows.push(...rowsOf(`${environments} environments of ${fleet}, ${time}`, of, environments));
  }
  return rows;
}

async function run({ minutes, speed, ...of }) {
  const result = await watching({ ...of, speed }, () => sleep((minutes * MINUTE) / speed));
  console.error(JSON.stringify({ ...of, minutes, speed, ...result }));
  return result;
}

function rowsOf(name, runs, environments) {
  const row = (what, figure, unit, limit) =>
    figureRow({
      name: `${name}: ${what}`,
      unit,
      limit: environments === USUAL ? limit : null,
      figures: runs.map((one) => one[figure]),
    });
  return [
    row('share of a processor after the first minute', 'share', '%', 10),
    row('processor time of the first minute', 'start', 'ms', null),
    row('memory at most', 'most', 'MiB', 120),
    row('memory at the end', 'atEnd', 'MiB', 120),
    row('reads that were due and not made', 'missed', '%', 2),
  ];
}
