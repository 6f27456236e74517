import {
  isEmpty,
  isRecord,
  createRecord,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import { Secret, UnseenSecret } from '../../model/secret.ts';
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
import { AGENT } from './types.ts';

/* The settings of an Agent Server, and the mcp servers and secrets in and beside them. */

export const SETTINGS = '/api/settings';
export const POINTERS = ['active_profile', 'active_agent_profile_id', 'active_meta_profile'];
/** The member of an llm that names a connection, by its id. The file names it by its name, as `connection`. */
export const CONNECTION_ID = 'provider_connection_id';
const PATCH = [`PATCH ${SETTINGS}`];
const MCP = `${SETTINGS}/mcp`;

const agentOf = (stored: Stored): ValueRecord => readRecord(stored, 'settings', 'agent_settings');

export function isAcp(stored: Stored): boolean {
  return agentOf(stored)['agent_kind'] === 'acp';
}

/** With a diff merged into the settings of the agent. */
function patchAgent(stored: Stored, diff: ValueRecord, { before, shape }: Doing): Stored {
  const agent = shape(AGENT, mergeStored(agentOf(stored), diff), agentOf(before));
  return withPart(stored, ['settings'], { agent_settings: agent });
}

/** With a meta profile, and the tool that it turns on. */
export function withRouting(stored: Stored, name: Value): Stored {
  return withPart(stored, ['settings', 'agent_settings'], {
    active_meta_profile: name,
    enable_classify_and_switch_llm_tool: name !== null,
  });
}

/** The llm that a profile stands for: the key and the address are those of its connection, if it names one. */
export function linkLlm(stored: Stored, name: string): ValueRecord {
  const llm = readRecord(stored, 'llm_profiles', name);
  const id = readConnectionId(llm);
  if (id === null) return llm;
  const { api_key: key = null, base_url = null } = readRecord(stored, 'provider_connections', id);
  return withMembers(llm, {
    base_url,
    ...(isEmpty(key) ? {} : { api_key: key }),
  });
}

/** Returns the id of the connection that an llm names, also one that documents mask; null if it names none, or that is not known. */
export function readConnectionId({ [CONNECTION_ID]: id = null }: ValueRecord): string | null {
  if (typeof id === 'string') return id;
  return id instanceof Secret && !(id instanceof UnseenSecret)
    ? id.compareWith((one) => one)
    : null;
}

/** The name under which a server keeps a thing: that of a file, without its ending. */
export function readStoredName(name: string): string {
  return name.replace(/\.json$/, '');
}

export const SETTINGS_EFFECTS: readonly Effect[] = [
  {
    rule: 'settings: pointers are stored as they are sent',
    on: PATCH,
    does: (stored, { body }) => {
      const sent = POINTERS.filter((name) => Object.hasOwn(body, name));
      const pointers = Object.fromEntries(sent.map((name) => [name, body[name] ?? null]));
      return withPart(stored, ['settings'], pointers);
    },
  },
  {
    rule: 'settings: another kind of agent begins with none of its settings',
    on: PATCH,
    does: (stored, { body }) => {
      const kind = readRecord(body, 'agent_settings_diff')['agent_kind'] ?? null;
      if (kind === null || kind === agentOf(stored)['agent_kind']) return stored;
      return withPart(stored, ['settings'], { agent_settings: NONE });
    },
  },
  {
    rule: 'settings: a diff of the agent is merged, and null gives the default back',
    on: PATCH,
    does: (stored, doing) => {
      const diff = doing.body['agent_settings_diff'];
      return isRecord(diff) ? patchAgent(stored, diff, doing) : stored;
    },
  },
  {
    rule: 'settings: a diff of the conversation is merged, and null is a value',
    on: PATCH,
    does: (stored, { body, shape, before }) => {
      const diff = body['conversation_settings_diff'];
      if (!isRecord(diff)) return stored;
      const was = readRecord(stored, 'settings', 'conversation_settings');
      const merged = withMembers(was, withoutMember(diff, 'schema_version'));
      const made = shape(
        'ConversationSettings',
        merged,
        readRecord(before, 'settings', 'conversation_settings'),
      );
      return withPart(stored, ['settings'], { conversation_settings: made });
    },
  },
  {
    rule: 'settings: misc_settings are merged, and null at the top is a value',
    on: PATCH,
    does: (stored, { body }) => {
      const diff = body['misc_settings_diff'];
      if (!isRecord(diff)) return stored;
      const was = readRecord(stored, 'settings', 'misc_settings');
      const merged = Object.entries(diff).map(([name, value]): [string, Value] => {
        const before = was[name];
        const merges = isRecord(before) && isRecord(value);
        return [name, merges ? mergeStored(before, value) : value];
      });
      return withPart(stored, ['settings', 'misc_settings'], Object.fromEntries(merged));
    },
  },
  {
    rule: 'settings: an agent of another maker has no meta profile',
    on: PATCH,
    does: (stored) =>
      isAcp(stored) ? withPart(stored, ['settings'], { active_meta_profile: null }) : stored,
  },
  {
    rule: 'settings: the pointer to a meta profile turns its tool on and copies nothing; null takes both away',
    on: PATCH,
    does: (stored, { body }) => {
      const name = body['active_meta_profile'];
      if (name === undefined || isAcp(stored)) return stored;
      const routed = withRouting(stored, name);
      return name === null
        ? withPart(routed, ['settings', 'agent_settings'], { meta_profile: null })
        : routed;
    },
  },
  {
    rule: 'settings: active_profile merges the llm of the profile, unless an llm is sent beside it',
    on: PATCH,
    does: (stored, doing) => {
      const { body } = doing;
      const name = body['active_profile'];
      const isSent = Object.hasOwn(readRecord(body, 'agent_settings_diff'), 'llm');
      if (typeof name !== 'string' || isSent || isAcp(stored)) return stored;
      return patchAgent(
        stored,
        createRecord([['llm', linkLlm(stored, readStoredName(name))]]),
        doing,
      );
    },
  },
  {
    rule: 'mcp: a server is stored anew',
    on: [`POST ${MCP}/{}`],
    does: (stored, doing) => patchAgent(stored, serverDiff(doing.name, doing.body), doing),
  },
  {
    rule: 'mcp: a diff of a server is merged; null and blank inside auth say nothing',
    on: [`PATCH ${MCP}/{}`],
    does: (stored, doing) => {
      const { auth, ...others } = doing.body;
      const own = isRecord(auth)
        ? { auth: withoutBlank(auth) }
        : auth === undefined
          ? {}
          : { auth };
      const diff = createRecord(Object.entries({ ...others, ...own }));
      return patchAgent(stored, serverDiff(doing.name, diff), doing);
    },
  },
  {
    rule: 'mcp: a server is removed',
    on: [`DELETE ${MCP}/{}`],
    does: (stored, doing) => patchAgent(stored, serverDiff(doing.name, null), doing),
  },
  {
    rule: 'secrets: what is put again loses a description that is not sent',
    on: [`PUT ${SETTINGS}/secrets`],
    does: (stored, { body }) => {
      const { name, value = null, description = null } = body;
      if (typeof name !== 'string') return stored;
      return withPart(stored, ['secrets'], {
        [name]: createRecord([
          ['value', value],
          ['description', description],
        ]),
      });
    },
  },
  {
    rule: 'secrets: one is removed',
    on: [`DELETE ${SETTINGS}/secrets/{}`],
    does: (stored, { name }) =>
      withMembers(stored, {
        secrets: withoutMember(readRecord(stored, 'secrets'), name),
      }),
  },
];

function serverDiff(name: string, diff: Value): ValueRecord {
  return createRecord([['mcp_config', createRecord([[name, diff]])]]);
}

function withoutBlank(value: ValueRecord): ValueRecord {
  return createRecord(
    Object.entries(value)
      .filter(([, one]) => !isEmpty(one))
      .map(([name, one]) => [name, isRecord(one) ? withoutBlank(one) : one]),
  );
}
