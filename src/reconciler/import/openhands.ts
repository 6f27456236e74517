import { findExpectation, isNamedKey, settingsNodes } from '../desired/schema-lookup.ts';
import {
  fieldAtNative,
  fieldNamed,
  MODEL_PART,
  NATIVE_PARTS,
  NATIVE_SERVERS,
} from '../model/field.ts';
import { findServerDefault, isPart } from '../model/native-schema.ts';
import { samePath, type Path } from '../model/path.ts';
import { sameValue, type Value } from '../model/value.ts';
import {
  type Foreign,
  type ForeignRecord,
  foreignRecord,
  isForeignList,
  isForeignRecord,
  isNothing,
} from './foreign.ts';
import { type Gathering, NOT_TAKEN } from './written.ts';
import { findLists, findServers } from './servers.ts';

/** Finds the settings in the sections of a config.toml. */
export function findSections(config: ForeignRecord, found: Gathering): void {
  for (const [section, value] of Object.entries(config)) {
    const at = [section];
    if (section === 'mcp' && isForeignRecord(value)) findLists(value, at, found);
    else if (section === 'mcp_servers') continue;
    else if (!isSection(section) || !isForeignRecord(value)) found.leave(at, NOT_TAKEN.other);
    else {
      for (const [member, one] of Object.entries(value)) {
        if (isNothing(one)) continue;
        const to = findSectionPlace(section, member);
        if (to !== null) found.take(['settings', ...to], one, [...at, member]);
        else if (section === 'llm' && isForeignRecord(one) && isModel(one))
          findModel(value, member, one, found);
        else found.leave([...at, member], NOT_TAKEN.other);
      }
    }
  }
}

/** Whether a table under `[llm]` is a named model: it has members of one. A dot in its name makes a table of the rest of the name. */
function isModel(table: ForeignRecord): boolean {
  return Object.entries(table).some(
    ([member, one]) => isOfModel(member) || (isForeignRecord(one) && isModel(one)),
  );
}

/** A named model: what its section leaves out, it has from the section of all models. */
function findModel(
  all: ForeignRecord,
  name: string,
  own: ForeignRecord,
  found: Gathering,
  at: Path = ['llm', name],
): void {
  if (!Object.keys(own).some(isOfModel)) {
    for (const [rest, one] of Object.entries(own))
      if (isForeignRecord(one) && isModel(one))
        findModel(all, `${name}.${rest}`, one, found, [...at, rest]);
      else found.leave([...at, rest], NOT_TAKEN.other);
    return;
  }
  const members = Object.entries({ ...selectScalars(all), ...selectScalars(own) });
  const known = members.filter(([member, one]) => isOfModel(member) && !isNothing(one));
  for (const member of Object.keys(own))
    if (!isOfModel(member)) found.leave([...at, member], NOT_TAKEN.other);
  found.take(['llm_profiles', name], foreignRecord(known), at);
}

function selectScalars(record: ForeignRecord): ForeignRecord {
  return foreignRecord(
    Object.entries(record).filter(([, one]) => !isForeignRecord(one) && !isForeignList(one)),
  );
}

/** Reports whether a file contains the settings of a service, as it stores or answers them. */
export function isSettingsDocument(value: ForeignRecord): boolean {
  const keys = Object.keys(value);
  return (
    keys.some((key) => key.startsWith('llm_') && fieldNamed(key) !== undefined) ||
    keys.some((key) => key === 'agent_settings' || key === 'conversation_settings') ||
    keys.filter((key) => fieldNamed(key) !== undefined).length >= 3
  );
}

/** Finds the settings in what a service keeps or answers: fields, native parts, and mcp servers in either form. */
export function findSettings(settings: ForeignRecord, found: Gathering): void {
  for (const [key, value] of Object.entries(settings)) {
    const at = [key];
    if (isNothing(value) || OF_RECORD.has(key)) continue;
    if (key === 'mcp_config') findConfig(value, at, found);
    else if (key === 'secrets_store' && isForeignRecord(value)) findSecrets(value, at, found);
    else if (fieldNamed(key) !== undefined) found.take(['settings', key], value, at);
    else if (NATIVE_PARTS.has(key)) findNative([key], value, at, found);
    else found.leave(at, NOT_TAKEN.other);
  }
}

/** Members that describe the answer or the record itself, or are found in another way. */
const OF_RECORD: ReadonlySet<string> = new Set([
  'schema_version',
  'user_version',
  'llm_api_key_set',
  'llm_api_key_is_set',
  'search_api_key_set',
  'sandbox_api_key_set',
  'provider_tokens_set',
  'v1_enabled',
  'custom_secrets',
  'provider_tokens',
]);

/** The name of a model in reports of its use. */
const USAGE: Path = [...MODEL_PART, 'usage_id'];

/** Finds the agent that OpenHands CLI keeps: its parts are those of the agent settings. */
export function findAgent(agent: ForeignRecord, found: Gathering): void {
  for (const [key, value] of Object.entries(agent))
    if (key !== 'kind') findNative(['agent_settings', key], value, [key], found);
}

/** Finds an LLM profile in a file of the folder `profiles`: its members are those of the model. */
export function findProfile(name: string, model: ForeignRecord, found: Gathering): void {
  const known = Object.entries(model).flatMap(([member, value]): (readonly [string, Foreign])[] => {
    if (isNothing(value) || member === 'usage_id') return [];
    const path = [...MODEL_PART, member];
    if (isOfModel(member))
      return sameValue(value as Value, findServerDefault(settingsNodes(path)))
        ? []
        : [[member, value]];
    if (!OF_RECORD.has(member)) found.leave([member], NOT_TAKEN.other);
    return [];
  });
  found.take(['llm_profiles', name], foreignRecord(known), [name]);
}

/** Finds an agent profile in a file of the folder `agent-profiles`: a server has other names for what it refers to. */
export function findAgentProfile(name: string, profile: ForeignRecord, found: Gathering): void {
  const known = Object.entries(profile).flatMap(
    ([theirs, value]): (readonly [string, Foreign])[] => {
      const own = theirs.replace(/_ref(s?)$/, '$1');
      if (isNothing(value) || OF_AGENT_PROFILE.has(theirs)) return [];
      const isKnown = findExpectation(['agent_profiles', name]).keys.includes(own);
      if (!isKnown) found.leave([theirs], NOT_TAKEN.other);
      return isKnown ? [[own, value]] : [];
    },
  );
  const named = profile['name'];
  found.take(['agent_profiles', typeof named === 'string' ? named : name], foreignRecord(known), [
    name,
  ]);
}

/** What a server keeps of an agent profile for itself. */
const OF_AGENT_PROFILE: ReadonlySet<string> = new Set([
  'id',
  'name',
  'revision',
  'schema_version',
  'created_at',
  'updated_at',
]);

/** Finds what differs from its default in a native part. */
function findNative(path: Path, value: Foreign, at: Path, found: Gathering): void {
  if (isNothing(value) || samePath(path, USAGE)) return;
  if (samePath(path, NATIVE_SERVERS)) {
    findConfig(value, at, found);
    return;
  }
  const field = fieldAtNative(path);
  const nodes = settingsNodes(path);
  if (field !== undefined) found.take(['settings', field.name], value, at);
  else if (nodes.length === 0) found.leave(at, NOT_TAKEN.other);
  else if (isForeignRecord(value) && isPart(nodes))
    for (const [key, one] of Object.entries(value))
      findNative([...path, key], one, [...at, key], found);
  else if (isNamedKey(path) && sameValue(value as Value, findServerDefault(nodes))) return;
  else found.take(['settings', ...path], value, at);
}

function findConfig(value: Foreign, at: Path, found: Gathering): void {
  if (!isForeignRecord(value)) found.leave(at, NOT_TAKEN.shape);
  else if (['sse_servers', 'stdio_servers', 'shttp_servers'].some((list) => list in value))
    findLists(value, at, found);
  else
    findServers(
      value['mcpServers'] ?? value,
      'mcpServers' in value ? [...at, 'mcpServers'] : at,
      found,
      true,
    );
}

/** Finds what a secrets.json keeps: custom secrets, and tokens of git providers. */
export function findSecrets(kept: ForeignRecord, at: Path, found: Gathering): void {
  const { custom_secrets: secrets, provider_tokens: tokens } = kept;
  for (const [name, value] of listForeignEntries(secrets)) {
    const text = isForeignRecord(value) ? (value['secret'] ?? value['value']) : value;
    const description = isForeignRecord(value) ? value['description'] : null;
    const place = [...at, 'custom_secrets', name];
    if (isNothing(text)) found.leave(place, 'empty');
    else
      found.take(
        ['secrets', name],
        foreignRecord([
          ['value', text ?? null],
          ['description', description ?? null],
        ]),
        place,
      );
  }
  for (const [name, value] of listForeignEntries(tokens)) {
    const place = [...at, 'provider_tokens', name];
    const { token = null, host = null } = isForeignRecord(value) ? value : { token: value };
    if (isNothing(token)) found.leave(place, 'empty');
    else
      found.take(
        ['git_providers', name],
        foreignRecord([
          ['token', token],
          ['host', host],
        ]),
        place,
      );
  }
}

function listForeignEntries(value: Foreign | undefined): readonly (readonly [string, Foreign])[] {
  return isForeignRecord(value) ? Object.entries(value) : [];
}

/** The sections of a config.toml, with what variables of their members begin with. */
export const SECTIONS = {
  core: '',
  llm: 'LLM_',
  sandbox: 'SANDBOX_',
  security: 'SECURITY_',
  condenser: 'CONDENSER_',
} as const;

export type Section = keyof typeof SECTIONS;

const FIELDS: Readonly<Record<Section, Readonly<Record<string, string>>>> = {
  core: {
    default_agent: 'agent',
    max_iterations: 'max_iterations',
    max_budget_per_task: 'max_budget_per_task',
    enable_default_condenser: 'enable_default_condenser',
    search_api_key: 'search_api_key',
    git_user_name: 'git_user_name',
    git_user_email: 'git_user_email',
  },
  llm: { model: 'llm_model', api_key: 'llm_api_key', base_url: 'llm_base_url' },
  sandbox: {
    base_container_image: 'sandbox_base_container_image',
    runtime_container_image: 'sandbox_runtime_container_image',
    remote_runtime_resource_factor: 'remote_runtime_resource_factor',
    api_key: 'sandbox_api_key',
  },
  security: { confirmation_mode: 'confirmation_mode', security_analyzer: 'security_analyzer' },
  condenser: { max_size: 'condenser_max_size' },
};

export function isSection(name: string): name is Section {
  return Object.hasOwn(SECTIONS, name);
}

/** Returns the place in the settings for a member of a section; null if they do not have it. */
export function findSectionPlace(section: Section, member: string): Path | null {
  const fields = FIELDS[section];
  const field = Object.hasOwn(fields, member) ? fields[member] : undefined;
  if (field !== undefined) return [field];
  return section === 'llm' && isOfModel(member) ? [...MODEL_PART, member] : null;
}

/** Reports whether a model of the native settings has a member of this name. */
export function isOfModel(member: string): boolean {
  return settingsNodes([...MODEL_PART, member]).length > 0;
}
