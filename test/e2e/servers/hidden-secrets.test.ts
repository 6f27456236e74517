/** Whatever a request clears of a service that has a secret in every place for one, its plan shows, also what no answer shows. */
import { afterEach, describe, expect, it } from 'vitest';
import { matchPathName } from '../../../src/reconciler/effects/effects.ts';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { nativeSchema } from '../../../src/reconciler/model/native-schema.ts';
import { DIALECTS } from '../../../src/reconciler/service/dialects.ts';
import { secretPaths } from '../../fixture/secret-paths.ts';
import type { JsonRecord } from '../../fixture/store-server.ts';
import { tryFile } from '../../fixture/whole/run.ts';
import { startWorld, type World } from '../../fixture/whole/world.ts';

let world: World | null = null;
afterEach(async () => {
  await world?.close();
  world = null;
});

async function put(method: string, path: string, body: object): Promise<void> {
  const answer = await world?.front.ask(method, path, body);
  expect(answer?.status, `${method} ${path}: ${JSON.stringify(answer?.body)}`).toBeLessThan(300);
}

const MAPS = ['agent_settings.agent_context.secrets'];

/** A secret in each place for one that the schema of a server has, but for those of an agent of another maker. */
function fillSecrets(dialect: DialectName): JsonRecord {
  const schema = nativeSchema(dialect);
  const made: JsonRecord = {};
  for (const path of schema === null ? [] : secretPaths(schema)) {
    const record = path
      .slice(0, -1)
      .reduce<JsonRecord>((inner, name) => (inner[name] ??= {}) as JsonRecord, made);
    const text = `cAnArY-${path.at(-1)}`;
    record[path.at(-1) ?? ''] = MAPS.includes(path.join('.')) ? { OWN: text } : text;
  }
  return made['agent_settings'] as JsonRecord;
}

const HEADERS = { 'X-Key': 'cAnArY-header' };
const SERVER = { url: 'https://mcp.example.com/mcp', headers: HEADERS };

async function fillStore(dialect: DialectName): Promise<void> {
  if (dialect === 'settings-v0') {
    const keys = { llm_api_key: 'cAnArY-a', search_api_key: 'cAnArY-b', llm_model: 'own/x' };
    const entry = { url: 'https://mcp.example.com/sse', api_key: 'cAnArY-c' };
    await put('POST', '/api/settings', { ...keys, mcp_config: { sse_servers: [entry] } });
    await put('POST', '/api/secrets', { name: 'ONE', value: 'cAnArY-d', description: 'one' });
    await put('POST', '/api/add-git-providers', PROVIDERS);
    return;
  }
  const { llm, ...agent } = fillSecrets(dialect);
  const own = { ...(llm as JsonRecord), model: 'bedrock/x', extra_headers: HEADERS };
  const diff = { ...agent, llm: own, mcp_config: { one: SERVER } };
  if (dialect === 'app-server') {
    await put('POST', '/api/v1/settings', {
      agent_settings_diff: diff,
      search_api_key: 'cAnArY-b',
    });
    for (const name of ['a', 'b'])
      await put('POST', `/api/v1/settings/profiles/${name}`, { llm: own, include_secrets: true });
    await put('POST', '/api/v1/secrets', { name: 'ONE', value: 'cAnArY-d', description: 'one' });
    await put('POST', '/api/v1/secrets/git-providers', PROVIDERS);
    return;
  }
  await put('PATCH', '/api/settings', { agent_settings_diff: diff });
  for (const name of ['a', 'b']) await put('POST', `/api/profiles/${name}`, { llm: own });
  await put('PUT', '/api/settings/secrets', { name: 'ONE', value: 'cAnArY-d', description: 'one' });
  await put('POST', '/api/llm/provider-connections', {
    display_name: 'team',
    provider: 'openai',
    api_key: 'cAnArY-team',
  });
  for (const name of ['m', 'n'])
    await put('POST', `/api/meta-profiles/${name}`, { classifier_model: 'b', classes: [] });
  for (const name of ['r', 's'])
    await put('POST', `/api/agent-profiles/${name}`, { llm_profile_ref: 'b' });
}

const PROVIDERS = {
  provider_tokens: {
    github: { token: 'good-github', host: 'github.com' },
    gitlab: { token: 'good-gitlab', host: 'gitlab.com' },
  },
};

/** The files by which a plan makes a request; or why none makes it. */
type Files = readonly JsonRecord[] | string;

const moved = (block: string, from: string, to: string) => ({
  moved: [{ from: `${block}.${from}`, to: `${block}.${to}` }],
});
const SECRETS = { ONE: { value: '${env:S0}', description: 'two' } };
const AWS = {
  aws_access_key_id: null,
  aws_secret_access_key: null,
  aws_session_token: '${env:S0}',
};
const OTHER_SERVER = { two: { url: 'https://two.example.com/mcp' } };
const NEW = { model: 'own/y', temperature: 0.5 };
const COMMON = {
  again: [{ secrets: { TWO: { value: '${env:S0}' } } }],
  providers: [{ git_providers: { gitlab: null } }, { git_providers: { github: null } }],
};

const IN_SETTINGS = 'a plan sends servers with the settings';

const REQUESTS: Readonly<Record<DialectName, Readonly<Record<string, Files>>>> = {
  'settings-v0': {
    'POST /api/settings': [
      { settings: { language: 'en', sandbox_api_key: null } },
      { settings: { llm_model: 'own/y' } },
      { settings: { search_api_key: null } },
      { mcp_servers: OTHER_SERVER },
    ],
    'POST /api/secrets': COMMON.again,
    'PUT /api/secrets/{}': [{ secrets: SECRETS }],
    'DELETE /api/secrets/{}': [{ secrets: { ONE: null } }],
    'POST /api/add-git-providers': COMMON.providers,
  },
  'app-server': {
    'POST /api/v1/settings': [
      { settings: { language: 'en' } },
      { settings: { llm_model: 'own/y' } },
      { settings: { agent_settings: { agent_kind: 'acp' } } },
      { settings: { agent_settings: { llm: { extra_headers: null } } } },
      { mcp_servers: OTHER_SERVER },
      { mcp_servers: { one: null } },
    ],
    'POST /api/v1/settings/profiles/{}': [
      { llm_profiles: { a: { ...NEW, ...AWS } } },
      { llm_profiles: { c: NEW }, active: { llm_profile: 'c' } },
    ],
    'POST /api/v1/settings/profiles/{}/rename': [moved('llm_profiles', 'a', 'c')],
    'POST /api/v1/settings/profiles/{}/activate': [
      { active: { llm_profile: 'a' } },
      { llm_profiles: { c: NEW }, active: { llm_profile: 'c' } },
    ],
    'DELETE /api/v1/settings/profiles/{}': [
      { llm_profiles: { a: null } },
      { llm_profiles: { b: null } },
    ],
    'POST /api/v1/secrets': COMMON.again,
    'PUT /api/v1/secrets/{}': [{ secrets: SECRETS }],
    'DELETE /api/v1/secrets/{}': [{ secrets: { ONE: null } }],
    'POST /api/v1/secrets/git-providers': COMMON.providers,
    'DELETE /api/v1/secrets/git-providers': [{ git_providers: { github: null, gitlab: null } }],
  },
  'agent-server': {
    'PATCH /api/settings': [
      { settings: { language: 'en' } },
      { settings: { llm_model: 'own/y' } },
      { settings: { agent_settings: { agent_kind: 'acp' } } },
      { settings: { active_profile: 'a' } },
      { settings: { active_profile: 'a', language: 'en' } },
      { settings: { active_meta_profile: 'm' } },
      { mcp_servers: OTHER_SERVER },
      { mcp_servers: { one: { url: 'https://other.example.com/mcp' } } },
      { mcp_servers: { one: null } },
    ],
    'POST /api/settings/mcp/{}': IN_SETTINGS,
    'PATCH /api/settings/mcp/{}': IN_SETTINGS,
    'DELETE /api/settings/mcp/{}': IN_SETTINGS,
    'PUT /api/settings/secrets': COMMON.again,
    'DELETE /api/settings/secrets/{}': [{ secrets: { ONE: null } }],
    'POST /api/llm/provider-connections': [
      { provider_connections: { new: { provider: 'openai', api_key: '${env:S0}' } } },
    ],
    'PATCH /api/llm/provider-connections/{}': [
      { provider_connections: { team: { provider: 'anthropic' } } },
      { provider_connections: { team: { provider: 'openai', api_key: null } } },
    ],
    'DELETE /api/llm/provider-connections/{}': [{ provider_connections: { team: null } }],
    'POST /api/profiles/{}': [
      { llm_profiles: { a: NEW } },
      { llm_profiles: { a: { model: 'own/y', connection: 'team' } } },
    ],
    'POST /api/profiles/{}/rename': [moved('llm_profiles', 'a', 'c')],
    'DELETE /api/profiles/{}': [{ llm_profiles: { a: null } }],
    'POST /api/profiles/{}/activate': [
      { active: { llm_profile: 'a' } },
      { llm_profiles: { c: NEW }, active: { llm_profile: 'c' } },
      { llm_profiles: { c: { model: 'own/y', connection: 'team' } }, active: { llm_profile: 'c' } },
    ],
    'POST /api/meta-profiles/{}': [{ meta_profiles: { m: { classifier: 'a' } } }],
    'POST /api/meta-profiles/{}/activate': [{ active: { meta_profile: 'm' } }],
    'DELETE /api/meta-profiles/{}': [{ meta_profiles: { m: null } }],
    'POST /api/agent-profiles/{}': [{ agent_profiles: { r: { llm_profile: 'a' } } }],
    'POST /api/agent-profiles/{}/rename': [moved('agent_profiles', 'r', 't')],
    'POST /api/agent-profiles/{}/activate': [{ active: { agent_profile: 'r' } }],
    'DELETE /api/agent-profiles/{}': [{ agent_profiles: { r: null } }],
    'GET /api/agent-profiles': 'it is a read, and makes what no file declares',
  },
};

/** The profiles that are active before: an answer may show the keys of the settings by those of a profile. */
const ACTIVE: Readonly<Record<DialectName, readonly (readonly string[])[]>> = {
  'settings-v0': [[]],
  'app-server': [[], ['/api/v1/settings/profiles/b/activate']],
  'agent-server': [[], ['/api/profiles/b/activate', '/api/meta-profiles/n/activate']],
};

/** A block with what `moved` needs beside it: the item under its new name. */
function withRenamed(file: JsonRecord): JsonRecord {
  const [{ to = '' } = {}] = (file['moved'] ?? []) as { to?: string }[];
  if (to === '') return file;
  const [block = '', name = ''] = to.split('.');
  const members = block === 'llm_profiles' ? { model: 'bedrock/x', ...AWS } : { llm_profile: 'b' };
  return { ...file, [block]: { [name]: members } };
}

describe.each(['settings-v0', 'app-server', 'agent-server'] as const)('%s', (dialect) => {
  const requests = REQUESTS[dialect];

  it('has a file for each request that has an effect', () => {
    const { effects = [] } = DIALECTS[dialect].storage?.effects ?? {};
    expect(Object.keys(requests).toSorted()).toEqual(
      [...new Set(effects.flatMap(({ on }) => on))].toSorted(),
    );
  });

  const cases = Object.entries(requests).flatMap(([on, files]) =>
    ACTIVE[dialect].flatMap((active) =>
      typeof files === 'string'
        ? []
        : files.map((file) => [on, JSON.stringify(file), active, file] as const),
    ),
  );

  it.each(cases)('%s %s %j', async (on, _, active, file) => {
    world = await startWorld(dialect);
    await fillStore(dialect);
    for (const path of active) await put('POST', path, {});
    const from = world.front.seen.length;
    const tried = await tryFile(world, { blocks: withRenamed(file), others: [] });
    const lost = tried?.faults.filter((fault) =>
      /cAnArY|^shows a secret|^ends |, and sent /.test(fault),
    );
    expect(lost ?? []).toEqual([]);
    const isSent = world.front.seen
      .slice(from)
      .some(({ method, path }) => matchPathName([on], method, path) !== null);
    expect(isSent || active.length > 0).toBe(true);
  });
});
