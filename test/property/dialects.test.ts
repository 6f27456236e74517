import fc from 'fast-check';
import { expect } from 'vitest';
import { apply } from '../../src/reconciler/operations/apply.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import type { DialectName } from '../../src/reconciler/model/dialect.ts';
import { outcomeText, planText } from '../../src/reconciler/render/section-text.ts';
import { ENVIRONMENT, leaks } from '../fixture/arbitrary.ts';
import {
  at,
  differences,
  exchange,
  isWithin,
  loopDialect,
  writeBehind,
} from '../fixture/loop/dialects.ts';
import { requestOf, type Tapped, withTapped } from '../fixture/loop/tapped.ts';
import { describeEach } from '../fixture/long.ts';
import { itHolds } from '../fixture/property-runs.ts';
import type { Json, JsonRecord } from '../fixture/store-server.ts';

const STYLE = { color: false, width: null, verbose: true };
const STORED = `${ENVIRONMENT.REF_LLM}-stored`;
const SECRETS = {
  llm: STORED,
  search: `${STORED}-search`,
  sse: `${STORED}-sse`,
  fs: `${STORED}-fs`,
  undeclared: `${STORED}-undeclared`,
};

/** Values of the fields: null only where every dialect has a way to write it. */
const VALUES: Readonly<Record<string, readonly Json[]>> = {
  language: ['en', 'de', 'a: b', null],
  agent: ['CodeActAgent', 'BrowsingAgent', null],
  max_iterations: [1, 77, 500],
  security_analyzer: ['llm', null],
  confirmation_mode: [true, false],
  llm_model: ['anthropic/one', 'openai/two', 'own/three'],
  llm_api_key: ['${env:REF_LLM}', null],
  llm_base_url: ['https://llm.example.com', 'https://api.anthropic.com', null],
  remote_runtime_resource_factor: [1, 4, null],
  enable_default_condenser: [true, false],
  enable_sound_notifications: [true, false],
  enable_proactive_conversation_starters: [true, false],
  enable_solvability_analysis: [true, false],
  user_consents_to_analytics: [true, false],
  sandbox_base_container_image: ['base:1', 'base:2', null],
  sandbox_runtime_container_image: ['runtime:1', null],
  search_api_key: ['${env:REF_SEARCH}', null],
  max_budget_per_task: [0.5, 20, null],
  condenser_max_size: [20, 120, null],
  email: ['a@example.com', null],
  email_verified: [true, false, null],
  git_user_name: ['bot', 'b"o\'t', null],
  git_user_email: ['bot@example.com', null],
};

/** Members that no flat name has, by dialect, each with some values. */
const NATIVE: Readonly<Record<DialectName, readonly (readonly [string, readonly Json[]])[]>> = {
  'settings-v0': [],
  'app-server': [
    ['agent_settings.llm.timeout', [100, 300, null]],
    ['agent_settings.llm.temperature', [0.5, 1, null]],
    ['agent_settings.llm.extra_headers.X-Team', ['core', 'edge']],
    ['agent_settings.llm.aws_secret_access_key', ['${env:REF_LLM}']],
    ['agent_settings.condenser.keep_first', [3, 5]],
    ['agent_settings.verification.critic_enabled', [true, false]],
    ['agent_settings.tool_concurrency_limit', [2, 3]],
    ['git_full_clone', [true, false]],
    ['sandbox_grouping_strategy', ['NO_GROUPING', 'ADD_TO_ANY']],
  ],
  'agent-server': [
    ['agent_settings.llm.timeout', [100, 300, null]],
    ['agent_settings.llm.temperature', [0.5, 1, null]],
    ['agent_settings.llm.extra_headers.X-Team', ['core', 'edge']],
    ['agent_settings.llm.aws_secret_access_key', ['${env:REF_LLM}']],
    ['agent_settings.agent_context.secrets.DEPLOY', ['${env:REF_MCP}']],
    ['agent_settings.verification.critic_mode', ['finish_and_message', 'all_actions']],
    ['conversation_settings.worktree_branch_prefix', ['openhands/', 'bot/']],
    ['conversation_settings.container_cpus', [1, 2.5]],
    ['misc_settings.team.name', ['core', 'edge']],
  ],
};

const sse = fc.record(
  {
    url: fc.constantFrom('https://sse.example.com/sse', 'https://a.example.com/sse'),
    api_key: fc.constant('${env:REF_MCP}'),
  },
  { requiredKeys: ['url'] },
);
const shttp = fc.record(
  {
    url: fc.constantFrom('https://h.example.com/mcp', 'https://i.example.com/mcp'),
    api_key: fc.constant('${env:REF_MCP}'),
    timeout: fc.constantFrom(30, 60),
  },
  { requiredKeys: ['url'] },
);
const stdio = fc.record(
  {
    name: fc.constantFrom('fs', 'git'),
    command: fc.constantFrom('npx', 'uvx'),
    args: fc.constantFrom(['-y'], ['-y', 'x']),
    env: fc.constant({ TOKEN: '${env:REF_MCP}' }),
  },
  { requiredKeys: ['name', 'command', 'args'] },
);

const unlike = <T extends { url?: string; name?: string }>(entry: fc.Arbitrary<T>) =>
  fc.uniqueArray(entry, { maxLength: 2, selector: (one) => one.url ?? one.name });

const mcpConfig = fc.record(
  { sse_servers: unlike(sse), shttp_servers: unlike(shttp), stdio_servers: unlike(stdio) },
  { requiredKeys: [] },
);

/** What is declared: flat fields, mcp servers, and members of the dialect's own, with the places that a record has them at. */
interface Declared {
  readonly settings: JsonRecord;
  readonly native: readonly (readonly string[])[];
}

function declaredOn(dialect: DialectName): fc.Arbitrary<Declared> {
  const here = loopDialect(dialect, SECRETS);
  const flat = Object.entries(VALUES).filter(([field]) => here.place(field) !== null);
  const fields = fc.record(
    Object.fromEntries(flat.map(([field, values]) => [field, fc.constantFrom(...values)])),
    { requiredKeys: [] },
  );
  const native = fc
    .subarray([...NATIVE[dialect]])
    .chain((chosen) =>
      fc.tuple(
        ...chosen.map(([path, values]) =>
          fc.constantFrom(...values).map((value) => [path.split('.'), value] as const),
        ),
      ),
    );
  return fc
    .tuple(fields, native, fc.option(mcpConfig, { nil: undefined }))
    .map(([chosen, members, mcp]) => {
      const settings = JSON.parse(JSON.stringify({ ...chosen, mcp_config: mcp })) as JsonRecord;
      for (const [path, value] of members) put(settings, path, value);
      return { settings, native: members.map(([path]) => path) };
    });
}

function put(record: JsonRecord, path: readonly string[], value: Json): void {
  path.reduce<JsonRecord>((inner, name, index) => {
    inner[name] = index === path.length - 1 ? value : (inner[name] ?? {});
    return inner[name] as JsonRecord;
  }, record);
}

/** What is stored before: some flat fields with values of their own, secrets among them, and members that nobody declares. */
function storedOn(dialect: DialectName): fc.Arbitrary<JsonRecord> {
  const here = loopDialect(dialect, SECRETS);
  const secrets: JsonRecord = { llm_api_key: SECRETS.llm, search_api_key: SECRETS.search };
  const flat = Object.entries(VALUES)
    .filter(([field]) => here.place(field) !== null)
    .map(([field, values]): [string, readonly Json[]] => {
      const own = secrets[field];
      return [field, own === undefined ? values.filter((value) => value !== null) : [own]];
    });
  return fc
    .record(
      {
        ...Object.fromEntries(flat.map(([field, values]) => [field, fc.constantFrom(...values)])),
        mcp_config: fc.constant(here.mcp),
      },
      { requiredKeys: [] },
    )
    .map((record) => ({ llm_model: 'anthropic/one', ...record }))
    .map((record) => JSON.parse(JSON.stringify(record)) as JsonRecord);
}

/** A service that has this. */
function withStored(
  dialect: DialectName,
  stored: JsonRecord,
  use: (world: Tapped) => Promise<void>,
): Promise<void> {
  return withTapped(dialect, async (world) => {
    const { path, body, beside } = loopDialect(dialect, SECRETS);
    const read = (await exchange(world.server, 'GET', path)) ?? {};
    await world.write(body(stored, read));
    if (Object.keys(beside).length > 0) await world.write(beside);
    await use(world);
  });
}

/** The places of a record that a file manages, and that of an address, which the server infers from the model that is declared. */
function managedPlaces(dialect: DialectName, { settings, native }: Declared) {
  const { place } = loopDialect(dialect, SECRETS);
  const flat = Object.keys(settings).flatMap((field) => {
    const own = place(field);
    return own === null ? [] : [own];
  });
  const address = place('llm_base_url');
  return [...flat, ...native, ...('llm_model' in settings && address !== null ? [address] : [])];
}

/** The stored entries of the lists that a file does not declare: they keep their secrets, too. */
function otherEntries(
  dialect: DialectName,
  record: JsonRecord | null,
  { settings }: Declared,
): Json {
  const config = at(record, loopDialect(dialect, SECRETS).place('mcp_config') ?? []);
  const declared = settings['mcp_config'];
  const lists = typeof declared === 'object' && declared !== null ? Object.keys(declared) : [];
  // Without a list it declares that there are no entries.
  const isOther = (list: string) =>
    declared === undefined || (lists.length > 0 && !lists.includes(list));
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return {};
  if (dialect === 'settings-v0')
    return Object.fromEntries(
      Object.entries(config).filter(
        ([list, entries]) => isOther(list) && JSON.stringify(entries) !== '[]',
      ),
    );
  const listOf = (entry: Json) => {
    const { command, transport } = entry as JsonRecord;
    if (command !== undefined) return 'stdio_servers';
    return transport === 'sse' ? 'sse_servers' : 'shttp_servers';
  };
  return Object.fromEntries(Object.entries(config).filter(([, entry]) => isOther(listOf(entry))));
}

describeEach(
  ['settings-v0', 'app-server', 'agent-server'] as const,
  (dialect) => dialect === 'agent-server',
)('%s', (dialect) => {
  itHolds(
    'loses nothing that is not declared, sends no mask, shows no secret, and writes once',
    15,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(storedOn(dialect), declaredOn(dialect), async (stored, declared) => {
          await withStored(dialect, stored, async (world) => {
            const { server, tap } = world;
            const asked = requestOf(world, declared.settings, ENVIRONMENT);
            const before = await server.record();

            const planned = await plan(asked);
            expect(tap.writes).toEqual([]);
            const outcome = await apply(asked);
            const [environment] = outcome.environments;
            const shown = [planned, outcome].map((one) => JSON.stringify(one));
            shown.push(planText(planned, STYLE), outcomeText(outcome, STYLE));
            expect(leaks(shown.join('\n'))).toBe(false);
            expect(tap.sent()).not.toContain('*****');

            if (environment?.status === 'refused') {
              const rules = new Set(environment.refusals.map(({ rule }) => rule));
              expect([...rules]).toEqual(['lose-unreadable']);
              expect(tap.writes).toEqual([]);
              expect(await server.record()).toEqual(before);
              return;
            }
            expect(environment).toMatchObject({ error: null });
            expect(tap.writes).toHaveLength(environment?.status === 'in-sync' ? 0 : 1);
            const after = await server.record();
            const managed = managedPlaces(dialect, declared);
            const others = differences(before, after).filter(
              (path) => !managed.some((place) => isWithin(path, place)),
            );
            expect(others).toEqual([]);
            expect(otherEntries(dialect, after, declared)).toEqual(
              otherEntries(dialect, before, declared),
            );

            tap.forget();
            const [again] = (await apply(asked)).environments;
            expect(again).toMatchObject({ status: 'in-sync', changes: [] });
            expect(tap.writes).toEqual([]);
            expect(await server.record()).toEqual(after);
          });
        }),
        { numRuns },
      );
    },
  );

  itHolds('finds and undoes what another client changes, and nothing else', 8, async (numRuns) => {
    const here = loopDialect(dialect, SECRETS);
    const changed = fc.constantFrom('max_iterations', 'git_user_name', 'confirmation_mode');
    await fc.assert(
      fc.asyncProperty(declaredOn(dialect), changed, async (declared, field) => {
        const [ours, theirs] = VALUES[field] ?? [];
        const settings = { ...declared.settings, [field]: ours ?? null };
        await withStored(dialect, { llm_model: 'own/three' }, async (world) => {
          const asked = requestOf(world, settings, ENVIRONMENT);
          const [first] = (await apply(asked)).environments;
          if (first?.status === 'refused') return;
          const kept = await world.server.record();
          await writeBehind(world.server, here, { [field]: theirs ?? null });
          const [drifted] = (await plan(asked)).environments;
          expect(drifted?.changes.map(({ path }) => path)).toEqual([[field]]);
          const [undone] = (await apply(asked)).environments;
          expect(undone).toMatchObject({ status: 'applied', error: null });
          expect(await world.server.record()).toEqual(kept);
        });
      }),
      { numRuns },
    );
  });
});
