import fc from 'fast-check';
import type { ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import { readTargets } from '../../src/reconciler/desired/target.ts';
import { resolveSettings } from '../../src/reconciler/desired/resolve.ts';
import { fieldNamed } from '../../src/reconciler/model/field.ts';
import type { EnvironmentOutcome } from '../../src/reconciler/model/outcome.ts';
import type { Change } from '../../src/reconciler/model/plan.ts';
import type { ValueRecord } from '../../src/reconciler/model/value.ts';
import { NOTHING_KNOWN, planSettings } from '../../src/reconciler/plan/plan-settings.ts';
import { outcomeText } from '../../src/reconciler/render/section-text.ts';
import { decode } from '../../src/reconciler/service/json.ts';
import { apply } from '../../src/reconciler/operations/apply.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { ENVIRONMENT, leaks, sparseSettings, storedRecord } from '../fixture/arbitrary.ts';
import { quickClock } from '../fixture/settings.ts';
import {
  LATER_SECRETS,
  loaded,
  RECORDED,
  spelledOut,
  startStore,
  type Json,
  type JsonRecord,
  type Semantics,
  type StoreServer,
} from '../fixture/store-server.ts';
import { observedOf } from '../fixture/observed.ts';
import { itHolds } from '../fixture/property-runs.ts';

const STYLE = { color: false, width: null, verbose: true };
const LISTS = ['sse_servers', 'shttp_servers', 'stdio_servers'] as const;
const OWN = [{ url: 'https://own.example.com/sse', api_key: 'cAnArY-own' }];

/** What another writer does to the record, in one write of its own. */
type Act =
  | { readonly kind: 'field'; readonly name: string; readonly value: Json }
  | { readonly kind: 'add'; readonly list: (typeof LISTS)[number]; readonly id: number }
  | { readonly kind: 'drop'; readonly list: (typeof LISTS)[number] };

/** Something that happens at the n-th GET or POST: acts come before a GET is answered, and after the effect of a POST. */
interface Disturbance {
  readonly method: 'GET' | 'POST';
  readonly nth: number;
  readonly act: Act;
}

/** How a POST is answered, and whether it has its effect. */
type Answer = 'stored' | 'cut before' | 'cut after' | '500 before' | '500 after' | '429' | '422';

interface Schedule {
  readonly stored: JsonRecord;
  readonly settings: JsonRecord;
  readonly semantics: Semantics;
  readonly disturbances: readonly Disturbance[];
  readonly answers: readonly Answer[];
  /** How many GETs after each POST show the record as it was before that POST. */
  readonly lag: number;
}

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    kind: fc.constant('field' as const),
    name: fc.constantFrom(
      'language',
      'agent',
      'git_user_name',
      'llm_model',
      'a_later_field',
      'later_data_set',
    ),
    value: fc.string({ minLength: 1, maxLength: 5 }).map((tail): Json => `theirs ${tail}`),
  }),
  fc.record({
    kind: fc.constant('field' as const),
    name: fc.constantFrom('llm_api_key', 'search_api_key', ...LATER_SECRETS),
    value: fc.constantFrom<Json>(null, 'cAnArY-theirs'),
  }),
  fc.record({
    kind: fc.constant('add' as const),
    list: fc.constantFrom(...LISTS),
    id: fc.integer({ min: 0, max: 1_000_000 }),
  }),
  fc.record({ kind: fc.constant('drop' as const), list: fc.constantFrom(...LISTS) }),
);

const semantics: fc.Arbitrary<Semantics> = fc.record({
  write: fc.constantFrom('replace', 'merge'),
  onNull: fc.constantFrom('clear', 'clear', 'keep'),
  passwords: fc.constantFrom('null', 'absent', 'empty', 'mask'),
  mcpSecrets: fc.constantFrom('clear', 'clear', 'mask', 'null', 'empty', 'absent'),
  flags: fc.constantFrom('all', 'all', 'without-search'),
  laterSecrets: fc.constantFrom('clear', 'clear', 'null', 'mask', 'empty', 'absent'),
  urlEntries: fc.constantFrom('objects', 'strings'),
  own: fc.constantFrom<readonly JsonRecord[]>([], [], OWN),
});

const anySchedule: fc.Arbitrary<Schedule> = fc.record({
  stored: storedRecord,
  settings: sparseSettings,
  semantics,
  disturbances: fc.array(
    fc.record({
      method: fc.constantFrom('GET', 'POST'),
      nth: fc.integer({ min: 1, max: 4 }),
      act,
    }),
    { maxLength: 3 },
  ),
  answers: fc.array(
    fc.constantFrom<Answer>(
      'stored',
      'stored',
      'stored',
      'cut before',
      'cut after',
      '500 before',
      '500 after',
      '429',
      '422',
    ),
    { maxLength: 3 },
  ),
  lag: fc.constantFrom(0, 0, 1, 2, 4),
});

const LLM_FALLS: Disturbance = {
  method: 'POST',
  nth: 1,
  act: { kind: 'field', name: 'llm_api_key', value: null },
};

/** A first write that has a side effect, which one more write corrects, while somebody else writes, too. */
const corrected: fc.Arbitrary<Schedule> = fc
  .tuple(anySchedule, act, fc.boolean())
  .map(([one, theirs, doubles]): Schedule => {
    const { mcp_config: _, ...others } = one.settings;
    const settings: JsonRecord = { ...others, agent: 'ours' };
    const disturbance: Disturbance = { method: 'POST', nth: 1, act: theirs };
    const semantics: Semantics = {
      ...one.semantics,
      own: doubles ? OWN : [],
      mcpSecrets: 'clear',
      laterSecrets: 'clear',
      flags: 'all',
    };
    return {
      ...one,
      semantics,
      answers: one.answers.slice(1),
      stored: { ...one.stored, llm_api_key: 'cAnArY-stored', agent: 'theirs' },
      settings: doubles ? settings : { ...settings, llm_api_key: '${env:REF_LLM}' },
      disturbances: doubles ? [disturbance] : [LLM_FALLS, disturbance],
    };
  });

/** An answer that is lost, reads that lag behind, and somebody else who writes meanwhile. */
const lagging: fc.Arbitrary<Schedule> = fc
  .tuple(
    anySchedule,
    act,
    fc.constantFrom<Answer>('cut after', '500 after'),
    fc.integer({ min: 1, max: 4 }),
  )
  .map(([one, theirs, answer, lag]): Schedule => ({
    ...one,
    semantics: { ...one.semantics, mcpSecrets: 'clear', laterSecrets: 'clear' },
    stored: { ...one.stored, agent: 'theirs' },
    settings: { ...one.settings, agent: 'ours' },
    disturbances: [{ method: 'POST', nth: 1, act: theirs }],
    answers: [answer],
    lag,
  }));

const schedule = fc.oneof(
  { weight: 2, arbitrary: anySchedule },
  { weight: 1, arbitrary: corrected },
  { weight: 1, arbitrary: lagging },
);

function textOf(settings: JsonRecord, url: string): string {
  const server = { url, api_key: '${env:SETPOINT_API_KEY}' };
  return JSON.stringify({ version: 1, server, settings });
}

function isOwn(entry: Json): boolean {
  return JSON.stringify(entry).includes('https://own.example.com');
}

function acted(record: JsonRecord, one: Act): JsonRecord {
  if (one.kind === 'field') return { ...record, [one.name]: one.value };
  const config = (record['mcp_config'] ?? {}) as { [list: string]: Json[] };
  const entries = config[one.list] ?? [];
  if (one.kind === 'drop') {
    const dropped = entries.findIndex((entry) => !isOwn(entry));
    const left = entries.filter((_, index) => index !== dropped);
    return { ...record, mcp_config: { ...config, [one.list]: left } };
  }
  const api = { url: `https://theirs.example.com/${one.id}`, api_key: 'cAnArY-theirs' };
  const program = { name: `theirs${one.id}`, command: 'npx', args: [], env: {} };
  const entry = one.list === 'stdio_servers' ? program : api;
  return { ...record, mcp_config: { ...config, [one.list]: [...entries, entry] } };
}

/** A store and another writer: `theirs` is what would be stored if setpoint had never written. */
interface World {
  readonly store: StoreServer;
  theirs: JsonRecord;
  /** How many of our writes took effect. */
  effects: number;
  /** Whether a run has failed: a copy of the server's own entry that it carried back may be left. */
  failed: boolean;
}

async function begun({ stored, semantics, disturbances, answers, lag }: Schedule): Promise<World> {
  const store = await startStore(semantics, structuredClone(stored));
  const world: World = { store, theirs: structuredClone(stored), effects: 0, failed: false };
  const seen = { GET: 0, POST: 0 };
  let shown: { record: JsonRecord; left: number } | null = null;
  const disturb = (method: 'GET' | 'POST'): void => {
    for (const { act: one } of disturbances.filter(
      (other) => other.method === method && other.nth === seen[method],
    )) {
      store.stored = acted(store.stored ?? {}, one);
      world.theirs = acted(world.theirs, one);
    }
  };
  store.intercept = (request, response, proceed) => {
    if (request.method === 'POST') {
      seen.POST += 1;
      const answer = answers[seen.POST - 1] ?? 'stored';
      const before = structuredClone(store.stored ?? {});
      if (answer === 'stored' || answer.endsWith('after')) {
        world.effects += 1;
        shown = lag === 0 ? null : { record: before, left: lag };
        answeredWith(answer, response);
        // The record is stored before anything is answered.
        proceed();
      } else answeredWith(answer, response, true);
      disturb('POST');
      return true;
    }
    seen.GET += 1;
    disturb('GET');
    if (shown === null || shown.left === 0) return false;
    shown = { ...shown, left: shown.left - 1 };
    json(response, 200, loaded(shown.record, semantics));
    return true;
  };
  return world;
}

/** Spoils the answer to a POST: one that had no effect is answered here, the other when it is written. */
function answeredWith(answer: Answer, response: ServerResponse, now = false): void {
  if (answer === 'stored') return;
  if (now) {
    if (answer === 'cut before') response.destroy();
    else json(response, { '500 before': 500, '429': 429 }[answer as string] ?? 422, { detail: [] });
  } else if (answer === 'cut after') response.end = (() => response.destroy()) as never;
  else {
    const writeHead = response.writeHead.bind(response);
    response.writeHead = ((_: number, headers: Record<string, string>) =>
      writeHead(500, headers)) as never;
  }
}

function json(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** What the file would still change of what is really stored: nothing hidden, nothing of the server's own. */
function stillDiffers(stored: JsonRecord, settings: JsonRecord): readonly Change[] {
  const { targets } = readTargets(
    { path: 'settings.yaml', text: textOf(settings, 'https://x.example.com'), bases: [] },
    { serverGiven: false, several: false },
  );
  const [target] = targets;
  if (target === undefined) throw new Error('no target');
  const source = {
    variable: (name: string) => (ENVIRONMENT as Record<string, string>)[name],
    file: () => ({ problem: 'none' }),
  };
  const answer = loaded(stored, RECORDED);
  const read = decode(new TextEncoder().encode(JSON.stringify(answer)));
  if (read.kind !== 'value') throw new Error('no JSON');
  const state = observedOf(read.value as ValueRecord);
  return planSettings(resolveSettings(target, source), state, NOTHING_KNOWN).changes;
}

/** What is not declared, as it is stored: the mcp lists one by one. */
function undeclared(record: JsonRecord, { settings, semantics }: Schedule, { failed }: World) {
  const { mcpSecrets, own } = semantics;
  const names = Object.keys(record).filter(
    (name) => !(name in settings) && name !== 'sandbox_api_key' && name !== 'mcp_config',
  );
  const rest: JsonRecord = Object.fromEntries(names.map((name) => [name, record[name] ?? null]));
  // On this dialect nothing, null and "" mean that an entry has no key: only a mask shows that one is hidden.
  if (mcpSecrets !== 'clear' && mcpSecrets !== 'mask') return rest;
  const declared = settings['mcp_config'];
  if (declared === null) return rest;
  const config = spelledOut(record['mcp_config'] ?? null) as { [list: string]: Json[] } | null;
  const lists = LISTS.filter(
    (list) =>
      declared === undefined ||
      (Object.keys(declared).length > 0 && !(list in (declared as JsonRecord))),
  );
  // A server that adds entries of its own turns null into lists.
  const isKept = (entry: Json): boolean => !failed || own.length === 0 || !isOwn(entry);
  const spelled = lists.map((list) => [list, (config?.[list] ?? []).filter(isKept)] as const);
  const isNull = config === null && declared === undefined && own.length === 0;
  return { ...rest, mcp_config: isNull ? null : Object.fromEntries(spelled) };
}

function pathsOf(items: readonly { readonly path: readonly string[] }[]): string[] {
  return items.map(({ path }) => path.join(' '));
}

function covers(paths: readonly string[], path: string): boolean {
  return paths.some(
    (one) => one === path || path.startsWith(`${one} `) || one.startsWith(`${path} `),
  );
}

/** What any end of an apply has to hold to, whatever happened on the way. */
function checked(
  world: World,
  given: Schedule,
  outcome: EnvironmentOutcome,
  effects: number,
): void {
  const { store, theirs } = world;
  const stored = store.stored ?? {};
  world.failed ||= outcome.error !== null;
  expect(undeclared(stored, given, world), 'undeclared').toEqual(undeclared(theirs, given, world));
  expect(JSON.stringify(stored), 'masks').not.toContain('****');
  if (effects > 0)
    for (const { result, path } of outcome.changes)
      expect(result, path.join()).not.toBe('not-sent');
  if (outcome.error === null) {
    const unseen = pathsOf(outcome.unknown);
    const differs = pathsOf(stillDiffers(stored, given.settings)).filter(
      (path) => !covers(unseen, path),
    );
    expect(differs, 'calm').toEqual([]);
  }
}

/** Whether an apply may end so for good: what the store does with it is none of setpoint's doing. */
function mayRemain({ remaining }: EnvironmentOutcome, { settings, semantics }: Schedule): boolean {
  return remaining.every(({ path: [name = '', , entry], reason }) => {
    const mayBeOwn = entry === undefined || isOwn(entry);
    if (name === 'mcp_config' && mayBeOwn && semantics.own.length > 0) return true;
    // A key that is not answered is none on this dialect, so that one that is declared never shows.
    if (name === 'mcp_config' && !['clear', 'mask'].includes(semantics.mcpSecrets)) return true;
    const isNull = (settings[name] ?? null) === null;
    return (isNull && semantics.onNull === 'keep') || reason.startsWith('came back');
  });
}

describe('with another writer, faults, lags and stores that mask', () => {
  itHolds(
    'nothing undeclared is lost, no mask is stored, and no verdict is falsely calm',
    25,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(schedule, async (given) => {
          const world = await begun(given);
          const { store } = world;
          try {
            const text = textOf(given.settings, store.url);
            const run = async (): Promise<EnvironmentOutcome> => {
              const effects = world.effects;
              const document = await apply({ text, env: ENVIRONMENT, clock: quickClock() });
              expect(leaks(JSON.stringify(document) + outcomeText(document, STYLE))).toBe(false);
              const [outcome] = document.environments;
              if (outcome === undefined) throw new Error('no outcome');
              checked(world, given, outcome, world.effects - effects);
              return outcome;
            };
            const first = await run();
            // From here on nobody disturbs.
            store.intercept = null;
            const posts = store.posts();
            const second = await run();
            if (first.error === null) {
              expect(second).toMatchObject({ status: 'in-sync', error: null });
              expect(store.posts()).toBe(posts);
            }
            if (second.error?.code === 'guard-refused') return;
            if (second.error !== null) {
              expect(second).toMatchObject({ status: 'not-converged' });
              expect(mayRemain(second, given), JSON.stringify(second.remaining)).toBe(true);
              return;
            }
            const before = store.posts();
            expect(await run()).toMatchObject({ status: 'in-sync' });
            expect(store.posts()).toBe(before);
          } finally {
            await store.close();
          }
        }),
        { numRuns },
      );
    },
  );
});

describe('with references that cannot be looked up', () => {
  itHolds(
    'a plan sends nothing but GET, and whatever the full plan names is named or unknown',
    25,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(
          storedRecord,
          sparseSettings,
          semantics,
          async (stored, settings, store) => {
            const server = await startStore(store, structuredClone(stored));
            try {
              const text = textOf(settings, server.url);
              const { SETPOINT_API_KEY } = ENVIRONMENT;
              const [full] = (await plan({ text, env: ENVIRONMENT, clock: quickClock() }))
                .environments;
              const blind = await plan({ text, env: { SETPOINT_API_KEY }, clock: quickClock() });
              const [part] = blind.environments;
              if (full === undefined || part === undefined) throw new Error('no plan');
              expect(server.posts()).toBe(0);
              expect(leaks(JSON.stringify(blind))).toBe(false);
              const named = pathsOf([...part.changes, ...part.unknown]);
              for (const path of pathsOf(full.changes))
                expect(covers(named, path), path).toBe(true);
              for (const path of pathsOf(part.changes))
                expect(covers(pathsOf([...full.changes, ...full.unknown]), path), path).toBe(true);
              const refers = Object.entries(settings).some(
                ([name, value]) =>
                  JSON.stringify(value).includes('${env:REF') && fieldNamed(name) !== undefined,
              );
              if (refers) expect(part.complete).toBe(false);
            } finally {
              await server.close();
            }
          },
        ),
        { numRuns },
      );
    },
  );
});
