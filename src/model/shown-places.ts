import { fieldAtNative, fieldNamed } from './field.ts';
import type { SchemaNode } from './json-schema.ts';
import type { Path } from './path.ts';

/*
 * What only a service has may be a secret, whatever its place is called. Documents show of it what is at a place of this closed list, a
 * word that is one of those that a schema allows, and a number where a schema has a number; of free JSON truth values alone. A field of
 * the specification that is no secret counts as listed.
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
    'persona',
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
    'system_message_suffix',
    'user_message_suffix',
    'marketplace_path',
    'disabled_skills.*',
    'current_datetime',
  ]),
  ...marketplace('agent_settings.agent_context.registered_marketplaces'),
  ...under('agent_settings.agent_context.skills.*', [
    'name',
    'content',
    'description',
    'source',
    'version',
    'license',
    'compatibility',
    'allowed_tools.*',
    'trigger.keywords.*',
    'trigger.triggers.*',
    'trigger.paths.*',
    'inputs.*.name',
    'inputs.*.description',
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

function under(place: string, members: readonly string[]): string[] {
  return members.map((member) => `${place}.${member}`);
}

function marketplace(list: string): string[] {
  return under(`${list}.*`, ['name', 'source', 'ref', 'repo_path', 'auto_load.*']);
}

const PLACES: readonly Path[] = LISTED.map((at) => at.split('.'));

/** Whether what a service has at a place may be shown, unless its own form is that of a secret. `nodes` is what its schema has there. */
export function isShownPlace(
  path: Path,
  value: string | number,
  nodes: readonly SchemaNode[],
): boolean {
  if (isFieldPlace(path)) return true;
  if (typeof value === 'number') return nodes.some(isNumber);
  if (nodes.some((node) => node.const === value || node.enum?.includes(value) === true))
    return true;
  return PLACES.some((place) => isAt(place, path));
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
