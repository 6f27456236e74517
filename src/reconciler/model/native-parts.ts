import { fieldNamed, fields, type Field } from './field.ts';
import { isWithin, pathNamed, type Path } from './path.ts';

/** The members at the top of the settings that later servers have and the specification does not name. */
export const NATIVE_PARTS: ReadonlySet<string> = new Set([
  'agent_settings',
  'conversation_settings',
  'misc_settings',
  'user_version',
  'disabled_skills',
  'git_full_clone',
  'sandbox_grouping_strategy',
  'default_sandbox_spec_id',
  'registered_marketplaces',
  'active_profile',
  'active_agent_profile_id',
  'active_meta_profile',
]);

/** Whether a path is in a native part, or is one. */
export function isNativePath([first]: Path): boolean {
  return first !== undefined && NATIVE_PARTS.has(first);
}

/** The native place of all mcp servers by their names. */
export const NATIVE_SERVERS: Path = ['agent_settings', 'mcp_config'];

/** The fields of the specification whose native place is under a path, or is that path. */
export function fieldsWithin(path: Path): readonly Field[] {
  return fields().filter(({ native }) => native !== null && isWithin(native, path));
}

/** The part that describes the agent of new conversations, and the kind of agent, with which all of it begins anew. */
export const AGENT_PART: Path = ['agent_settings'];
export const AGENT_KIND: Path = ['agent_settings', 'agent_kind'];

/** The profile of a model that is active. */
export const ACTIVE_PROFILE: Path = ['active_profile'];

/** The model's own part, which an active profile takes the place of. */
export const MODEL_PART: Path = ['agent_settings', 'llm'];

/** Whether what plans call by a name is in a native part, be it a field of the specification or not. */
export function isNamedWithin(name: string, part: Path): boolean {
  const native = fieldNamed(name)?.native ?? pathNamed(name);
  return isWithin(native, part);
}
