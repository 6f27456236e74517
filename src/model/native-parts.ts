import { fieldAtNative, fields, type Field } from './field.ts';
import { isWithin, type Path } from './path.ts';

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

/** The native place of all mcp servers by their names. */
export const NATIVE_SERVERS: Path = ['agent_settings', 'mcp_config'];

/** The path that plans have for a native one: that of the field of the specification which it means, if there is one. */
export function planPath(path: Path): Path {
  const field = fieldAtNative(path);
  return field === undefined ? path : [field.name];
}

/** The fields of the specification whose native place is under a path, or is that path. */
export function fieldsWithin(path: Path): readonly Field[] {
  return fields().filter(({ native }) => native !== null && isWithin(native, path));
}
