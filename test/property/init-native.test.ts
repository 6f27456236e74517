import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { NewVariable } from '../../src/reconciler/model/documents.gen.ts';
import { init } from '../../src/reconciler/operations/init.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { startAgentServer } from '../fixture/agent-server.ts';
import { startAppServer } from '../fixture/app-server.ts';
import { folderWith } from '../fixture/command.ts';
import { describeEach } from '../fixture/long.ts';
import { itHolds } from '../fixture/property-runs.ts';
import { quickClock } from '../fixture/settings.ts';
import type { Json, JsonRecord } from '../fixture/store-server.ts';

const ENV = { SETPOINT_API_KEY: 'contract-key' };
const SECRET = 'zq9-hidden-';

const secret = fc.nat({ max: 99 }).map((number) => `${SECRET}${number}-value`);
const text = fc.constantFrom('plain', 'two words', 'a: b', '${env:NOT_READ}', 'yes', '#x', 'é\nü');
const key = fc.constantFrom('team', 'X-Team', 'a.b', 'n 1');
const some = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model, { requiredKeys: [] });

const free: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.integer({ min: 1, max: 99 }),
  fc.boolean(),
  fc.array(
    fc.oneof(
      text,
      fc.integer({ min: -99_999, max: 99_999 }),
      fc.record({ api_key: secret, name: text }),
    ),
    {
      maxLength: 3,
    },
  ),
  fc.dictionary(key, fc.oneof(text, fc.record({ access_token: secret })), { minKeys: 1 }),
);

const headers = some({ 'X-Api-Key': secret, 'X-Team': secret });
const auth = fc.oneof(
  fc.record({ strategy: fc.constantFrom('api_key', 'bearer'), value: secret }),
  fc.record({ strategy: fc.constant('api_key'), value: secret, header_name: fc.constant('X-K') }),
  fc.record({ strategy: fc.constant('basic'), username: text, password: secret }),
);

const servers = some({
  hub: fc.record(
    {
      url: fc.constant('https://hub.example.com/mcp'),
      transport: fc.constantFrom('http', 'streamable-http'),
      headers,
      timeout: fc.constantFrom(30, 60),
      description: text,
    },
    { requiredKeys: ['url'] },
  ),
  'The tools': fc.record(
    { url: fc.constant('https://tools.example.com/mcp'), auth, keep_alive: fc.boolean() },
    { requiredKeys: ['url', 'auth'] },
  ),
  events: fc.constant({ url: 'https://ev.example.com/sse', transport: 'sse' }),
  files: fc.record(
    {
      command: fc.constant('npx'),
      args: fc.constant(['-y', 'server-files']),
      env: some({ API_TOKEN: secret, MODE: secret }),
      cwd: fc.constant('/srv/files'),
      timeout: fc.constant(20),
    },
    { requiredKeys: ['command'] },
  ),
});

const settings = fc.record({
  agent: some({
    llm: some({
      model: fc.constantFrom('own/one', 'own/two'),
      api_key: secret,
      aws_secret_access_key: secret,
      timeout: fc.constantFrom(100, 300),
      temperature: fc.constantFrom(0, 0.5, 1),
      extra_headers: fc.record({ 'X-Team': text, Authorization: secret }),
      litellm_extra_body: fc.dictionary(key, free),
      reasoning_effort: fc.constantFrom('low', 'high'),
    }),
    tools: fc.constantFrom([], [{ name: 'terminal' }], [{ name: 'editor', params: { depth: 2 } }]),
    agent_context: some({
      system_message_suffix: text,
      secrets: fc.record({ TOKEN: secret, B: secret }, { requiredKeys: ['B'] }),
    }),
    verification: some({ critic_enabled: fc.boolean(), critic_api_key: secret }),
    condenser: some({ keep_first: fc.constantFrom(2, 4), max_size: fc.constantFrom(100, 240) }),
    mcp_config: servers,
  }),
  conversation: some({ max_iterations: fc.constantFrom(10, 500) }),
  misc: fc.dictionary(key, free),
});
type Stored = typeof settings extends fc.Arbitrary<infer T> ? T : never;

interface Service {
  readonly url: string;
  /** Whether a plan can compare every secret. */
  readonly compares: boolean;
  stored(): Promise<JsonRecord>;
  writes(): number;
  close(): Promise<void>;
}

async function agentServer({ agent, conversation, misc }: Stored): Promise<Service> {
  const server = await startAgentServer();
  await server.patch({
    agent_settings_diff: agent as JsonRecord,
    conversation_settings_diff: conversation,
    misc_settings_diff: misc,
  });
  return {
    url: server.url,
    compares: true,
    stored: () => server.stored(),
    writes: () => server.patches().length,
    close: () => server.close(),
  };
}

async function appServer({ agent, conversation }: Stored): Promise<Service> {
  const server = await startAppServer({
    agent_settings: agent as JsonRecord,
    conversation_settings: conversation as JsonRecord,
    git_full_clone: true,
    disabled_skills: ['one'],
  });
  return {
    url: server.url,
    compares: false,
    stored: async () => server.stored ?? {},
    writes: () => server.posts().length,
    close: () => server.close(),
  };
}

function under(value: Json | undefined, path: readonly string[]): Json | undefined {
  const [first, ...rest] = path;
  if (first === undefined || typeof value !== 'object' || value === null) return value;
  return under((value as JsonRecord)[first], rest);
}

/** What is stored under the path of a variable. */
function valueOf(stored: JsonRecord, { path }: NewVariable): Json | undefined {
  if (path[0] === 'llm_api_key') return under(stored, ['agent_settings', 'llm', 'api_key']);
  if (path[0] !== 'mcp_config') return under(stored, path);
  const [, , segment = '', ...inner] = path;
  const config = under(stored, ['agent_settings', 'mcp_config']) as JsonRecord;
  const own = Object.entries(config).find(
    ([name, server]) => name === segment || under(server, ['url']) === segment,
  );
  return under(own?.[1], inner[0] === 'api_key' ? ['auth', 'value'] : inner);
}

function valuesOf(stored: JsonRecord, variables: readonly NewVariable[]): Record<string, string> {
  const keys = variables.filter(({ path }) => path[0] !== 'server');
  return Object.fromEntries(
    keys.map((variable) => {
      const value = valueOf(stored, variable);
      if (typeof value !== 'string') throw new Error(`no text at ${variable.path.join(' ')}`);
      return [variable.name, value];
    }),
  );
}

describeEach(
  [
    ['agent-server', agentServer],
    ['app-server', appServer],
  ] as const,
  ([dialect]) => dialect === 'agent-server',
)('init of native values on %s', (_, start) => {
  itHolds(
    'declares all of them, hides every secret, and then plan shows that nothing changes',
    20,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(settings, async (given) => {
          const service = await start(given);
          const folder = folderWith({});
          try {
            const file = join(folder.path, 'settings.yaml');
            const request = { file, server: service.url, env: ENV, clock: quickClock() };
            const document = await init(request);
            const written = readFileSync(file, 'utf8');
            expect(written + JSON.stringify(document)).not.toContain(SECRET);
            expect(written).not.toContain('*****');
            // No agent profile is active, so that their list is not asked.
            const others = document.left.filter(({ path }) => path[0] !== 'agent_profiles');
            expect(others).toEqual([]);
            if (service.compares)
              writeFileSync(
                file,
                written.replace('server:\n', 'server:\n  compare_secrets: true\n'),
              );
            const env = { ...ENV, ...valuesOf(await service.stored(), document.variables) };
            for (const one of [ENV, env]) {
              const { environments } = await plan({ file, env: one, clock: quickClock() });
              expect(environments).toMatchObject([
                { status: 'in-sync', changes: [], unmanaged: [], error: null },
              ]);
              // A value that cannot work where it is used, such as a header with a line break, is not compared.
              const unknown = environments[0]?.unknown.filter(
                ({ kind, reason }) => kind !== 'missing' || reason.endsWith('is not set'),
              );
              if (service.compares && one === env) expect(unknown).toEqual([]);
            }
          } finally {
            folder.remove();
            await service.close();
          }
        }),
        { numRuns },
      );
    },
  );

  itHolds(
    'of a second environment adds what differs, and leaves the first',
    10,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(settings, settings, async (first, second) => {
          const services = [await start(first), await start(second)] as const;
          const folder = folderWith({});
          try {
            const file = join(folder.path, 'settings.yaml');
            const common = { file, env: ENV, clock: quickClock() };
            const { variables } = await init({ ...common, server: services[0].url });
            const before = readFileSync(file, 'utf8');
            const known = { ...ENV, ...valuesOf(await services[0].stored(), variables) };
            const added = { ...common, env: known, server: services[1].url, environment: 'second' };
            const document = await init(added);
            const text = readFileSync(file, 'utf8');
            expect(text + JSON.stringify(document)).not.toContain(SECRET);
            for (const line of before.split('\n')) expect(text.split('\n')).toContain(line);
            const env = { ...known, SECOND_API_KEY: 'contract-key' };
            const values = { ...env, ...valuesOf(await services[1].stored(), document.variables) };
            const targets = ['second'];
            const { environments } = await plan({ ...common, env: values, targets });
            const left = new Set(document.left.map(({ path }) => path.slice(0, 2).join('.')));
            for (const { error, changes } of environments) {
              expect(error).toBeNull();
              for (const { path } of changes) expect(left).toContain(path.slice(0, 2).join('.'));
            }
            expect(services.map((one) => one.writes())).toEqual([0, 0]);
          } finally {
            folder.remove();
            for (const one of services) await one.close();
          }
        }),
        { numRuns },
      );
    },
  );
});
