import fc from 'fast-check';
import { expect } from 'vitest';
import { apply } from '../../src/reconciler/operations/apply.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { leaks } from '../fixture/arbitrary.ts';
import { at, differences, isWithin } from '../fixture/loop/dialects.ts';
import { requestOf, type Tapped, withTapped } from '../fixture/loop/tapped.ts';
import { describeEach } from '../fixture/long.ts';
import { itHolds } from '../fixture/property-runs.ts';
import type { Json, JsonRecord } from '../fixture/store-server.ts';

/**
 * Flat and native values mixed, nulls and empty maps among them, on the dialects that have both, against a model of their own: what
 * is stored after an apply follows from what was stored and what is declared. Nothing of the model is taken from src.
 */
const CANARY = 'cAnArY';
const ENV = { S1: `${CANARY}-s1`, S2: `${CANARY}-s2` };
type Later = 'app-server' | 'agent-server';

/** A place, what a file may declare there, what may be stored there, and what null makes of it. */
interface Place {
  readonly path: string;
  readonly declared: readonly Json[];
  readonly stored: readonly Json[];
  readonly made: Json;
  /** A flat name that is the same place: one of both is declared. */
  readonly flat?: string;
}

const REF = ['${env:S1}', '${env:S2}'];
const own = (name: string) => `${CANARY}-of-${name}`;

const LLM: readonly Place[] = [
  { path: 'agent_settings.llm.timeout', declared: [60, 90, null], stored: [60, 120], made: 300 },
  { path: 'agent_settings.llm.temperature', declared: [0.5, null], stored: [0.25, 1], made: null },
  {
    path: 'agent_settings.llm.extra_headers',
    declared: [{}, null, { 'X-Team': 'core' }, { 'X-Team': 'core', 'X-Zone': 'b' }],
    stored: [{ 'X-Team': 'edge' }, { 'X-Team': 'edge', 'X-Own': 'theirs' }],
    made: null,
  },
  {
    path: 'agent_settings.llm.aws_secret_access_key',
    declared: [...REF, null],
    stored: [own('aws')],
    made: null,
  },
  {
    path: 'agent_settings.verification.critic_api_key',
    declared: [...REF, null],
    stored: [own('critic')],
    made: null,
  },
  {
    path: 'agent_settings.condenser.keep_first',
    declared: [3, 4, null],
    stored: [5],
    made: 2,
  },
  {
    path: 'agent_settings.condenser.max_size',
    flat: 'condenser_max_size',
    declared: [20, 77, null],
    stored: [99],
    made: 240,
  },
  {
    path: 'agent_settings.condenser.condenser_kind',
    declared: ['llm_summarizing', 'no_op'],
    stored: ['no_op'],
    made: 'llm_summarizing',
  },
  {
    path: 'agent_settings.agent',
    flat: 'agent',
    declared: ['CodeActAgent', 'BrowsingAgent', null],
    stored: ['BrowsingAgent'],
    made: 'CodeActAgent',
  },
  {
    path: 'conversation_settings.confirmation_mode',
    flat: 'confirmation_mode',
    declared: [true, false],
    stored: [true],
    made: false,
  },
  {
    path: 'conversation_settings.max_iterations',
    flat: 'max_iterations',
    declared: [1, 77],
    stored: [33],
    made: 500,
  },
];

const PLACES: Readonly<Record<Later, readonly Place[]>> = {
  'app-server': [
    ...LLM,
    { path: 'git_full_clone', declared: [true, false], stored: [true], made: false },
    { path: 'disabled_skills', declared: [['a'], ['b', 'a'], []], stored: [['c']], made: null },
    { path: 'language', flat: 'language', declared: ['de', null], stored: ['fr'], made: null },
  ],
  'agent-server': [
    ...LLM,
    {
      path: 'agent_settings.agent_context.secrets',
      declared: [{}, null, { DEPLOY: '${env:S1}' }, { DEPLOY: '${env:S2}', OLD: null }],
      stored: [{ OLD: own('old') }, { DEPLOY: own('deploy'), OLD: own('old') }],
      made: null,
    },
    {
      path: 'misc_settings.team',
      declared: [{}, null, 'core', ['a', 'b'], { name: 'core' }, { name: { first: 'x' } }, 7],
      stored: [{ name: 'edge', size: 3 }, 'edge', ['x'], { name: { last: 'y' } }, 0],
      made: null,
    },
    {
      path: 'misc_settings.app_preferences.language',
      flat: 'language',
      declared: ['de', null],
      stored: ['fr'],
      made: null,
    },
    {
      path: 'conversation_settings.worktree_branch_prefix',
      declared: ['bot/', 'a/'],
      stored: ['c/'],
      made: 'openhands/',
    },
  ],
};

interface Declared {
  readonly settings: JsonRecord;
  readonly places: readonly (readonly [place: Place, value: Json])[];
}

function put(record: JsonRecord, path: readonly string[], value: Json): void {
  path.reduce<JsonRecord>((inner, name, index) => {
    inner[name] = index === path.length - 1 ? value : (inner[name] ?? {});
    return inner[name] as JsonRecord;
  }, record);
}

function declaredOn(dialect: Later): fc.Arbitrary<Declared> {
  return fc
    .subarray([...PLACES[dialect]], { minLength: 1 })
    .chain((places) =>
      fc.tuple(
        ...places.map((place) =>
          fc
            .tuple(fc.constantFrom(...place.declared), fc.boolean())
            .map(([value, flat]) => ({ place, value, flat: flat && place.flat !== undefined })),
        ),
      ),
    )
    .filter(
      (chosen) => !chosen.some(({ place, value }) => isNoOp(place, value)) || !condenses(chosen),
    )
    .map((chosen) => {
      const settings: JsonRecord = {};
      for (const { place, value, flat } of chosen)
        put(settings, flat ? [place.flat ?? ''] : place.path.split('.'), structuredClone(value));
      return { settings, places: chosen.map(({ place, value }) => [place, value] as const) };
    });
}

const isNoOp = ({ path }: Place, value: Json) =>
  path.endsWith('condenser_kind') && value === 'no_op';

/** Whether members of the condenser are declared that the kind no_op does not have. */
function condenses(chosen: readonly { readonly place: Place }[]): boolean {
  return chosen.some(({ place }) => /condenser\.(keep_first|max_size)$/.test(place.path));
}

/** Whether members are declared that the kind of condenser which is stored does not have, and no kind. */
function isOfAnotherKind(record: JsonRecord | null, { places }: Declared): boolean {
  const kind = at(record, ['agent_settings', 'condenser', 'condenser_kind']);
  const isDeclared = places.some(([{ path }]) => path.endsWith('condenser_kind'));
  return kind === 'no_op' && !isDeclared && condenses(places.map(([place]) => ({ place })));
}

function storedOn(dialect: Later): fc.Arbitrary<readonly (readonly [Place, Json])[]> {
  return fc
    .subarray([...PLACES[dialect]])
    .chain((places) =>
      fc.tuple(
        ...places.map((place) =>
          fc.constantFrom(...place.stored).map((value) => [place, value] as const),
        ),
      ),
    );
}

const isMap = (value: Json | undefined): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a place has what is declared. Null is what the server makes by itself, and {} takes out all that was there. */
function holds(stored: Json | undefined, declared: Json, made: Json): boolean {
  if (Array.isArray(declared) && declared.length === 0)
    return stored === undefined || stored === null || JSON.stringify(stored) === '[]';
  if (declared === null)
    return JSON.stringify(stored ?? null) === JSON.stringify(made) || isEmptyMap(stored);
  if (isMap(declared)) {
    if (Object.keys(declared).length === 0)
      return stored === undefined || stored === null || isEmptyMap(stored);
    if (!isMap(stored))
      return Object.values(declared).every((value) => value === null) && (stored ?? null) === null;
    return Object.entries(declared).every(([name, one]) => holds(stored[name], one, null));
  }
  // Which secret is stored cannot be seen: one that is there stays until it is rotated.
  if (typeof declared === 'string' && declared.startsWith('${'))
    return typeof stored === 'string' && stored.startsWith(CANARY);
  return JSON.stringify(stored ?? made) === JSON.stringify(declared);
}

const isEmptyMap = (value: Json | undefined) => isMap(value) && Object.keys(value).length === 0;

type Values = readonly (readonly [Place, Json])[];

async function write({ write }: Tapped, values: Values): Promise<void> {
  const body: JsonRecord = {};
  for (const [place, value] of values) {
    const [top = '', ...rest] = place.path.split('.');
    put(body, rest.length === 0 ? [top] : [`${top}_diff`, ...rest], structuredClone(value));
  }
  if (values.length > 0) await write(body);
}

/** A service that has these values. */
function withValues(
  dialect: Later,
  stored: Values,
  use: (world: Tapped) => Promise<void>,
): Promise<void> {
  return withTapped(dialect, async (world) => {
    const llm = { model: 'own/three', base_url: 'https://llm.example.com', api_key: own('llm') };
    await world.write({ agent_settings_diff: { llm } });
    await write(world, stored);
    await use(world);
  });
}

/** What is wrong with a record after an apply; nothing if it is as the model says. */
function faults(
  before: JsonRecord | null,
  { places }: Declared,
  after: JsonRecord | null,
): string[] {
  const wrong = places
    .filter(([{ path, made }, value]) => !holds(at(after, path.split('.')), value, made))
    .map(([{ path }]) => `${path} is not as declared`);
  // Another kind of condenser has other members, and the map that lost its last key may be gone.
  const managed = places.map(([{ path }]) =>
    path.endsWith('condenser_kind') ? ['agent_settings', 'condenser'] : path.split('.'),
  );
  const isEmptied = (path: readonly string[]) =>
    isEmptyMap(at(before, path)) && at(after, path) === undefined;
  const others = differences(before ?? {}, after ?? {})
    .filter((path) => !managed.some((place) => isWithin(path, place)) && !isEmptied(path))
    .map((path) => `${path.join('.')} was changed`);
  // Keys of a map that are not declared are not managed, but for {} and null.
  const kept = places.flatMap(([{ path }, value]) => {
    const was = at(before, path.split('.'));
    if (!isMap(value) || Object.keys(value).length === 0 || !isMap(was)) return [];
    const is = at(after, path.split('.'));
    return Object.keys(was)
      .filter((key) => !(key in value))
      .filter((key) => JSON.stringify(was[key]) !== JSON.stringify(isMap(is) ? is[key] : undefined))
      .map((key) => `${path}.${key} is not as it was`);
  });
  return [...wrong, ...others, ...kept];
}

describeEach(['app-server', 'agent-server'] as const, (dialect) => dialect === 'agent-server')(
  '%s',
  (dialect) => {
    const declared = declaredOn(dialect);

    itHolds(
      'holds what is declared, keeps what is not, and is quiet the second time',
      12,
      async (numRuns) => {
        await fc.assert(
          fc.asyncProperty(
            storedOn(dialect),
            fc.array(declared, { minLength: 1, maxLength: 3 }),
            async (stored, edits) => {
              await withValues(dialect, stored, async (world) => {
                for (const edit of edits) {
                  const asked = requestOf(world, edit.settings, ENV);
                  const before = await world.server.record();
                  if (isOfAnotherKind(before, edit)) continue;
                  world.tap.forget();
                  const planned = await plan(asked);
                  const outcome = await apply(asked);
                  expect(leaks(JSON.stringify([planned, outcome]))).toBe(false);
                  expect(world.tap.sent()).not.toContain('*****');
                  const [environment] = outcome.environments;
                  const after = await world.server.record();
                  expect(environment).toMatchObject({ error: null, refusals: [], remaining: [] });
                  expect(faults(before, edit, after)).toEqual([]);
                  world.tap.forget();
                  const [again] = (await apply(asked)).environments;
                  expect(again).toMatchObject({ status: 'in-sync', changes: [] });
                  expect(world.tap.writes).toEqual([]);
                }
              });
            },
          ),
          { numRuns },
        );
      },
    );

    itHolds('names what somebody else writes beside it, and leaves it', 8, async (numRuns) => {
      const foreign = fc
        .constantFrom(...PLACES[dialect].filter(({ path }) => !path.includes('condenser')))
        .chain((place) => fc.constantFrom(...place.stored).map((value) => [place, value] as const));
      await fc.assert(
        fc.asyncProperty(storedOn(dialect), declared, foreign, async (stored, edit, theirs) => {
          const [place] = theirs;
          const path = place.path.split('.');
          fc.pre(!edit.places.some(([{ path: own }]) => own === place.path));
          await withValues(dialect, stored, async (world) => {
            const asked = requestOf(world, edit.settings, ENV);
            const before = await world.server.record();
            if (isOfAnotherKind(before, edit)) return;
            let isDone = false;
            world.tap.once('before a write', async () => {
              await write(world, [theirs]);
              isDone = true;
              return 'goes on';
            });
            const [environment] = (await apply(asked)).environments;
            if (!isDone) return;
            const after = await world.server.record();
            const changed = differences(at(before, path), at(after, path));
            expect(
              faults(before, edit, after).filter(
                (fault) =>
                  !place.path.startsWith(fault.split(' ')[0] ?? '') &&
                  !fault.startsWith(place.path),
              ),
            ).toEqual([]);
            // A secret that nobody can see is not seen to change, either.
            if (changed.length === 0 || JSON.stringify(theirs).includes(CANARY)) return;
            expect(environment?.status).toBe('not-converged');
            expect(JSON.stringify(environment?.remaining)).toContain(path.at(-1));
            expect(environment?.remaining.map(({ reason }) => reason).join()).not.toContain(
              'does not keep',
            );
            const [again] = (await apply(asked)).environments;
            expect(again).toMatchObject({ status: 'in-sync', changes: [] });
          });
        }),
        { numRuns },
      );
    });
  },
);
