import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { DialectName } from '../../src/reconciler/model/dialect.ts';
import type { EnvironmentOutcome } from '../../src/reconciler/model/outcome.ts';
import type { EnvironmentPlan } from '../../src/reconciler/model/plan.ts';
import { apply } from '../../src/reconciler/operations/apply.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { outcomeText, planText } from '../../src/reconciler/render/section-text.ts';
import {
  SECRET_DIALECTS,
  SECRET_PATHS,
  startSecretsWorld,
  withFaults,
  type Answer,
  type Faults,
  type SecretsWorld,
} from '../fixture/custom-secrets.ts';
import { itHolds } from '../fixture/property-runs.ts';

/** What the file declares under a name: null removes, `described` is undefined if the file says nothing of a description. */
type Declared = { readonly value: string; readonly described: string | undefined } | null;

interface Stored {
  readonly value: string;
  readonly description: string;
}

/** What happens at the n-th request: somebody else stores or removes a secret before it is answered. */
interface Act {
  readonly nth: number;
  readonly name: string;
  readonly value: string | null;
}

interface Schedule extends Faults {
  readonly stored: Readonly<Record<string, Stored>>;
  readonly declared: Readonly<Record<string, Declared>>;
  readonly acts: readonly Act[];
  readonly rotate: 'all' | undefined;
  readonly maxChanges: number | null;
  readonly clearGuard: boolean;
  readonly keyed: boolean;
}

const CANARY = 'cAnArY';
const DECLARED = ['A', 'B', 'C_1', 'Long'.repeat(16)];
const OTHERS = ['OTHER', 'Z9', 'D'];
/** Somebody else's, and on settings-v0 what an interrupted rotation leaves. */
const WAITING = ['A__next', 'B__next'];
const TEXTS = [
  `${CANARY}-1`,
  `${CANARY}\nline two\r\n`,
  `"${CANARY}\\ \${env:X} ü€𝄞`,
  `  ${CANARY} {"a":1} `,
  `${CANARY}A`,
];
const LONG_TEXT = `${CANARY}${'x'.repeat(5000)}`;
const value = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.constant(LONG_TEXT) },
);
const description = fc.constantFrom('', 'one', 'two: "quoted"', 'three\nlines');
const declaredOne: fc.Arbitrary<Declared> = fc.option(
  fc.record({ value, described: fc.option(description, { nil: undefined }) }),
  { nil: null, freq: 4 },
);

const schedules: fc.Arbitrary<Schedule> = fc.record({
  stored: fc.dictionary(
    fc.constantFrom(...DECLARED, ...DECLARED, ...OTHERS, ...WAITING),
    fc.record({ value: value.map((text) => `theirs-${text}`), description }),
    { maxKeys: 6, noNullPrototype: true },
  ),
  declared: fc.dictionary(fc.constantFrom(...DECLARED), declaredOne, {
    minKeys: 1,
    maxKeys: 4,
    noNullPrototype: true,
  }),
  acts: fc.array(
    fc.record({
      nth: fc.integer({ min: 1, max: 8 }),
      name: fc.constantFrom(...DECLARED, ...OTHERS),
      value: fc.option(value.map((text) => `act-${text}`)),
    }),
    { maxLength: 2 },
  ),
  answers: fc.array(
    fc.constantFrom<Answer>(
      'stored',
      'stored',
      'stored',
      '502 before',
      '502 after',
      '503 before',
      '429',
      '403',
      '400',
      '422',
    ),
    { maxLength: 6 },
  ),
  lag: fc.constantFrom(0, 0, 0, 1, 2, 6),
  rotate: fc.constantFrom('all' as const, undefined),
  maxChanges: fc.option(fc.integer({ min: 0, max: 3 }), { freq: 3 }),
  clearGuard: fc.boolean(),
  keyed: fc.boolean(),
});

const variableOf = (name: string): string => `V_${name}`;

function yamlOf({ declared, maxChanges, clearGuard }: Schedule): string {
  const items = Object.entries(declared).map(([name, one]) => {
    if (one === null) return `${name}: null`;
    const reference = JSON.stringify(`\${env:${variableOf(name)}}`);
    return one.described === undefined
      ? `${name}: ${reference}`
      : `${name}: { value: ${reference}, description: ${JSON.stringify(one.described)} }`;
  });
  const most = maxChanges === null ? '' : `, max_changes: ${maxChanges}`;
  return `{ ${items.join(', ')} }\nguards: { clear_secret: ${clearGuard}${most} }`;
}

function envOf({ declared, keyed }: Schedule): Record<string, string> {
  const values = Object.entries(declared).flatMap(([name, one]) =>
    one === null ? [] : [[variableOf(name), one.value] as const],
  );
  return { ...Object.fromEntries(values), SETPOINT_STATE_KEY: keyed ? 'state' : '' };
}

// What is promised, stated once more: nothing of this is taken from src.

/** The changes of the first plan of a store, by path and action. */
function expectedChanges(dialect: DialectName, { stored, declared, rotate }: Schedule): string[] {
  return Object.entries(declared).flatMap(([name, one]): string[] => {
    const there = stored[name];
    const waits = dialect === 'settings-v0' && stored[`${name}__next`] !== undefined;
    if (one === null) return there !== undefined || waits ? [`${name} remove`] : [];
    if (there === undefined) return [`${name} set`];
    const differs = one.described !== undefined && one.described !== there.description;
    const along = differs && dialect === 'agent-server';
    const rotated = waits || rotate === 'all' || along;
    return [...(rotated ? [`${name} rotate`] : []), ...(differs ? [`${name} description`] : [])];
  });
}

function shownChanges({ changes }: Pick<EnvironmentPlan, 'changes'>): string[] {
  return changes.map(({ path: [, name, inner], action }) => `${name} ${inner ?? action}`);
}

/** What is nobody's but theirs: undeclared, and on settings-v0 not the name under which a declared value waits. */
function isTheirs(dialect: DialectName, { declared }: Schedule, name: string): boolean {
  const waitsFor = name.endsWith('__next') ? name.slice(0, -'__next'.length) : null;
  const isOurs = dialect === 'settings-v0' && waitsFor !== null && waitsFor in declared;
  return !(name in declared) && !isOurs;
}

type Contents = Record<string, Stored>;

async function contents(world: SecretsWorld): Promise<Contents> {
  const values = world.values();
  const names = await world.names();
  return Object.fromEntries(
    Object.entries(names).map(([name, text]) => [
      name,
      { value: values[name] ?? '', description: text },
    ]),
  );
}

async function put(world: SecretsWorld, dialect: DialectName, name: string, one: Stored) {
  await world.removed(name);
  const method = dialect === 'agent-server' ? 'PUT' : 'POST';
  await world.front.ask(method, SECRET_PATHS[dialect], { name, ...one });
}

/** Lets the acts, answers and lags of a schedule happen; what others did is noted in `theirs`. Returns what ends it. */
function disturb(
  world: SecretsWorld,
  dialect: DialectName,
  schedule: Schedule,
  theirs: Contents,
): () => void {
  let requests = 0;
  return withFaults(world, dialect, schedule, async () => {
    requests += 1;
    for (const { nth, name, value: text } of schedule.acts) {
      if (nth !== requests) continue;
      if (text === null) {
        await world.removed(name);
        delete theirs[name];
      } else {
        theirs[name] = { value: text, description: 'act' };
        await put(world, dialect, name, theirs[name]);
      }
    }
  });
}

const STYLE = { color: false, width: null, verbose: true };

function expectNoValue(...documents: readonly unknown[]): void {
  expect(JSON.stringify(documents)).not.toContain(CANARY);
}

/** What an outcome says of each declared secret is so. */
function expectTrue(outcome: EnvironmentOutcome, schedule: Schedule, found: Contents): void {
  for (const { path, result, action } of outcome.changes) {
    const [, name = '', inner] = path;
    const declared = schedule.declared[name] ?? null;
    // Somebody else may have been there at the same time.
    if (schedule.acts.some((act) => act.name === name)) continue;
    if (result === 'set' || result === 'unverifiable')
      expect(found[name]?.value).toBe(declared?.value);
    if (result === 'verified' && action === 'remove') expect(found[name]).toBeUndefined();
    if (result === 'verified' && inner !== undefined)
      expect(found[name]?.description).toBe(declared?.described);
  }
}

/** A value that is to be replaced is there, the old or the new one, whatever was refused or lost. */
function expectNeverGone({ stored, declared, acts }: Schedule, found: Contents): void {
  for (const [name, one] of Object.entries(declared)) {
    const isRemoved = one === null || acts.some((act) => act.name === name);
    if (name in stored && !isRemoved) expect(found[name] ?? found[`${name}__next`]).toBeDefined();
  }
}

async function holds(dialect: DialectName, schedule: Schedule): Promise<void> {
  const world = await startSecretsWorld(dialect);
  try {
    for (const [name, one] of Object.entries(schedule.stored)) await put(world, dialect, name, one);
    const theirs: Contents = { ...schedule.stored };
    const request = { ...world.asked(yamlOf(schedule)), env: envOf(schedule) };
    const { rotate } = schedule;
    const flags = rotate === undefined ? {} : { rotate };
    const allowed = { ...request, allow: ['clear-secret', 'max-changes', 'secrets-gone'] };

    // The first plan is what the model says, and what it refuses an apply refuses.
    const planned = await plan({ ...request, ...flags, digests: false });
    const [first] = planned.environments;
    if (first === undefined) throw new Error('no plan');
    expect(shownChanges(first)).toEqual(expectedChanges(dialect, schedule));
    expect(world.front.writes()).toEqual([]);
    expectNoValue(planned, planText(planned, STYLE));
    if (first.refusals.length > 0) {
      const refused = await apply({ ...request, ...flags });
      expect(refused.environments[0]?.status).toBe('refused');
      expect(world.front.writes()).toEqual([]);
      expectNoValue(refused, outcomeText(refused, STYLE));
    }

    // With others who write, and answers that are lost.
    const calm = disturb(world, dialect, schedule, theirs);
    const disturbed = await apply({ ...allowed, ...flags });
    calm();
    expectNoValue(disturbed, outcomeText(disturbed, STYLE));
    const [outcome] = disturbed.environments;
    if (outcome === undefined) throw new Error('no outcome');
    let found = await contents(world);
    expectTrue(outcome, schedule, found);
    expectNeverGone(schedule, found);
    for (const name of Object.keys({ ...theirs, ...found }))
      if (isTheirs(dialect, schedule, name)) expect(found[name]).toEqual(theirs[name]);

    // In peace: what is declared is there, and the second run is quiet.
    const settled = await apply({ ...allowed, rotate: 'all' });
    expect(['applied', 'in-sync']).toContain(settled.environments[0]?.status);
    expectNoValue(settled, outcomeText(settled, STYLE));
    found = await contents(world);
    for (const [name, one] of Object.entries(schedule.declared)) {
      expect(found[name]?.value).toBe(one?.value);
      if (one?.described !== undefined) expect(found[name]?.description).toBe(one.described);
    }
    for (const name of Object.keys({ ...theirs, ...found }))
      if (isTheirs(dialect, schedule, name)) expect(found[name]).toEqual(theirs[name]);
    if (dialect === 'settings-v0')
      for (const name of Object.keys(schedule.declared))
        expect(found[`${name}__next`]).toBeUndefined();
    const sent = world.front.writes().length;
    const quiet = await apply(request);
    expect(quiet.environments[0]).toMatchObject({ status: 'in-sync', changes: [], error: null });
    if (schedule.keyed) expect(quiet.environments[0]?.unknown).toEqual([]);
    expect(world.front.writes().length).toBe(sent);
  } finally {
    await world.close();
  }
}

describe.each(SECRET_DIALECTS)('%s: custom secrets', (dialect) => {
  itHolds(
    'hold what is declared and leave the rest, whoever else writes and whatever answer is lost',
    12,
    (numRuns) =>
      fc.assert(
        fc.asyncProperty(schedules, (schedule) => holds(dialect, schedule)),
        { numRuns },
      ),
  );
});
