import { APP_SERVER } from '../../../src/reconciler/effects/app-server/index.ts';
import {
  PROFILES,
  PROVIDERS,
  SECRETS,
} from '../../../src/reconciler/effects/app-server/profiles.ts';
import { providerAddress, SETTINGS } from '../../../src/reconciler/effects/app-server/settings.ts';
import { AGENT } from '../../../src/reconciler/effects/agent-server/types.ts';
import { matchPathName } from '../../../src/reconciler/effects/effects.ts';
import {
  readRecord,
  type Stored,
  withMembers,
  withPart,
} from '../../../src/reconciler/effects/stored.ts';
import { fieldNamed } from '../../../src/reconciler/model/field.ts';
import { findSchemaFaults, type SchemaNode } from '../../../src/reconciler/model/json-schema.ts';
import { nativeDefinitions, nativeSchema } from '../../../src/reconciler/model/native-schema.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import {
  isEmpty,
  isList,
  isRecord,
  createRecord,
  type Value,
  readPath,
  type ValueRecord,
} from '../../../src/reconciler/model/value.ts';
import { type JsonRecord, recordThatDiffers } from '../recorded-dialect.ts';
import { type Exchange, type Folding, isMap, valueOf } from './fold.ts';

const record = (members: Readonly<Record<string, Value>>): ValueRecord =>
  createRecord(Object.entries(members));

/** Without secrets: where one may be there is null, and in maps and mcp servers nothing. */
function hidden(value: Value, path: readonly string[] = []): Value {
  if (value instanceof Secret) return isOfContext(path) ? '**********' : null;
  if (isList(value)) return value.map((one) => hidden(one, path));
  if (!isRecord(value)) return value;
  const isSparse =
    path.includes('mcp_config') || path.at(-1) === 'extra_headers' || path.at(-1) === 'acp_env';
  const members = Object.entries(value).map(
    ([name, one]) => [name, hidden(one, [...path, name])] as const,
  );
  return createRecord(
    members.filter(([name, one]) => {
      const isGone = one === null || (isRecord(one) && Object.keys(one).length === 0);
      const was = value[name] ?? null;
      const isNone = was === null || (isRecord(was) && Object.keys(was).length === 0);
      return !isSparse || !isGone || isNone;
    }),
  );
}

function isOfContext(path: readonly string[]): boolean {
  return path.includes('agent_context') && path.includes('secrets');
}

function whole(stored: Stored, base: JsonRecord): ValueRecord {
  const settings = withMembers(valueOf(base) as ValueRecord, readRecord(stored, 'settings'));
  return withMembers(settings, {
    llm_profiles: record({
      profiles: readRecord(stored, 'llm_profiles'),
      active: stored['active_profile'] ?? null,
    }),
  });
}

function settingsShown(stored: Stored, base: JsonRecord): Value {
  const settings = whole(stored, base);
  const llm = readRecord(settings, 'agent_settings', 'llm');
  const isOwn = llm['base_url'] !== undefined && llm['base_url'] === providerAddress(llm['model']);
  const shown = isOwn
    ? withPart(settings, ['agent_settings', 'llm'], { base_url: null })
    : settings;
  const tokens = Object.entries(readRecord(stored, 'git_providers')).map(
    ([name, one]) => [name, readRecord(one)['host'] ?? null] as const,
  );
  return withMembers(hidden(shown) as ValueRecord, {
    v1_enabled: true,
    provider_tokens_set: createRecord(tokens),
    llm_api_key_set: !isEmpty(llm['api_key']),
    search_api_key_set: !isEmpty(settings['search_api_key']),
  });
}

function answer(stored: Stored, { request }: Exchange, base: JsonRecord): Value | undefined {
  const { method, path } = request;
  const named = (pattern: string) => matchPathName([pattern], method, path);
  if (named(`GET ${SETTINGS}`) !== null) return settingsShown(stored, base);
  const profiles = readRecord(stored, 'llm_profiles');
  if (named(`GET ${PROFILES}`) !== null)
    return record({
      profiles: Object.entries(profiles).map(([name, one]) => {
        const llm = readRecord(one);
        return record({
          name,
          model: llm['model'] ?? null,
          base_url: llm['base_url'] ?? providerAddress(llm['model']),
          api_key_set: !isEmpty(llm['api_key']),
        });
      }),
      active_profile: stored['active_profile'] ?? null,
    });
  const profile = named(`GET ${PROFILES}/{}`);
  if (profile !== null) {
    const llm = readRecord(profiles, profile);
    const config = withMembers(llm, { api_key: null });
    return record({ name: profile, config, api_key_set: !isEmpty(llm['api_key']) });
  }
  if (named(`GET ${SECRETS}/search`) !== null) return secretsShown(stored, path);
  return undefined;
}

function secretsShown(stored: Stored, path: string): Value {
  const query = new URLSearchParams(path.split('?')[1] ?? '');
  const part = (query.get('name__contains') ?? '').toLowerCase();
  const all = Object.entries(readRecord(stored, 'secrets'))
    .filter(([name]) => name.toLowerCase().includes(part))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const begin = all.findIndex(([name]) => name === query.get('page_id')) + 1;
  const limit = Number(query.get('limit') ?? 100);
  const page = all.slice(begin, begin + limit);
  return record({
    items: page.map(([name, one]) =>
      record({ name, description: readRecord(one)['description'] ?? '' }),
    ),
    next_page_id: begin + page.length < all.length ? (page.at(-1)?.[0] ?? null) : null,
  });
}

const MASK = /\*{10}|gAAAA|\(encrypted\)/;

function odd({ request }: Exchange): string | null {
  const { path, body, raw, rawHex } = request;
  if (raw !== undefined || rawHex !== undefined) return 'bytes';
  if (typeof body === 'string') return 'an answer sent back';
  if (body !== undefined && MASK.test(JSON.stringify(body))) return 'a mask, or an encrypted text';
  if (!isMap(body)) return body === undefined || body === null ? null : 'no record';
  if (matchPathName([`POST ${PROVIDERS}`], request.method, path) !== null) return null;
  const diff = readRecord(valueOf(body), 'agent_settings_diff');
  if (
    'schema_version' in diff ||
    'schema_version' in readRecord(valueOf(body), 'conversation_settings_diff')
  )
    return 'the version of a form';
  const isSettings = path === SETTINGS;
  const own = [
    'inherited_marketplaces',
    'secrets_store',
    'llm_profiles',
    'active_agent_profile_id',
  ];
  if (isSettings && (own.some((name) => name in body) || body['v1_enabled'] === null))
    return 'a member that setpoint does not write';
  const servers = diff['mcp_config'];
  const isOldServers =
    isRecord(servers) &&
    (Object.hasOwn(servers, 'mcpServers') ||
      Object.values(servers).some(
        (one) =>
          'type' in readRecord(one) ||
          'api_key' in readRecord(one) ||
          typeof readRecord(one)['auth'] === 'string',
      ));
  const faults = [
    ...(isOldServers ? [] : faultsOf(body['agent_settings_diff'], AGENT)),
    ...faultsOf(body['conversation_settings_diff'], { $ref: '#/$defs/ConversationSettings' }),
    ...faultsOf(body['llm'], { $ref: '#/$defs/LLM' }),
    ...(isSettings ? topFaults(body) : []),
  ];
  return faults.length === 0 ? null : `another type: ${faults.join()}`;
}

/** Members at the top of another type than theirs, or null where the record could not be read again. */
function topFaults(body: Record<string, unknown>): readonly string[] {
  const schema = nativeSchema('app-server');
  return Object.entries(body).flatMap(([name, value]) => {
    const node = schema?.properties[name] ?? fieldNode(name);
    if (node === undefined || name.endsWith('_settings') || name === 'registered_marketplaces')
      return [];
    return findSchemaFaults(valueOf(value), node, schema?.$defs ?? {}).length === 0 ? [] : [name];
  });
}

function fieldNode(name: string): SchemaNode | undefined {
  const field = fieldNamed(name);
  return field === undefined
    ? undefined
    : { type: field.nullable ? [field.type, 'null'] : field.type };
}

function faultsOf(diff: unknown, node: SchemaNode): readonly string[] {
  if (!isMap(diff)) return diff === undefined || diff === null ? [] : ['no record'];
  const value = valueOf(diff);
  return findSchemaFaults(value, node, nativeDefinitions('app-server'))
    .filter(({ kind, path }) => kind === 'value' && readPath(value, path) !== null)
    .map(({ path }) => path.join('.'));
}

/** With what secrets.json holds; a settings.json is of an older form, and is not read here. */
function given(stored: Stored, file: string, content: unknown): Stored | null {
  if (file !== 'secrets.json' || !isMap(content)) return null;
  const { custom_secrets: secrets = {}, provider_tokens: tokens = {} } = content;
  const own = Object.entries(secrets as Record<string, unknown>).map(([name, one]) => {
    const { secret: value = null, description = '' } = readRecord(valueOf(one));
    return [name, record({ value, description })] as const;
  });
  return withMembers(stored, { secrets: createRecord(own), git_providers: valueOf(tokens) });
}

/** The record of defaults as the first store leaves it: with the address of the model's provider. */
function withFirstAddress(base: JsonRecord): JsonRecord {
  const own = Object.entries(base).filter(([name]) => !FLAGS.includes(name));
  const first = { agent_settings: { llm: { base_url: 'https://api.openai.com' } } };
  return recordThatDiffers(Object.fromEntries(own), first);
}

const FLAGS = ['provider_tokens_set', 'llm_api_key_set', 'search_api_key_set'];

export const APP_SERVER_FOLD: Folding = {
  files: ['app-server', 'collections-app-server', 'more-app-server'],
  effects: APP_SERVER,
  start: (base) => {
    const { agent_settings: agent = {}, conversation_settings: conversation = {} } = base;
    return record({
      settings: record({
        agent_settings: valueOf(agent),
        conversation_settings: valueOf(conversation),
      }),
    });
  },
  given,
  answer,
  inert: /search|\/users\/|\/skills|\/git\b|\/git\//,
  odd,
  file: {
    base: withFirstAddress,
    of: (stored, base) => {
      const {
        provider_tokens_set: _,
        llm_api_key_set: __,
        search_api_key_set: ___,
        ...file
      } = whole(stored, base);
      return createRecord(Object.entries(file));
    },
    expose: 'plaintext',
  },
};
