import { FIELDS } from './fields.gen.ts';
import { formatPath, isWithin, formatPathKey, pathNamed, type Path } from './path.ts';

export type FieldName = (typeof FIELDS)[number]['name'];

/** A place of the settings that a file can declare. There is one for each value, whichever of its names the file uses. */
export interface Field {
  /** The name in plans: that of the specification, or else its path as people write it. */
  readonly name: string;
  /** The field as a path under `settings`. */
  readonly path: Path;
  /** The place in the nesting of later servers; `path` itself if they have no other place for it. */
  readonly place: Path;
  /** Cannot be read back; posted only when the plan lists it. */
  readonly secret: boolean;
}

/** A field that the specification names, as the annotations of schemas/settings.schema.json have it. */
export interface SpecifiedField extends Field {
  readonly name: FieldName;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object';
  readonly nullable: boolean;
  readonly default: boolean | null;
  /** The member of the answer that reports whether a secret is stored. */
  readonly setFlag: string | null;
  /** The effect of null on the store: it clears, keeps the value it has, or refuses. */
  readonly onNull: 'clears' | 'keeps' | 'refuses';
  /** The value that clears a field that null does not clear. */
  readonly clearWith: '' | null;
  readonly readable: boolean;
  readonly later: boolean;
}

// Member by member: made of parts, each would have a form of its own to V8, and what reads all of them would be slower.
const SPECIFIED: readonly SpecifiedField[] = FIELDS.map((field) => ({
  name: field.name,
  path: [field.name],
  place: field.native === null ? [field.name] : field.native.split('.'),
  secret: field.secret,
  type: field.type,
  nullable: field.nullable,
  default: field.default,
  setFlag: field.setFlag,
  onNull: field.onNull,
  clearWith: field.clearWith,
  readable: field.readable,
  later: field.later,
}));

const BY_NAME: ReadonlyMap<string, SpecifiedField> = new Map(
  SPECIFIED.map((field) => [field.name, field]),
);

/** The field of the specification that has a name. */
export function fieldNamed(name: string): SpecifiedField | undefined {
  return BY_NAME.get(name);
}

/** The fields of the specification in its order. */
export function fields(): readonly SpecifiedField[] {
  return SPECIFIED;
}

const BY_PLACE: ReadonlyMap<string, SpecifiedField> = new Map(
  SPECIFIED.filter(hasTwoNames).map((field) => [formatPathKey(field.place), field]),
);

/** Reports whether a file can declare a field under a name of the specification and in the nesting of later servers. */
export function hasTwoNames({ path, place }: Field): boolean {
  return place.length > path.length;
}

/** The field of the specification that a native path means: there is one name in plans for both. */
export function fieldAtNative(path: Path): SpecifiedField | undefined {
  return BY_PLACE.get(formatPathKey(path));
}

/** The field at a path that the specification has no name for. */
export function createUnnamedField(path: Path, secret: boolean): Field {
  return { name: formatPath(path), path, place: path, secret };
}

/** The path of the field that a path in a plan leads into: that of an mcp entry leads into the whole config. */
export function findFieldPath(path: Path): Path {
  const [name = ''] = path;
  return fieldNamed(name === 'mcp_servers' ? 'mcp_config' : name)?.path ?? path;
}

/** The place of what plans call by a name. */
export function placeNamed(name: string): Path {
  return fieldNamed(name)?.place ?? pathNamed(name);
}

/** Reports whether a name in plans is at a place, or inside it. */
export function isNamedWithin(name: string, place: Path): boolean {
  return isWithin(placeNamed(name), place);
}

/** The fields of the specification that later servers have inside a place, or at it. */
export function fieldsWithin(place: Path): readonly SpecifiedField[] {
  return fields().filter((field) => hasTwoNames(field) && isWithin(field.place, place));
}

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

/** Reports whether a path is in a native part, or is one. */
export function isNativePath([first]: Path): boolean {
  return first !== undefined && NATIVE_PARTS.has(first);
}

/** The native place of all mcp servers by their names. */
export const NATIVE_SERVERS: Path = ['agent_settings', 'mcp_config'];

/** The part that describes the agent of new conversations, and the kind of agent: another kind resets all of it. */
export const AGENT_PART: Path = ['agent_settings'];
export const AGENT_KIND: Path = ['agent_settings', 'agent_kind'];

/** The profile of a model that is active. */
export const ACTIVE_PROFILE: Path = ['active_profile'];

/** The model's own part, which an active profile replaces. */
export const MODEL_PART: Path = ['agent_settings', 'llm'];

/** Members by which a server judges how much a model can be told at once. */
const OF_WINDOW: readonly Path[] = [
  ['llm_model'],
  [...MODEL_PART, 'model'],
  [...MODEL_PART, 'max_input_tokens'],
];

/**
 * What to look at first if a write that changes the model is refused without a word: servers refuse one that can be told too little at once. Empty if it changes none. Source: contract
 * "profiles: refused values".
 */
export function modelHint(fields: Readonly<Record<string, unknown>>): string {
  const isWritten = OF_WINDOW.some((path) =>
    Object.keys(fields).some(
      (name) => isWithin(pathNamed(name), path) || isWithin(path, pathNamed(name)),
    ),
  );
  return isWritten
    ? 'Check llm_model: servers refuse a model whose context window is below 16,384 tokens, unless max_input_tokens says more. '
    : '';
}
