import fc from 'fast-check';
import { describe } from 'vitest';
import { disturbances, type Disturbance } from '../fixture/collections/disturb.ts';
import {
  blocksOf,
  edited,
  fitted,
  personItem,
  type Blocks,
  type File,
  type PersonItem,
} from '../fixture/collections/files.ts';
import {
  expectNeverGone,
  expectNothingElse,
  expectOrder,
  expectOthersKept,
  expectTrueWords,
} from '../fixture/collections/judge.ts';
import { expectReadOnly, expectSettled, ran } from '../fixture/collections/run.ts';
import { DIALECTS, HAS, type Block, type Dialect } from '../fixture/collections/truth.ts';
import { startWorld } from '../fixture/collections/world.ts';
import { itHolds } from '../fixture/property-runs.ts';

/* All collections at once, on each dialect, against a model of its own that shares nothing with src. */

/** One edit of the file, and what happens while it is applied. */
interface Step extends Disturbance {
  readonly over: Blocks;
  readonly dropped: readonly string[];
  readonly rotates: boolean;
}

interface Schedule {
  readonly people: readonly PersonItem[];
  readonly first: Blocks;
  readonly others: readonly Block[];
  readonly steps: readonly Step[];
}

const EXHAUSTIVE: readonly Block[] = [
  'secrets',
  'git_providers',
  'provider_connections',
  'llm_profiles',
  'meta_profiles',
  'agent_profiles',
  'skills',
  'plugins',
  'mcp_servers',
];

/** What somebody has stored on an app-server, which takes two more. */
const CROWD = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8'].map((name): PersonItem => ({
  block: 'llm_profiles',
  name,
  members: { model: 'openai/gpt-5' },
}));

function schedules(dialect: Dialect): fc.Arbitrary<Schedule> {
  const names = HAS[dialect].flatMap((block) =>
    [
      'A',
      'B',
      'main',
      'cheap',
      'team',
      'router',
      'reviewer',
      'github',
      'deploy',
      'llm_profile',
    ].map((name) => `${block}/${name}`),
  );
  const step = fc
    .tuple(
      disturbances(dialect),
      blocksOf(dialect, true),
      fc.subarray(names, { maxLength: 12 }),
      fc.boolean(),
    )
    .map(([disturbance, over, dropped, rotates]) => ({ ...disturbance, over, dropped, rotates }));
  const crowd = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constant(dialect === 'app-server' ? CROWD : []) },
  );
  return fc.record({
    people: fc
      .tuple(crowd, fc.array(personItem(dialect), { maxLength: 8 }))
      .map((all) => all.flat()),
    first: blocksOf(dialect, true),
    others: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.subarray(EXHAUSTIVE.filter((one) => HAS[dialect].includes(one))) },
    ),
    steps: fc.array(step, { minLength: 1, maxLength: 3 }),
  });
}

async function holds(dialect: Dialect, { people, first, others, steps }: Schedule): Promise<void> {
  const world = await startWorld(dialect);
  try {
    for (const one of people) await world.person(one);
    const overwritten = new Set<string>();
    let file: File = { blocks: first, others };
    for (const [index, step] of steps.entries()) {
      const over = index === 0 ? {} : step.over;
      file = edited(file, over, index === 0 ? [] : step.dropped);
      await expectReadOnly(world, fitted(dialect, file));
      const run = await ran(world, dialect, fitted(dialect, file), step, overwritten);
      expectOthersKept(run);
      expectNothingElse(run);
      expectNeverGone(run);
      expectOrder(run);
      if (!run.isKilled) expectTrueWords(run);
    }
    await expectSettled(world, dialect, fitted(dialect, file), overwritten);
  } finally {
    await world.close();
  }
}

describe.each(DIALECTS)('%s: collections', (dialect) => {
  itHolds(
    'hold what is declared and leave the rest, whoever else writes and at whatever request it ends',
    10,
    (numRuns) =>
      fc.assert(
        fc.asyncProperty(schedules(dialect), (schedule) => holds(dialect, schedule)),
        { numRuns },
      ),
  );
});
