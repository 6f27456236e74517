import { isEmpty, isList, type Value, type ValueRecord } from '../../model/value.ts';
import type { Doing, Effect } from '../effects.ts';
import { NONE, readRecord, type Stored, withMembers, withPart } from '../stored.ts';
import { newName, renameProfile, withoutThing } from './profiles.ts';
import { isAcp, readStoredName } from './settings.ts';
import { AGENT, agentProfileNode, toolsOnce, withoutCriticKey } from './types.ts';

/* Agent profiles. One is always active: a list, and the removal of the active one, see to that. */

export const AGENTS = '/api/agent-profiles';
export const AGENT_DEFAULT = 'default';
const MOST = 50;
const POINTER = 'active_agent_profile_id';

/** The version of the form that a server of the known releases writes. */
const FORM = 4;

const profileNamed = (stored: Stored, name: string) =>
  readRecord(stored, 'agent_profiles', readStoredName(name));

export const AGENT_EFFECTS: readonly Effect[] = [
  {
    rule: 'agent profiles: a profile is replaced whole',
    on: [`POST ${AGENTS}/{}`],
    does: (stored, doing) => {
      const was = profileNamed(doing.before, doing.name);
      const made = shapeAgentProfile(doing, was);
      const own = {
        schema_version: FORM,
        name: doing.name,
        id: readAgentId(doing.name),
      };
      return withPart(stored, ['agent_profiles'], {
        [readStoredName(doing.name)]: withMembers(made, own),
      });
    },
  },
  {
    rule: 'agent profiles: the id stays, and the revision counts stores',
    on: [`POST ${AGENTS}/{}`],
    does: (stored, { name, before }) => {
      const { id, revision } = profileNamed(before, name);
      if (id === undefined) return stored;
      const next = typeof revision === 'number' ? revision + 1 : 1;
      return withPart(stored, ['agent_profiles', readStoredName(name)], {
        id,
        revision: next,
      });
    },
  },
  {
    rule: 'agent profiles: the key of a critic is dropped',
    on: [`POST ${AGENTS}/{}`],
    does: (stored, { name }) => {
      const { verification } = profileNamed(stored, name);
      if (verification === undefined) return stored;
      const own = { verification: withoutCriticKey(verification) };
      return withPart(stored, ['agent_profiles', readStoredName(name)], own);
    },
  },
  {
    rule: 'agent profiles: a tool is kept once',
    on: [`POST ${AGENTS}/{}`],
    does: (stored, { name }) => {
      const { tools } = profileNamed(stored, name);
      if (tools === undefined) return stored;
      return withPart(stored, ['agent_profiles', readStoredName(name)], {
        tools: toolsOnce(tools),
      });
    },
  },
  {
    rule: 'agent profiles: one is renamed, and keeps id and revision',
    on: [`POST ${AGENTS}/{}/rename`],
    does: (stored, { name, body }) => {
      const moved = renameProfile(stored, 'agent_profiles', readStoredName(name), newName(body));
      return withPart(moved, ['agent_profiles', newName(body)], {
        name: newName(body),
      });
    },
  },
  {
    rule: 'agent profiles: activation moves the pointer alone',
    on: [`POST ${AGENTS}/{}/activate`],
    does: (stored, { name }) => withPart(stored, ['settings'], { [POINTER]: name }),
  },
  {
    rule: 'agent profiles: one is removed',
    on: [`DELETE ${AGENTS}/{}`],
    does: (stored, { name }) => withoutThing(stored, 'agent_profiles', readStoredName(name)),
  },
  {
    rule: 'agent profiles: with the active one settings of another maker go, but for the mcp servers',
    on: [`DELETE ${AGENTS}/{}`],
    does: (stored, { name, before, shape }) => {
      if (!isActive(before, name) || !isAcp(stored)) return stored;
      const mcp_config = readRecord(stored, 'settings', 'agent_settings', 'mcp_config');
      const fresh = readRecord(shape(AGENT, NONE));
      const agent_settings = withMembers(fresh, { mcp_config });
      return withPart(stored, ['settings'], { agent_settings });
    },
  },
  {
    rule: 'agent profiles: without the active one another takes over, default if need be made anew',
    on: [`DELETE ${AGENTS}/{}`],
    does: (stored, { name, before }) => (isActive(before, name) ? withActiveOne(stored) : stored),
  },
  {
    rule: 'agent profiles: the list makes one active while none is',
    on: [`GET ${AGENTS}`],
    does: withActiveOne,
  },
];

/** A profile with its defaults, as a body stands for it. */
function shapeAgentProfile({ body, shape }: Pick<Doing, 'body' | 'shape'>, was: ValueRecord) {
  return readRecord(shape(agentProfileNode(body['agent_kind']), body, was));
}

function readAgentId(name: string): string {
  return `new agent profile ${readStoredName(name)}`;
}

function isActive(stored: Stored, name: string): boolean {
  const { id } = profileNamed(stored, name);
  return id !== undefined && readRecord(stored, 'settings')[POINTER] === id;
}

function withActiveOne(stored: Stored): Stored {
  const profiles = Object.entries(readRecord(stored, 'agent_profiles'));
  const active = readRecord(stored, 'settings')[POINTER] ?? null;
  if (profiles.some(([, one]) => active !== null && readRecord(one)['id'] === active))
    return stored;
  const isThere = profiles.some(([name]) => name === AGENT_DEFAULT);
  const seeded = isThere || profiles.length >= MOST ? stored : withDefault(stored);
  const names = Object.keys(readRecord(seeded, 'agent_profiles')).toSorted();
  const next = names.includes(AGENT_DEFAULT) ? AGENT_DEFAULT : names[0];
  if (next === undefined) return seeded;
  const { id = null } = profileNamed(seeded, next);
  return withPart(seeded, ['settings'], { [POINTER]: id });
}

/** With a profile made of the settings. It names the active LLM profile, or `default`, made of the llm if that was set up. */
function withDefault(stored: Stored): Stored {
  const settings = readRecord(stored, 'settings');
  const agent = readRecord(settings, 'agent_settings');
  const active = settings['active_profile'] ?? null;
  const before = active === null && !isAcp(stored) ? withDefaultLlm(stored, agent) : stored;
  const own = isAcp(stored) ? acpMembers(agent) : openhandsMembers(agent, active ?? AGENT_DEFAULT);
  const profile = {
    schema_version: FORM,
    agent_kind: isAcp(stored) ? 'acp' : 'openhands',
    id: readAgentId(AGENT_DEFAULT),
    name: AGENT_DEFAULT,
    revision: 0,
    mcp_server_refs: null,
    secret_refs: null,
    ...own,
  };
  return withPart(before, ['agent_profiles', AGENT_DEFAULT], profile);
}

function withDefaultLlm(stored: Stored, agent: ValueRecord): Stored {
  const llm = readRecord(agent, 'llm');
  const profiles = readRecord(stored, 'llm_profiles');
  const isSetUp =
    !isEmpty(llm['api_key']) || llm['auth_type'] === 'subscription' || !isEmpty(llm['base_url']);
  const hasPlace = !Object.hasOwn(profiles, AGENT_DEFAULT) && Object.keys(profiles).length < MOST;
  if (!isSetUp || !hasPlace) return stored;
  const isLinked = !isEmpty(llm['provider_connection_id']);
  const own = isLinked ? withMembers(llm, { api_key: null, base_url: null }) : llm;
  return withPart(stored, ['llm_profiles'], { [AGENT_DEFAULT]: own });
}

function openhandsMembers(agent: ValueRecord, llm: Value): Readonly<Record<string, Value>> {
  const context = readRecord(agent, 'agent_context');
  const same = (name: string): Value => agent[name] ?? null;
  return {
    llm_profile_ref: llm,
    agent: same('agent'),
    tools: same('tools'),
    persona: same('persona'),
    system_message_suffix: context['system_message_suffix'] ?? null,
    disabled_skills: context['disabled_skills'] ?? [],
    public_skills: null,
    condenser: same('condenser'),
    verification: withoutCriticKey(same('verification')),
    enable_classify_and_switch_llm_tool: same('enable_classify_and_switch_llm_tool'),
    meta_profile_ref: same('active_meta_profile'),
    tool_concurrency_limit: same('tool_concurrency_limit'),
  };
}

function acpMembers(agent: ValueRecord): Readonly<Record<string, Value>> {
  const same = (name: string): Value => agent[name] ?? null;
  const words = (name: string): readonly string[] => {
    const list = same(name);
    return isList(list) ? list.filter((one) => typeof one === 'string') : [];
  };
  const [command, args] = [words('acp_command'), words('acp_args')];
  return {
    acp_server: same('acp_server'),
    acp_model: same('acp_model'),
    acp_session_mode: same('acp_session_mode'),
    acp_prompt_timeout: same('acp_prompt_timeout'),
    acp_startup_timeout: same('acp_startup_timeout'),
    acp_command: command.length === 0 ? null : command.map(quoteCommandWord).join(' '),
    acp_args: args.length === 0 ? null : args,
  };
}

/** A word as a shell reads it. */
function quoteCommandWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
