import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/reconciler/model/dialect.ts';
import { LONG } from '../fixture/long.ts';
import { propertyRuns } from '../fixture/property-runs.ts';
import { BLOCKS } from '../fixture/whole/draw.ts';
import { tryStory } from '../fixture/whole/story.ts';

/*
 * Every block of the schema at once, on each dialect: a file is applied, others write, and the edited file is applied. What the plans announce
 * is compared with what became of the raw store, leaf by leaf. Nothing here is taken from what plans, writes or predicts.
 */

/** The first of the seeds, one for each story; a story is repeated by its own seed and one run. Always the same unless the environment sets it. */
const FIRST = Number(process.env['SETPOINT_PROPERTY_SEED'] ?? 30_000);

async function tryStories(dialect: DialectName, runs: number): Promise<void> {
  const faults: string[] = [];
  for (let seed = FIRST; seed < FIRST + runs; seed += 1) {
    const found = await tryStory(dialect, seed);
    if (found.length > 0) console.log(found.join('\n'));
    faults.push(...found);
  }
  expect(faults, `stories from the seed ${FIRST}`).toEqual([]);
}

describe.each(['settings-v0', 'app-server', 'agent-server'] as const)('%s', (dialect) => {
  const name = 'every change of the raw store is in the plan, and the plan is what is stored';
  if ((process.env['SETPOINT_PROPERTY_RUNS'] ?? '') === '')
    it(`${name} (8 stories)`, () => tryStories(dialect, 8));
  it(name, LONG, () => tryStories(dialect, propertyRuns(40)));
});

it('draws every block that names what a server has', () => {
  expect(BLOCKS).toContain('settings');
  expect(BLOCKS.length).toBeGreaterThan(10);
});
