import { bareUrl, isSensitiveAddress, isSensitiveUrl } from '../model/address.ts';
import { Identity, Secret } from '../model/secret.ts';
import type { SchemaNode } from '../model/json-schema.ts';
import { type Path, samePath } from '../model/path.ts';
import { holdsSecretText, shownArgument, speaksOfSecrets } from '../model/secret-words.ts';
import {
  isList,
  isRecord,
  mapRecord,
  type Value,
  type ValueRecord,
  WireNumber,
} from '../model/value.ts';
import { NumberSecret } from './json.ts';
import type { DialectName } from '../model/dialect.ts';
import { NATIVE_SERVERS, fieldAtNative, fieldNamed } from '../model/field.ts';
import { isSecretPlace, nativeNodes } from '../model/native-schema.ts';
import { factsAt } from '../model/path-facts.ts';

/** The address of an mcp server: one with a secret in it shows the rest. */
export function concealAddress(value: Value): Value {
  if (typeof value !== 'string') return sealed(value);
  return isSensitiveAddress(value) ? new Secret(value, null, new Identity(bareUrl(value))) : value;
}

/** The command of an mcp server, unless one of its words is a secret by its flag or its form. */
export function concealCommand(command: Value): Value {
  if (typeof command !== 'string') return sealed(command);
  const words = command.split(/\s+/);
  const isSecret = (word: string, index: number): boolean =>
    shownArgument(word, words[index - 1] ?? null) !== word;
  return words.some(isSecret) ? sealed(command) : command;
}

/** Mcp servers by their names: all of them is wrapped but the members that are known to hold no secret. */
function concealServers(config: Value): Value {
  if (!isRecord(config)) return sealed(config);
  return mapRecord(config, (server) =>
    isRecord(server) ? mapRecord(server, concealSetting) : sealed(server),
  );
}

const HARMLESS = new Set(['transport', 'timeout', 'sse_read_timeout', 'keep_alive', 'enabled']);

/** Members that say what a server looks like, or where its program starts. */
const PLAIN = new Set(['cwd', 'icon']);

/** Members of `auth`, and of what is in it, that say how a secret is sent. */
const HOW = new Set(['strategy', 'header_name', 'type', 'client_auth_method', 'scopes']);

function concealAuth(auth: ValueRecord): ValueRecord {
  return mapRecord(auth, (member, key) => {
    if (HOW.has(key)) return member;
    return key === 'authentication' && isRecord(member) ? concealAuth(member) : sealed(member);
  });
}

function concealSetting(value: Value, name: string): Value {
  if (name === 'url') return concealAddress(value);
  if (name === 'auth' && isRecord(value)) return concealAuth(value);
  if (isRecord(value) || isList(value)) return sealed(value);
  if (HARMLESS.has(name)) return value;
  if (PLAIN.has(name))
    return typeof value === 'string' && holdsSecretText(value) ? wrapped(value) : value;
  if (name === 'description')
    return typeof value === 'string' && !isShownProse(value) ? sealed(value) : value;
  return name === 'command' ? concealCommand(value) : sealed(value);
}

/** What a service has at a place, wrapped unless the place is known to hold no secret and the value has not the form of one. */
export function concealPlace(path: Path, value: Value, nodes: readonly SchemaNode[] = []): Value {
  const plain = value instanceof WireNumber ? Number(value.token) : value;
  if (plain === '') return value;
  if (typeof plain !== 'string' && typeof plain !== 'number') return sealed(value);
  const shown = shownAt(path, plain, nodes);
  if (shown === 'all') return value;
  return shown === 'bare' ? wrapped(value) : sealed(value);
}

/** A value with the form of a secret. Of an address with a secret in it the rest is shown. */
function wrapped(value: Value): Value {
  if (typeof value === 'string' && isSensitiveUrl(value))
    return new Secret(value, null, new Identity(bareUrl(value)));
  return sealed(value);
}

/** A value of which every text and number is a secret. */
export function sealed(value: Value): Value {
  if (typeof value === 'string' || typeof value === 'number') return new Secret(value);
  if (value instanceof WireNumber) return new NumberSecret(value.token);
  if (isList(value)) return value.map(sealed);
  return isRecord(value) ? mapRecord(value, sealed) : value;
}

/** What a dialect says of its answers besides its schema. */
interface NativeSecrets {
  readonly dialect: DialectName;
  /** Whether a member at the top of the record is a secret because of what else is in it. */
  readonly isSecret?: (record: ValueRecord, name: string) => boolean;
  /** Members at the top of the record of which nothing is a secret. */
  readonly harmless?: ReadonlySet<string>;
}

/**
 * Wraps what must not be seen of an answer in a server's own nesting: whatever is not at a place that is known to hold no secret, or has
 * the form of one there.
 */
export function concealNative(record: ValueRecord, terms: NativeSecrets): ValueRecord {
  return concealed(record, [], terms);
}

function concealed(record: ValueRecord, above: Path, terms: NativeSecrets): ValueRecord {
  const { isSecret, harmless } = terms;
  const atTop = above.length === 0;
  return mapRecord(record, (value, name): Value => {
    if (atTop && harmless?.has(name) === true) return value;
    if (atTop && isSecret?.(record, name) === true) return sealed(value);
    return concealedAt([...above, name], value, terms);
  });
}

function concealedAt(path: Path, value: Value, terms: NativeSecrets): Value {
  if (samePath(path, NATIVE_SERVERS) || isOfSkill(path)) return concealServers(value);
  const nodes = nativeNodes(terms.dialect, path);
  if (factsAt(path).secret || isSecretPlace(nodes)) return sealed(value);
  if (isRecord(value)) return concealed(value, path, terms);
  if (isList(value))
    return value.map((item, index) => concealedAt([...path, String(index)], item, terms));
  return concealPlace(path, value, nodes);
}

/** The mcp servers that a skill brings. */
function isOfSkill(path: Path): boolean {
  return path.at(-1) === 'mcp_tools' && path.at(-3) === 'skills';
}

/*
 * What only a service has may be a secret, whatever its place is called. Documents show of it what is at a place of this closed list, a
 * word that is one of those that a schema allows, and a number where a schema has a number; of free JSON truth values alone. A field of
 * the specification that is no secret counts as listed. A listed place holds what names something; whoever has put a key there by mistake
 * has it masked by its form.
 */

/** Names, versions, places and modes: keys with dots between, `*` for any one. */
const LISTED: readonly string[] = [
  'disabled_skills.*',
  'default_sandbox_spec_id',
  'active_profile',
  'active_agent_profile_id',
  'active_meta_profile',
  'llm_profiles.active',
  ...marketplace('registered_marketplaces'),
  ...marketplace('inherited_marketplaces'),
  ...under('agent_settings', [
    'active_meta_profile',
    'acp_model',
    'acp_session_mode',
    'tools.*.name',
  ]),
  ...under('agent_settings.acp_file_secrets.*', [
    'secret_name',
    'filename',
    'env_var',
    'subdir',
    'warn_if_unset.*',
  ]),
  ...under('agent_settings.llm', [
    'provider_connection_id',
    'openrouter_site_url',
    'openrouter_app_name',
    'log_completions_folder',
    'usage_id',
    'api_version',
    'aws_region_name',
    'aws_profile_name',
    'aws_role_name',
    'aws_session_name',
    'aws_bedrock_runtime_endpoint',
    'model_canonical_name',
    'ollama_base_url',
    'custom_tokenizer',
    'reasoning_effort',
    'prompt_cache_retention',
  ]),
  ...under('agent_settings.verification', ['critic_server_url', 'critic_model_name']),
  ...under('agent_settings.agent_context', [
    'marketplace_path',
    'disabled_skills.*',
    'current_datetime',
  ]),
  ...marketplace('agent_settings.agent_context.registered_marketplaces'),
  ...under('agent_settings.agent_context.skills.*', [
    'name',
    'source',
    'version',
    'allowed_tools.*',
    'trigger.keywords.*',
    'trigger.triggers.*',
    'trigger.paths.*',
    'inputs.*.name',
    'resources.skill_root',
    'resources.scripts.*',
    'resources.references.*',
    'resources.assets.*',
  ]),
  ...under('conversation_settings', [
    'worktree_base_ref',
    'worktree_branch_prefix',
    'container_memory',
  ]),
  ...under('misc_settings.app_preferences', [
    'title_llm_profile',
    'disabled_skills.*',
    'enabled_skills.*',
  ]),
];

/** Texts that people write in sentences. They may quote a secret: only those that speak of none are shown. */
const PROSE: readonly string[] = [
  'agent_settings.persona',
  ...under('agent_settings.agent_context', ['system_message_suffix', 'user_message_suffix']),
  ...under('agent_settings.agent_context.skills.*', [
    'content',
    'description',
    'license',
    'compatibility',
    'inputs.*.description',
  ]),
];

function under(place: string, members: readonly string[]): string[] {
  return members.map((member) => `${place}.${member}`);
}

function marketplace(list: string): string[] {
  return under(`${list}.*`, ['name', 'source', 'ref', 'repo_path', 'auto_load.*']);
}

const PLACES = asPaths(LISTED);
const PROSE_PLACES = asPaths(PROSE);

function asPaths(list: readonly string[]): readonly Path[] {
  return list.map((at) => at.split('.'));
}

/**
 * What of a value that a service has may be shown: all of it, nothing, or, because its form at a listed place is that of a secret, what
 * is none. `nodes` is what the schema has at its place.
 */
function shownAt(
  path: Path,
  value: string | number,
  nodes: readonly SchemaNode[],
): 'all' | 'bare' | 'nothing' {
  if (typeof value === 'number')
    return isFieldPlace(path) || nodes.some(isNumber) ? 'all' : 'nothing';
  if (nodes.some((node) => node.const === value || node.enum?.includes(value) === true))
    return 'all';
  if (PROSE_PLACES.some((place) => isAt(place, path)))
    return isShownProse(value) ? 'all' : 'nothing';
  if (!isFieldPlace(path) && !PLACES.some((place) => isAt(place, path))) return 'nothing';
  if (isId(path, value)) return 'all';
  // A name is one word or few: a sentence in its place may quote a secret.
  const isSentence = /\s/.test(value.trim());
  return (isSentence ? isShownProse(value) : !holdsSecretText(value)) ? 'all' : 'bare';
}

/** Whether a text in sentences may be shown. */
function isShownProse(text: string): boolean {
  return !holdsSecretText(text) && !speaksOfSecrets(text);
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** What a service has made up to tell its own things apart, and not a key. */
function isId(path: Path, value: string): boolean {
  return path.at(-1)?.endsWith('_id') === true && UUID.test(value);
}

/** Whether a field of the specification is at a place, under its name or in the nesting of later servers. */
function isFieldPlace(path: Path): boolean {
  const [name = '', ...inner] = path;
  const field = inner.length === 0 ? fieldNamed(name) : fieldAtNative(path);
  return field !== undefined && !field.secret;
}

function isNumber({ type }: SchemaNode): boolean {
  return [type].flat().some((one) => one === 'integer' || one === 'number');
}

function isAt(place: Path, path: Path): boolean {
  return (
    place.length === path.length && place.every((key, index) => key === '*' || key === path[index])
  );
}
