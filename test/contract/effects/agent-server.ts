import type { JsonRecord } from '../recorded-dialect.ts';
import { AGENT } from '../../../src/reconciler/effects/agent-server/types.ts';
import { AGENT_SERVER } from '../../../src/reconciler/effects/agent-server/index.ts';
import { AGENTS } from '../../../src/reconciler/effects/agent-server/agents.ts';
import {
  CONNECTIONS,
  META,
  PROFILES,
} from '../../../src/reconciler/effects/agent-server/profiles.ts';
import {
  linkLlm,
  SETTINGS,
  readStoredName,
} from '../../../src/reconciler/effects/agent-server/settings.ts';
import { after, matchPathName } from '../../../src/reconciler/effects/effects.ts';
import {
  NONE,
  readRecord,
  type Stored,
  withMembers,
  withPart,
} from '../../../src/reconciler/effects/stored.ts';
import { findSchemaFaults, type SchemaNode } from '../../../src/reconciler/model/json-schema.ts';
import { nativeDefinitions } from '../../../src/reconciler/model/native-schema.ts';
import {
  readPath,
  isEmpty,
  isRecord,
  createRecord,
  type Value,
  type ValueRecord,
} from '../../../src/reconciler/model/value.ts';
import { type Exchange, type Folding, isMap, valueOf } from './fold.ts';

const record = (members: Readonly<Record<string, Value>>): ValueRecord =>
  createRecord(Object.entries(members));

function settingsShown(stored: Stored): Value {
  const settings = readRecord(stored, 'settings');
  const key = readRecord(settings, 'agent_settings', 'llm')['api_key'];
  return withMembers(settings, { llm_api_key_is_set: !isEmpty(key) });
}

function connectionShown(id: string, connection: ValueRecord): ValueRecord {
  const { api_key: key, ...others } = connection;
  return record({ id, ...others, created_at: '', updated_at: '', api_key_set: !isEmpty(key) });
}

function connectionOf(stored: Stored, llm: ValueRecord): ValueRecord | null {
  const id = llm['provider_connection_id'];
  const found = typeof id === 'string' ? readRecord(stored, 'provider_connections')[id] : undefined;
  return isRecord(found) ? found : null;
}

/** In the order of their files. */
function byName(part: ValueRecord): readonly (readonly [string, ValueRecord])[] {
  return Object.entries(part)
    .filter((entry): entry is [string, ValueRecord] => isRecord(entry[1]))
    .toSorted(([one], [other]) => (`${one}.json` < `${other}.json` ? -1 : 1));
}

function answer(stored: Stored, { request, response }: Exchange): Value | undefined {
  const { method, path, headers = {} } = request;
  const named = (pattern: string) => matchPathName([pattern], method, path);
  const settings = readRecord(stored, 'settings');
  if (named(`GET ${SETTINGS}`) !== null || named(`PATCH ${SETTINGS}`) !== null)
    return settingsShown(stored);
  if (path.startsWith(`${SETTINGS}/mcp/`) && method !== 'GET')
    return isMap(response.body) && !('agent_settings' in response.body)
      ? undefined
      : settingsShown(stored);
  if (named(`GET ${SETTINGS}/secrets`) !== null && !path.includes('agent_profile_id'))
    return record({
      secrets: Object.entries(readRecord(stored, 'secrets')).map(([name, one]) =>
        record({ name, description: readRecord(one)['description'] ?? null }),
      ),
    });
  const secret = named(`GET ${SETTINGS}/secrets/{}`);
  if (secret !== null) return readRecord(stored, 'secrets', secret)['value'];
  const changed = named(`PATCH ${CONNECTIONS}/{}`);
  if (changed !== null)
    return connectionShown(changed, readRecord(stored, 'provider_connections', changed));
  const connections = Object.entries(readRecord(stored, 'provider_connections')).map(([id, one]) =>
    connectionShown(id, readRecord(one)),
  );
  if (named(`POST ${CONNECTIONS}`) !== null) return connections.at(-1);
  if (named(`GET ${CONNECTIONS}`) !== null) return connections;
  if (named(`GET ${PROFILES}`) !== null)
    return record({
      profiles: byName(readRecord(stored, 'llm_profiles')).map(([name, llm]) => {
        const connection = connectionOf(stored, llm);
        const id = llm['provider_connection_id'] ?? null;
        return record({
          name,
          model: llm['model'] ?? null,
          base_url: llm['base_url'] ?? null,
          provider_connection_id: id,
          provider_connection_broken: id !== null && connection === null,
          // The list counts a connection without a key as one with it.
          api_key_set: !isEmpty(llm['api_key']) || connection !== null,
        });
      }),
      active_profile: settings['active_profile'] ?? null,
    });
  const profile = named(`GET ${PROFILES}/{}`);
  if (profile !== null) {
    const llm = readRecord(stored, 'llm_profiles', readStoredName(profile));
    const isBare = headers['X-Expose-Secrets'] === undefined;
    const isPlain = headers['X-Expose-Secrets'] === 'plaintext';
    const key = llm['api_key'] ?? connectionOf(stored, llm)?.['api_key'];
    const shown = isPlain ? linkLlm(stored, readStoredName(profile)) : llm;
    const config = isBare ? withMembers(shown, { api_key: null }) : shown;
    return record({ name: profile, config, api_key_set: !isEmpty(key) });
  }
  if (named(`GET ${AGENTS}`) !== null)
    return record({
      profiles: byName(readRecord(stored, 'agent_profiles')).map(([name, one]) =>
        record({
          id: one['id'] ?? null,
          name,
          agent_kind: one['agent_kind'] ?? null,
          revision: one['revision'] ?? null,
          llm_profile_ref: one['llm_profile_ref'] ?? null,
          mcp_server_refs: one['mcp_server_refs'] ?? null,
        }),
      ),
      active_agent_profile_id: settings['active_agent_profile_id'] ?? null,
    });
  const agent = named(`GET ${AGENTS}/{}`);
  if (agent !== null)
    return record({
      name: agent,
      profile: readRecord(stored, 'agent_profiles', readStoredName(agent)),
    });
  if (named(`GET ${META}`) !== null)
    return record({
      meta_profiles: byName(readRecord(stored, 'meta_profiles')).map(([name, one]) => {
        const { classifier_model: model = null, classes = [] } = one;
        return record({
          name,
          classifier_model: model,
          num_classes: Array.isArray(classes) ? classes.length : 0,
        });
      }),
      active_meta_profile: settings['active_meta_profile'] ?? null,
    });
  const meta = named(`GET ${META}/{}`);
  if (meta !== null)
    return record({
      name: meta,
      config: readRecord(stored, 'meta_profiles', readStoredName(meta)),
    });
  return undefined;
}

/** Setpoint sends no secret of the context that is blank. */
function hasBlankSecret(body: Record<string, unknown>): boolean {
  return Object.values(
    readRecord(valueOf(body), 'agent_settings_diff', 'agent_context', 'secrets'),
  ).some((one) => typeof one === 'string' && one.trim() === '');
}

const MASK = /\*{10}|gAAAA|\(encrypted\)/;

function odd({ request }: Exchange): string | null {
  const { path, body, raw, rawHex, method } = request;
  if (raw !== undefined || rawHex !== undefined) return 'bytes';
  if (typeof body === 'string') return 'an answer sent back';
  if (/\/(skills|plugins)/.test(path)) return 'not modelled';
  if (body !== undefined && MASK.test(JSON.stringify(body))) return 'a mask, or an encrypted text';
  if (method === 'PUT' && isMap(body) && body['value'] === '') return 'a blank secret';
  if (!isMap(body)) return null;
  if (hasBlankSecret(body)) return 'a blank secret of the context';
  if ('schema_version' in readRecord(valueOf(body), 'agent_settings_diff'))
    return 'the version of a form';
  const faults = [
    ...faultsOf(body['agent_settings_diff'], AGENT),
    ...faultsOf(body['conversation_settings_diff'], { $ref: '#/$defs/ConversationSettings' }),
    ...faultsOf(body['llm'], { $ref: '#/$defs/LLM' }),
    ...(/\/settings\/mcp\//.test(path) ? faultsOf(body, { $ref: '#/$defs/MCPServer' }) : []),
  ];
  return faults.length === 0 ? null : `another type: ${faults.join()}`;
}

/** The values of a diff that are of another type than their place; null gives the default back. */
function faultsOf(diff: unknown, node: SchemaNode): readonly string[] {
  if (!isMap(diff)) return [];
  const value = valueOf(diff);
  return findSchemaFaults(value, node, nativeDefinitions('agent-server'))
    .filter(({ kind, path }) => kind === 'value' && readPath(value, path) !== null)
    .map(({ path }) => path.join('.'));
}

const FOLDERS: Readonly<Record<string, string>> = {
  profiles: 'llm_profiles',
  'agent-profiles': 'agent_profiles',
  'meta-profiles': 'meta_profiles',
};

/** With what a file of the server holds; one that is no JSON, or of an older form, is not read here. */
function given(stored: Stored, file: string, content: unknown): Stored | null {
  const [folder = '', name = ''] = file.split('/');
  const part = FOLDERS[folder];
  if (!isMap(content)) return null;
  if (file === 'secrets.json') {
    const secrets = Object.entries(content['custom_secrets'] as Record<string, unknown>);
    const made = secrets.map(([key, one]) => {
      const { secret: value = null, description = null } = readRecord(valueOf(one));
      return [key, record({ value, description })] as const;
    });
    return withPart(stored, ['secrets'], Object.fromEntries(made));
  }
  if (folder === 'provider-connections') {
    const list = content['connections'] as readonly Record<string, unknown>[];
    const kept = ['display_name', 'provider', 'base_url', 'api_key'];
    const made = list.map((one) => [
      one['id'],
      valueOf(Object.fromEntries(kept.map((name) => [name, one[name] ?? null]))),
    ]);
    return withPart(stored, ['provider_connections'], Object.fromEntries(made) as never);
  }
  if (part === undefined) return null;
  const thing = folded(part, valueOf(content) as ValueRecord);
  return withPart(stored, [part], { [readStoredName(name)]: thing });
}

/** What a file leaves out has its default. */
function folded(part: string, thing: ValueRecord): Value {
  const path = part === 'agent_profiles' ? AGENTS : part === 'meta_profiles' ? META : PROFILES;
  const body = part === 'llm_profiles' ? record({ llm: thing }) : thing;
  const made = after(AGENT_SERVER, NONE, { method: 'POST', path: `${path}/one`, body });
  const { id, name, revision } = thing;
  const own = Object.entries({ id, name, revision }).filter(
    (entry): entry is [string, Value] => entry[1] !== undefined,
  );
  return withMembers(
    readRecord(made, part, 'one'),
    part === 'agent_profiles' ? Object.fromEntries(own) : {},
  );
}

/** What a read shows besides what is stored. */
function withoutShown(base: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(base).filter(([name]) => name !== 'llm_api_key_is_set'));
}

export const AGENT_SERVER_FOLD: Folding = {
  files: ['agent-server', 'collections-agent-server', 'more-agent-server'],
  effects: AGENT_SERVER,
  start: (base) => record({ settings: valueOf(withoutShown(base)) }),
  given,
  answer,
  inert: /\/(materialize|validate|test|search)\b|^\/api\/git\//,
  odd,
  file: { base: withoutShown, of: (stored) => readRecord(stored, 'settings'), expose: 'encrypted' },
};
