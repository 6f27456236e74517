import { fieldNamed } from '../../model/field.ts';
import { nativeSchema } from '../../model/native-schema.ts';
import { PROVIDER_DEFAULTS } from '../../model/provider-defaults.ts';
import { Secret } from '../../model/secret.ts';
import {
  isEmpty,
  isRecord,
  createRecord,
  sameValue,
  textFits,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import { AGENT } from '../agent-server/types.ts';
import type { Doing, Effect } from '../effects.ts';
import {
  mergeStored,
  NONE,
  readRecord,
  type Stored,
  withMembers,
  withoutMember,
  withPart,
} from '../stored.ts';

/* The settings of an app server. Beside them it has LLM profiles, of which one is active as long as the llm of the settings is its own. */

export const SETTINGS = '/api/v1/settings';
const POST = [`POST ${SETTINGS}`];
export const ACTIVE = 'active_profile';

/** Whether settings were ever stored. */
export const IS_STORED = 'is_stored';

const agentOf = (stored: Stored): ValueRecord => readRecord(stored, 'settings', 'agent_settings');

/** Members at the top that null leaves as they are. */
const STAYS = ['user_consents_to_analytics', 'disabled_skills'];

/** What a body sets at the top of the record, as it was sent. */
function topMembers(body: ValueRecord): readonly (readonly [string, Value])[] {
  const properties = nativeSchema('app-server')?.properties ?? {};
  return Object.entries(body).filter(([name]) => {
    const node = properties[name];
    const isPart = name === 'agent_settings' || name === 'conversation_settings';
    const isNative = node !== undefined && node.readOnly !== true && !isPart;
    return fieldNamed(name) !== undefined || isNative;
  });
}

function isPassword(name: string): boolean {
  return fieldNamed(name)?.secret === true;
}

/** The address of the provider of a model; null if it is not known. */
export function providerAddress(model: Value | undefined): string | null {
  const found = [...PROVIDER_DEFAULTS.values].find(
    ([start]) => start !== '' && textFits(model, (text) => text.startsWith(start)),
  );
  return found?.[1] ?? null;
}

/** With the address of the provider in the llm of the settings, if it has none. */
export function withAddress(stored: Stored): Stored {
  const llm = readRecord(agentOf(stored), 'llm');
  const address = llm['base_url'] ?? null;
  if (agentOf(stored)['agent_kind'] === 'acp' || !isEmpty(address)) return stored;
  const base_url = address === null ? providerAddress(llm['model']) : null;
  return withPart(stored, ['settings', 'agent_settings', 'llm'], { base_url });
}

/** Without a pointer to a profile whose llm is not that of the settings. */
export function withoutStale(stored: Stored): Stored {
  const name = stored[ACTIVE];
  if (typeof name !== 'string') return stored;
  const [own, llm] = [readRecord(stored, 'llm_profiles', name), readRecord(agentOf(stored), 'llm')];
  return isLike(own, asLoaded(llm)) ? stored : withMembers(stored, { [ACTIVE]: null });
}

function isLike(profile: ValueRecord, llm: ValueRecord): boolean {
  const names = new Set([...Object.keys(profile), ...Object.keys(llm)]);
  return [...names].every((name) => sameValue(profile[name] ?? null, llm[name] ?? null));
}

/** As a server loads it: the usual address of OpenAI is none. */
function asLoaded(llm: ValueRecord): ValueRecord {
  const isOpenAi =
    textFits(llm['model'], (model) => model.startsWith('openai/')) &&
    textFits(llm['base_url'], (url) => /^https:\/\/api\.openai\.com\/?$/.test(url));
  return isOpenAi ? withMembers(llm, { base_url: null }) : llm;
}

function patchAppAgent(stored: Stored, diff: ValueRecord, { before, shape }: Doing): Stored {
  const merged = mergeStored(agentOf(stored), diff, (name) => name === 'mcp_config');
  const servers = merged['mcp_config'];
  const whole = isRecord(servers)
    ? withMembers(merged, { mcp_config: renameServerMembers(servers) })
    : merged;
  const was = agentOf(before);
  return withPart(stored, ['settings'], { agent_settings: shape(AGENT, whole, was) });
}

/** Servers as they are stored: keys in `auth`, and without the older names of members. */
function renameServerMembers(servers: ValueRecord): ValueRecord {
  const wrapped = servers['mcpServers'];
  const own = isRecord(wrapped) ? wrapped : servers;
  return createRecord(
    Object.entries(own).map(([name, one]) => [name, isRecord(one) ? renameServerMember(one) : one]),
  );
}

function renameServerMember({ api_key: key, type, ...others }: ValueRecord): ValueRecord {
  const transport = type === 'shttp' ? 'http' : type;
  const server = createRecord(
    Object.entries(transport === undefined ? others : { ...others, transport }),
  );
  if (key !== undefined && key !== null)
    return withMembers(server, { auth: strategy('api_key', key) });
  const { auth, headers } = server;
  if (textFits(auth, (text) => text === 'oauth'))
    return withMembers(server, { auth: createRecord([['strategy', 'oauth2']]) });
  if (typeof auth === 'string' || auth instanceof Secret)
    return withMembers(server, { auth: strategy('bearer', auth) });
  if (auth !== undefined || !isRecord(headers)) return server;
  const { Authorization: authorization } = headers;
  if (authorization === undefined || authorization === null) return server;
  return withMembers(server, {
    headers: withoutMember(headers, 'Authorization'),
    auth: computeServerAuth(authorization),
  });
}

function strategy(name: string, value: Value): ValueRecord {
  return createRecord([
    ['strategy', name],
    ['value', value],
  ]);
}

/** The credential in a header: that of a bearer, or the header itself. */
function computeServerAuth(authorization: Value): ValueRecord {
  const text =
    authorization instanceof Secret ? authorization.compareWith((one) => one) : authorization;
  const [, token] = typeof text === 'string' ? (/^Bearer (.*)$/.exec(text) ?? []) : [];
  if (token !== undefined) return strategy('bearer', new Secret(token));
  return createRecord([
    ['strategy', 'header'],
    ['headers', createRecord([['Authorization', authorization]])],
  ]);
}

export const SETTINGS_EFFECTS: readonly Effect[] = [
  {
    rule: 'settings: what is not sent stays; what is sent at the top is stored as it is',
    on: POST,
    does: (stored, { body }) =>
      withPart(
        stored,
        ['settings'],
        Object.fromEntries(
          topMembers(body).map(([name, value]) => [
            name,
            isPassword(name) && typeof value === 'string' ? new Secret(value) : value,
          ]),
        ),
      ),
  },
  {
    rule: 'settings: v1_enabled is true again with each store that does not send it',
    on: POST,
    does: (stored, { body }) =>
      withPart(stored, ['settings'], { v1_enabled: body['v1_enabled'] ?? true }),
  },
  {
    rule: 'settings: profiles are taken once settings are stored',
    on: POST,
    does: (stored) => withMembers(stored, { [IS_STORED]: true }),
  },
  {
    rule: 'settings: null leaves the consent and disabled skills as they are',
    on: POST,
    does: (stored, { body, before }) => {
      const names = STAYS.filter((name) => body[name] === null);
      const was = readRecord(before, 'settings');
      return withPart(
        stored,
        ['settings'],
        Object.fromEntries(names.map((name) => [name, was[name] ?? null])),
      );
    },
  },
  {
    rule: 'settings: a blank key is none',
    on: POST,
    does: (stored, { body }) => {
      const blank = Object.keys(body).filter(
        (name) => isPassword(name) && textFits(body[name], (text) => text.trim() === ''),
      );
      return withPart(stored, ['settings'], Object.fromEntries(blank.map((name) => [name, null])));
    },
  },
  {
    rule: 'settings: sandbox_api_key is stored as its own mask, and lost',
    on: POST,
    does: (stored, { body }) => {
      const key = body['sandbox_api_key'] ?? null;
      const isBlank = isEmpty(key) || textFits(key, (text) => text.trim() === '');
      return isBlank
        ? stored
        : withPart(stored, ['settings'], { sandbox_api_key: new Secret('**********') });
    },
  },
  {
    rule: 'settings: another kind of agent begins with none of its settings',
    on: POST,
    does: (stored, { body }) => {
      const kind = readRecord(body, 'agent_settings_diff')['agent_kind'] ?? null;
      if (kind === null || kind === agentOf(stored)['agent_kind']) return stored;
      return withPart(stored, ['settings'], { agent_settings: NONE });
    },
  },
  {
    rule: 'settings: a diff of the agent is merged, but its mcp servers are replaced whole',
    on: POST,
    does: (stored, doing) =>
      patchAppAgent(stored, readRecord(doing.body, 'agent_settings_diff'), doing),
  },
  {
    rule: 'settings: a diff of the conversation is merged, and null gives the default back',
    on: POST,
    does: (stored, { body, shape, before }) => {
      const was = readRecord(before, 'settings', 'conversation_settings');
      const { schema_version: _, ...diff } = readRecord(body, 'conversation_settings_diff');
      const made = shape(
        'ConversationSettings',
        mergeStored(was, createRecord(Object.entries(diff))),
        was,
      );
      return withPart(stored, ['settings'], { conversation_settings: made });
    },
  },
  {
    rule: 'settings: marketplaces are stored whole, as personal ones',
    on: POST,
    does: (stored, { body, shape }) => {
      const list = body['registered_marketplaces'];
      if (!Array.isArray(list)) return stored;
      const made = (list as readonly Value[]).map((one) =>
        withMembers(readRecord(shape('app_server_MarketplaceRegistration', one)), {
          scope: 'personal',
        }),
      );
      return withPart(stored, ['settings'], { registered_marketplaces: made });
    },
  },
  {
    rule: 'settings: a store after which the llm is not that of the active profile ends it',
    on: POST,
    does: withoutStale,
  },
  {
    rule: 'settings: a store fills in the address of the provider, which stays',
    on: POST,
    does: withAddress,
  },
];
