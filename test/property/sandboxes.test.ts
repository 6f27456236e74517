import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apply } from '../../src/reconciler/operations/apply.ts';
import type { ApplyRequest } from '../../src/reconciler/operations/options.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import type { Clock } from '../../src/reconciler/model/ports.ts';
import type { DesiredSandboxes } from '../../src/reconciler/desired/blocks/sandboxes.ts';
import type { ObservedSandboxes, Sandbox } from '../../src/reconciler/resources/sandboxes/wire.ts';
import {
  planSandboxes,
  specProblem,
} from '../../src/reconciler/resources/sandboxes/plan-sandboxes.ts';
import {
  startSandboxServer,
  type Effect,
  type PlacedConversation,
  type PlacedSandbox,
  type SandboxSemantics,
  type SandboxServer,
} from '../fixture/sandbox-server.ts';
import { quickClock } from '../fixture/settings.ts';
import { itHolds } from '../fixture/property-runs.ts';

/** What a file declares of sandboxes; a key that is absent takes its default. */
interface Counted {
  readonly spec?: string | undefined;
  readonly running: number;
  readonly surplus?: 'keep' | 'pause' | undefined;
  readonly when_busy?: 'skip' | 'pause' | undefined;
}

interface Named {
  readonly id: string;
  readonly state: 'running' | 'paused';
  readonly when_busy?: 'skip' | 'pause' | undefined;
}

type Item = Counted | Named;

interface World {
  readonly sandboxes: PlacedSandbox[];
  readonly specs: string[];
  readonly conversations: PlacedConversation[];
  readonly items: readonly Item[];
}

// What there may be.

const NOW = quickClock().now();
const SECOND = 1000;
/** The youngest are young enough to stay so while something is waited for. */
const AGES = [0, 5, 120, 180, 301, 310, 3600, 100_000];
/** Ids as servers give them, and such as an address or an object may trip over. */
const IDS = ['s1', 's2', 's3', 's4', 's5', 's6', 'a b', 'x/y', 'ü?#', '50%2F', '__proto__', 'id'];
const SPECS = ['spec-a', 'ghcr.io/x/agent:1', 'spec c&d=e'];
const RETIRED = 'spec-old';

const writtenTime = fc.constantFrom(
  (time: string) => time,
  (time: string) => time.replace('Z', ''),
  (time: string) => time.replace('.000Z', '.000000+00:00'),
);
const createdAt = fc.option(
  fc
    .tuple(fc.constantFrom(...AGES), writtenTime)
    .map(([age, write]) => write(new Date(NOW - age * SECOND).toISOString())),
  { nil: null, freq: 8 },
);
const spec = fc.constantFrom(...SPECS, ...SPECS, RETIRED, null);

function placed(statuses: readonly string[]): fc.Arbitrary<PlacedSandbox[]> {
  const one = fc.record({
    id: fc.constantFrom(...IDS),
    sandbox_spec_id: spec,
    status: fc.constantFrom(...statuses),
    created_at: createdAt,
  });
  return fc.uniqueArray(one, { maxLength: 9, selector: ({ id }) => id });
}

const ANY_STATUS = [
  'STARTING',
  'RUNNING',
  'RUNNING',
  'PAUSED',
  'PAUSED',
  'ERROR',
  'MISSING',
  'Draining',
];

const conversations = fc.array(
  fc.record({
    id: fc.uuid(),
    sandbox_id: fc.constantFrom(...IDS, 'elsewhere', null),
    execution_status: fc.constantFrom('running', 'running', 'idle', 'paused', 'finished', null),
  }),
  { maxLength: 6 },
);

const surplus = fc.constantFrom('keep' as const, 'pause' as const, 'pause' as const, undefined);
const when_busy = fc.constantFrom('skip' as const, 'pause' as const, undefined);
const counted = fc.record({ running: fc.integer({ min: 0, max: 4 }), surplus, when_busy });
const declaredSpec = fc.constantFrom(...SPECS, ...SPECS, ...SPECS, RETIRED, 'spec-x');

const items: fc.Arbitrary<readonly Item[]> = fc
  .tuple(
    fc.option(counted, { nil: undefined }),
    fc.uniqueArray(
      fc.tuple(declaredSpec, counted).map(([spec, rest]) => ({ spec, ...rest })),
      { maxLength: 2, selector: (item) => item.spec },
    ),
    fc.uniqueArray(
      fc.record({
        id: fc.constantFrom(...IDS),
        state: fc.constantFrom('running' as const, 'paused' as const),
        when_busy,
      }),
      { maxLength: 3, selector: ({ id }) => id },
    ),
  )
  .map(([rest, bySpec, byId]): Item[] => [
    ...(rest === undefined ? [] : [rest]),
    ...bySpec,
    ...byId,
  ])
  .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));

const worldOf = (statuses: readonly string[]): fc.Arbitrary<World> =>
  fc.record({
    sandboxes: placed(statuses),
    specs: fc.oneof(
      { weight: 4, arbitrary: fc.shuffledSubarray(SPECS, { minLength: SPECS.length }) },
      { weight: 1, arbitrary: fc.shuffledSubarray(SPECS, { minLength: 1 }) },
    ),
    conversations,
    items,
  });

const semantics = fc.record({
  boots: fc.integer({ min: 0, max: 3 }),
  pageSize: fc.constantFrom(1, 3, 100),
  withoutIds: fc.constantFrom('refused' as const, 'list' as const, 'page' as const),
});

// What was promised, stated once more: nothing of this is taken from src.

const isNamed = (item: Item): item is Named => 'id' in item;
const ageless = (text: string | null): number | null =>
  text === null ? null : Date.parse(/(Z|\+00:00)$/.test(text) ? text : `${text}Z`);

type Seen = Pick<PlacedSandbox, 'id' | 'sandbox_spec_id' | 'status' | 'created_at'>;

function isUp({ status, created_at }: Seen): boolean {
  const created = ageless(created_at);
  if (status === 'ERROR') return created !== null && NOW - created < 300 * SECOND;
  return !['PAUSED', 'MISSING'].includes(status);
}

/** The item that owns a sandbox: by its id, else by its spec, else the rest's. */
function ownerOf(seen: Pick<Seen, 'id' | 'sandbox_spec_id'>, { items }: World): Item | undefined {
  const { id, sandbox_spec_id: of } = seen;
  return (
    items.find((item) => isNamed(item) && item.id === id) ??
    items.find((item) => !isNamed(item) && item.spec !== undefined && item.spec === of) ??
    items.find((item) => !isNamed(item) && item.spec === undefined)
  );
}

function ownedBy(item: Item, sandboxes: readonly PlacedSandbox[], world: World): PlacedSandbox[] {
  return sandboxes.filter((sandbox) => ownerOf(sandbox, world) === item);
}

function busyIn({ conversations }: World): Set<string | null> {
  const running = conversations.filter(({ execution_status }) => execution_status === 'running');
  return new Set(running.map(({ sandbox_id }) => sandbox_id));
}

/** How many of an item are missing, and how many of those no resume can bring. */
function missingOf(item: Item, world: World): { missing: number; starts: number } {
  if (isNamed(item)) return { missing: 0, starts: 0 };
  const owned = ownedBy(item, world.sandboxes, world);
  const missing = Math.max(0, item.running - owned.filter(isUp).length);
  const paused = owned.filter(({ status }) => status === 'PAUSED').length;
  return { missing, starts: Math.max(0, missing - paused) };
}

const isLost = (sandbox: PlacedSandbox | undefined): boolean =>
  sandbox === undefined || (sandbox.status !== 'PAUSED' && !isUp(sandbox));

/** The items by id that nothing can be done for: declared running, and gone or broken. */
function unmetIn({ items, sandboxes }: World): Named[] {
  return items
    .filter(isNamed)
    .filter(({ id, state }) => state === 'running' && isLost(sandboxes.find((s) => s.id === id)));
}

/** A spec that is not there may be named while sandboxes of it are, and none has to be started. */
function isRefused(world: World): boolean {
  const { items, specs, sandboxes } = world;
  return items.some((item) => {
    if (isNamed(item)) return false;
    const { starts } = missingOf(item, world);
    if (item.spec === undefined)
      return starts > 0 && items.some((other) => !isNamed(other) && other.spec === specs[0]);
    const known = sandboxes.some(({ sandbox_spec_id }) => sandbox_spec_id === item.spec);
    return !specs.includes(item.spec) && (starts > 0 || !known);
  });
}

/** Where a declaration does not hold of what exists now; busy is what was so when it was observed. */
function broken(world: World, after: readonly PlacedSandbox[]): Item[] {
  const busy = busyIn(world);
  return world.items.filter((item) => {
    const spares = (item.when_busy ?? 'skip') === 'skip';
    if (isNamed(item)) {
      const sandbox = after.find(({ id }) => id === item.id);
      if (item.state === 'running') return sandbox === undefined || !isUp(sandbox);
      return sandbox !== undefined && isUp(sandbox) && !(spares && busy.has(item.id));
    }
    const up = ownedBy(item, after, world).filter(isUp);
    if (up.length <= item.running) return up.length < item.running;
    return item.surplus === 'pause' && !(spares && up.every(({ id }) => busy.has(id)));
  });
}

// How it is declared.

function textOf(url: string, { items }: Pick<World, 'items'>, language?: string): string {
  const entries = items.map((item) =>
    Object.entries(item)
      .filter(([, value]) => value !== undefined)
      .map(
        ([key, value], index) => `${index === 0 ? '  - ' : '    '}${key}: ${JSON.stringify(value)}`,
      )
      .join('\n'),
  );
  return [
    'version: 1',
    `server: { url: ${JSON.stringify(url)} }`,
    ...(language === undefined ? [] : [`settings: { language: ${language} }`]),
    items.length === 0 ? 'sandboxes: []' : `sandboxes:\n${entries.join('\n')}`,
    '',
  ].join('\n');
}

/** A server that holds a world, for as long as something is done with it. */
async function within(
  world: World,
  semantics: Partial<SandboxSemantics>,
  work: (server: SandboxServer, clock: Clock) => Promise<void>,
): Promise<void> {
  const clock = quickClock();
  const { sandboxes, specs, conversations } = world;
  const there = { sandboxes, specs, conversations, stored: { language: 'en' } };
  const server = await startSandboxServer(clock, { ...there, ...semantics });
  try {
    await work(server, clock);
  } finally {
    await server.close();
  }
}

function asking(
  { url }: SandboxServer,
  clock: Clock,
  world: Pick<World, 'items'>,
  { language, ...more }: Partial<ApplyRequest> & { language?: string | undefined } = {},
): ApplyRequest {
  return { text: textOf(url, world, language), env: {}, clock, ...more };
}

const countBy = (effects: readonly Effect[], action: Effect['action']): Effect[] =>
  effects.filter((effect) => effect.action === action);

/** A start by the spec it is from, everything else by the id: what a change promises, and what was done. */
const inWords = (effects: readonly Effect[]): string[] =>
  effects.map(({ action, id, spec }) => `${action} ${action === 'start' ? spec : id}`).toSorted();

function changesInWords(
  changes: readonly { resource: string; action: string; path: readonly string[] }[],
  { specs }: World,
): string[] {
  return changes
    .filter(({ resource }) => resource === 'sandbox')
    .map(({ action, path: [name] }) =>
      action === 'start' && name === 'default' ? `start ${specs[0]}` : `${action} ${name}`,
    )
    .toSorted();
}

/** What is in both lists, as often as in the one that has it less often. */
function inBoth(some: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return some.filter((one) => {
    const index = left.indexOf(one);
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
}

describe('over real HTTP', () => {
  itHolds(
    'after an apply the declaration holds, and only what it declares was done',
    40,
    async (numRuns) => {
      const language = fc.constantFrom(undefined, 'en', 'fr');
      const wait = fc.constantFrom(undefined, 0);
      await fc.assert(
        fc.asyncProperty(
          worldOf(ANY_STATUS),
          semantics,
          language,
          wait,
          (world, semantics, language, wait) =>
            within(world, semantics, async (server, clock) => {
              const asked = asking(server, clock, world, { language, wait });
              const [planned] = (await plan(asked)).environments;
              expect(server.posts()).toBe(0);
              const [outcome] = (await apply(asked)).environments;
              if (isRefused(world)) {
                expect(planned).toMatchObject({ status: 'error', error: { code: 'spec-refused' } });
                expect(outcome).toMatchObject({
                  status: 'refused',
                  error: { code: 'spec-refused' },
                });
                expect(server.posts()).toBe(0);
                expect(server.sandboxes).toEqual(world.sandboxes);
                return;
              }
              const { effects } = server;
              const unmet = unmetIn(world);
              const differs = effects.length > 0 || language === 'fr';
              const done = unmet.length > 0 ? 'partial' : 'applied';
              expect(outcome?.status).toBe(differs || unmet.length > 0 ? done : 'in-sync');
              expect(outcome?.error?.code).toBe(unmet.length > 0 ? 'applied-in-part' : undefined);
              expect(server.stored).toMatchObject({ language: language ?? 'en' });

              expect(broken(world, server.sandboxes)).toEqual(unmet);
              expect(inWords(effects)).toEqual(changesInWords(planned?.changes ?? [], world));
              expect(inWords(effects)).toEqual(changesInWords(outcome?.changes ?? [], world));
              for (const { result } of outcome?.changes ?? []) expect(result).toBe('verified');

              for (const item of world.items) {
                const own = effects.filter(
                  ({ id, spec }) => ownerOf({ id, sandbox_spec_id: spec }, world) === item,
                );
                const { missing, starts } = missingOf(item, world);
                expect(countBy(own, 'start')).toHaveLength(starts);
                if (isNamed(item)) continue;
                expect(countBy(own, 'resume')).toHaveLength(missing - starts);
                expectOldest(countBy(own, 'resume'), ownedBy(item, world.sandboxes, world));
              }
              const busy = busyIn(world);
              for (const { id, spec } of countBy(effects, 'pause')) {
                const owner = ownerOf({ id, sandbox_spec_id: spec }, world);
                expect(owner).toMatchObject(
                  'id' in (owner ?? {}) ? { state: 'paused' } : { surplus: 'pause' },
                );
                if (busy.has(id)) expect(owner?.when_busy).toBe('pause');
              }

              const touched = new Set(effects.map(({ id }) => id));
              const untouched = ({ id }: PlacedSandbox): boolean => !touched.has(id);
              expect(server.sandboxes.filter(untouched)).toEqual(world.sandboxes.filter(untouched));
              expect(server.sandboxes).toHaveLength(
                world.sandboxes.length + countBy(effects, 'start').length,
              );

              const posts = server.posts();
              const [again] = (await apply(asked)).environments;
              expect(again).toMatchObject({
                status: unmet.length > 0 ? 'partial' : 'in-sync',
                changes: [],
              });
              expect(server.posts()).toBe(posts);
            }),
        ),
        { numRuns },
      );
    },
  );

  itHolds(
    'above a limit of the service an apply ends, reports what the service paused, and starts no more than was missing',
    40,
    async (numRuns) => {
      const limit = fc.integer({ min: 2, max: 4 });
      const world = limit.chain((limit) =>
        fc.record({
          limit: fc.constant(limit),
          sandboxes: placed(['RUNNING', 'RUNNING', 'PAUSED', 'STARTING']),
          specs: fc.constant(SPECS),
          conversations,
          items: fc
            .tuple(
              fc.record({ running: fc.integer({ min: limit + 1, max: 6 }), surplus }),
              fc.option(fc.record({ spec: fc.constant(SPECS[1]), running: fc.nat(3), surplus }), {
                nil: undefined,
              }),
            )
            .map(([rest, other]): Item[] => (other === undefined ? [rest] : [other, rest])),
        }),
      );
      await fc.assert(
        fc.asyncProperty(world, semantics, ({ limit, ...world }, semantics) =>
          within(world, { ...semantics, limit }, async (server, clock) => {
            const asked = asking(server, clock, world);
            const [outcome] = (await apply(asked)).environments;
            const holds = broken(world, server.sandboxes).length === 0;
            const ends = server.effects.length === 0 ? 'in-sync' : 'applied';
            expect(outcome?.status).toBe(holds ? ends : 'not-converged');
            expect(outcome?.error?.code).toBe(holds ? undefined : 'not-converged');

            const statuses = server.statuses();
            const reported = [
              outcome?.error?.message,
              ...(outcome?.remaining ?? []).map(({ path }) => path[0]),
              ...(outcome?.warnings ?? []).map(({ path }) => path[0]),
              ...(outcome?.changes ?? []).flatMap(({ path: [name], sandbox, result }) =>
                result === 'verified' ? [] : [sandbox ?? name],
              ),
            ].join('\n');
            for (const { id } of countBy(server.effects, 'displace'))
              if (statuses[id] === 'PAUSED') expect(reported).toContain(id);

            await apply(asked);
            await apply(asked);
            for (const item of world.items) {
              const own = countBy(server.effects, 'start').filter(
                ({ id, spec }) => ownerOf({ id, sandbox_spec_id: spec }, world) === item,
              );
              expect(own.length).toBeLessThanOrEqual(missingOf(item, world).starts);
            }
          }),
        ),
        { numRuns },
      );
    },
  );

  itHolds(
    'if the service changes after the plan was approved, only what both observations need is sent',
    40,
    async (numRuns) => {
      const worlds = worldOf(ANY_STATUS).chain((first) =>
        fc.tuple(
          fc.constant(first),
          fc.subarray(first.sandboxes),
          placed(ANY_STATUS),
          fc.oneof(fc.constant(first.conversations), conversations),
        ),
      );
      await fc.assert(
        fc.asyncProperty(worlds, semantics, ([first, kept, added, conversations], semantics) =>
          within(first, semantics, async (server, clock) => {
            // Some are as they were, some are gone, some are at something else, some are new.
            const same = new Set(kept.map(({ id }) => id));
            const moved = added
              .filter(({ id }) => !same.has(id))
              .map((one) => {
                const was = first.sandboxes.find(({ id }) => id === one.id);
                return was === undefined ? one : { ...was, status: one.status };
              });
            const second = { ...first, conversations, sandboxes: [...kept, ...moved] };
            const asked = asking(server, clock, first);
            const [before] = (await plan(asked)).environments;
            if (before?.error !== null || before.changes.length === 0) return;
            let after: typeof before | undefined;
            const confirm = async (): Promise<boolean> => {
              server.sandboxes = structuredClone(second.sandboxes);
              server.conversations = structuredClone(conversations);
              [after] = (await plan(asked)).environments;
              return true;
            };
            const [outcome] = (await apply({ ...asked, confirm })).environments;
            const approved = changesInWords(before.changes, first);
            const needed = changesInWords(after?.changes ?? [], second);
            expect(inWords(server.effects)).toEqual(inBoth(approved, needed));
            const holds = broken(second, server.sandboxes).length === 0;
            const ends = server.effects.length === 0 ? 'in-sync' : 'applied';
            if (after?.error !== null || !holds)
              expect(['in-sync', 'applied']).not.toContain(outcome?.status);
            else expect(outcome?.status).toBe(ends);
            const sent = (outcome?.changes ?? []).filter(({ result }) => result !== 'not-sent');
            expect(changesInWords(sent, first)).toEqual(inWords(server.effects));
          }),
        ),
        { numRuns },
      );
    },
  );

  itHolds(
    'if sandboxes boot while they are observed, what is reported as applied is, and the next applies bring the rest',
    40,
    async (numRuns) => {
      const booting = worldOf(['STARTING', 'STARTING', 'RUNNING', 'PAUSED', 'MISSING']).chain(
        ({ sandboxes, ...world }) =>
          fc
            .array(fc.nat(3), { minLength: sandboxes.length, maxLength: sandboxes.length })
            .map((boots) => ({
              ...world,
              sandboxes: sandboxes.map((one, index) =>
                one.status === 'STARTING' ? { ...one, boots: boots[index] ?? 0 } : one,
              ),
            })),
      );
      await fc.assert(
        fc.asyncProperty(booting, semantics, (world, semantics) => {
          fc.pre(!isRefused(world));
          return within(world, semantics, async (server, clock) => {
            const asked = asking(server, clock, world);
            const unmet = unmetIn(world);
            for (const time of [1, 2, 3]) {
              const [outcome] = (await apply(asked)).environments;
              const left = broken(world, server.sandboxes).filter(
                (item) => !unmet.includes(item as Named),
              );
              expect((outcome?.remaining ?? []).length > 0).toBe(left.length > 0);
              if (left.length > 0) expect(['not-converged', 'partial']).toContain(outcome?.status);
              for (const { action, path, result } of outcome?.changes ?? []) {
                const sandbox = server.sandboxes.find(({ id }) => id === path[0]);
                if (sandbox === undefined || result !== 'verified') continue;
                expect(isUp(sandbox)).toBe(action !== 'pause');
              }
              // The pause of what boots is ignored; once it runs, the next apply has its way.
              if (time > 1) expect(left).toEqual([]);
            }
            expectNoneTooMany(server, world);
          });
        }),
        { numRuns },
      );
    },
  );
});

/** Resumed were those that were there the longest, as far as their age is known. */
function expectOldest(resumed: readonly Effect[], owned: readonly PlacedSandbox[]): void {
  const ids = new Set(resumed.map(({ id }) => id));
  const paused = owned.filter(({ status }) => status === 'PAUSED');
  const times = (which: boolean): number[] =>
    paused
      .filter(({ id }) => ids.has(id) === which)
      .flatMap(({ created_at }) => ageless(created_at) ?? []);
  expect(Math.max(...times(true), 0)).toBeLessThanOrEqual(Math.min(...times(false), NOW));
}

function expectNoneTooMany({ effects }: SandboxServer, world: World): void {
  for (const item of world.items) {
    const own = effects.filter(
      ({ id, spec }) => ownerOf({ id, sandbox_spec_id: spec }, world) === item,
    );
    expect(countBy(own, 'start').length).toBeLessThanOrEqual(missingOf(item, world).starts);
  }
}

/** A world in which nothing is, but for what a case is about. */
const EMPTY: World = { sandboxes: [], specs: ['spec-a', 'spec-b'], conversations: [], items: [] };

const isAt = (id: string, status: string, age = 3600, spec = 'spec-a'): PlacedSandbox => ({
  id,
  sandbox_spec_id: spec,
  status,
  created_at: new Date(NOW - age * SECOND).toISOString(),
});

it.each([
  ['counted', [{ running: 1 }]],
  ['named by its id', [{ id: 'old', state: 'running' }]],
] as [string, Item[]][])(
  'an old one that is %s, was resumed and is in ERROR while it boots is waited for, and not replaced',
  (_, items) => {
    const sandboxes = [{ ...isAt('old', 'ERROR', 100_000), boots: 4 }];
    return within({ ...EMPTY, sandboxes, items }, {}, async (server, clock) => {
      const outcomes = (await apply(asking(server, clock, { items }))).environments;
      expect(outcomes).toMatchObject([{ status: 'in-sync', changes: [], error: null }]);
      expect(server.statuses()).toEqual({ old: 'RUNNING' });
    });
  },
);

describe('pure', () => {
  const source = { file: 'settings.yaml', line: 1, column: 1 };
  const desiredOf = (item: Item): DesiredSandboxes => {
    const whenBusy = item.when_busy ?? 'skip';
    if (isNamed(item)) return { kind: 'named', id: item.id, state: item.state, whenBusy, source };
    const { spec = null, running, surplus = 'keep' } = item;
    return { kind: 'counted', spec, running, surplus, whenBusy, source };
  };
  const seen = ({ id, sandbox_spec_id, status, created_at }: PlacedSandbox): Sandbox => ({
    id,
    spec: sandbox_spec_id,
    status: status.toUpperCase(),
    createdAt: ageless(created_at),
  });
  const observedIn = (world: World): ObservedSandboxes => ({
    sandboxes: world.sandboxes.map(seen),
    specs: world.specs.map((id) => ({ id })),
    busy: new Set([...busyIn(world)].filter((id) => id !== null)),
    at: NOW,
  });

  /** The same world, with the numbers and states declared that it shows, or fewer if more may run. */
  const satisfied = fc.tuple(worldOf(ANY_STATUS), fc.nat(2)).map(([world, less]): World => {
    const items = world.items.map((item): Item => {
      if (isNamed(item)) {
        const sandbox = world.sandboxes.find(({ id }) => id === item.id);
        const up = sandbox !== undefined && isUp(sandbox);
        return { ...item, state: up ? 'running' : 'paused' };
      }
      const up = ownedBy(item, world.sandboxes, world).filter(isUp).length;
      return { ...item, running: item.surplus === 'pause' ? up : Math.max(0, up - less) };
    });
    // Items are owners by identity, and their keys stay the same.
    return { ...world, items };
  });

  itHolds('if the declaration holds there is nothing to do', 100, (numRuns) => {
    fc.assert(
      fc.property(satisfied, (world) => {
        expect(broken(world, world.sandboxes)).toEqual([]);
        const { steps, unmet } = planSandboxes(world.items.map(desiredOf), observedIn(world));
        expect({ steps, unmet }).toEqual({ steps: [], unmet: [] });
      }),
      { numRuns },
    );
  });

  itHolds(
    'the same observation gives the same plan, in whatever order it lists, and stays as it was',
    100,
    (numRuns) => {
      const shuffled = worldOf(ANY_STATUS).chain((world) =>
        fc.tuple(
          fc.constant(world),
          fc.shuffledSubarray(world.sandboxes, { minLength: world.sandboxes.length }),
        ),
      );
      fc.assert(
        fc.property(shuffled, ([world, sandboxes]) => {
          const desired = world.items.map(desiredOf);
          const observed = observedIn(world);
          const plan = planSandboxes(desired, observed);
          expect(planSandboxes(desired, observed)).toEqual(plan);
          expect(observed).toEqual(observedIn(world));
          expect(planSandboxes(desired, observedIn({ ...world, sandboxes }))).toEqual(plan);
        }),
        { numRuns },
      );
    },
  );

  itHolds('a plan that is carried out leaves nothing to do', 100, (numRuns) => {
    fc.assert(
      fc.property(worldOf(ANY_STATUS), (world) => {
        const desired = world.items.map(desiredOf);
        const observed = observedIn(world);
        const plan = planSandboxes(desired, observed);
        const problem = specProblem(desired, observed, plan);
        expect(problem !== null).toBe(isRefused(world));
        fc.pre(problem === null);
        const sandboxes = [
          ...observed.sandboxes.map((sandbox) => {
            const step = plan.steps.find((step) => step.sandbox === sandbox.id);
            return step === undefined
              ? sandbox
              : { ...sandbox, status: step.action === 'pause' ? 'PAUSED' : 'RUNNING' };
          }),
          ...plan.steps
            .filter(({ action }) => action === 'start')
            .map(({ item }, index) => ({
              id: `new-${index}`,
              spec: (item.kind === 'counted' ? item.spec : null) ?? world.specs[0] ?? null,
              status: 'STARTING',
              createdAt: NOW,
            })),
        ];
        expect(planSandboxes(desired, { ...observed, sandboxes })).toMatchObject({
          steps: [],
          unmet: plan.unmet,
        });
      }),
      { numRuns },
    );
  });
});
