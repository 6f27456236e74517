import { fieldAtNative, fieldNamed } from './field.ts';
import type { SchemaNode } from './json-schema.ts';
import type { Path } from './path.ts';
import { holdsSecretText, speaksOfSecrets } from './secret-words.ts';

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
export function shownAt(
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
export function isShownProse(text: string): boolean {
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
