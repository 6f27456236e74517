import type { FieldName } from './field.ts';
import type { McpList } from './mcp.ts';
import type { Value } from './value.ts';

/**
 * `settings-v0` is the dialect of the specification: GET and POST /api/settings. `app-server` took its place in release 1.7 of the
 * service: GET and POST /api/v1/settings. `agent-server` is that of another server, which runs agents itself: GET and PATCH
 * /api/settings.
 */
export type DialectName = 'settings-v0' | 'app-server' | 'agent-server';

/**
 * The abilities of the services of one dialect, as data that planning reads. The requests are in `service/`, in a folder of the same name.
 *
 * 1. Must have a `name`, and `fields` with what null does to each.
 * 2. Must set `writes` and `mcp` to what a write loses.
 * 3. Must set `nullsMayHide` if one masked secret makes each null doubtful.
 * 4. Must name in `lacks` who has each field that is missing.
 * 5. May have `entryMembers`, `timeouts`, `authHeader`, `undecryptable`, `native` and `unstorable`, where the services limit or change
 *    what is sent.
 *
 * @example
 * export const SETTINGS_V0: Dialect = {
 *   name: 'settings-v0',
 *   writes: 'record',
 *   mcp: 'config',
 *   nullsMayHide: false,
 *   fields: new Map([[LANGUAGE.name, LANGUAGE]]),
 *   lacks: new Map([['disabled_skills', 'release 1.6 or later']]),
 * };
 */
export interface Dialect {
  readonly name: DialectName;
  /** `record`: a write replaces the whole record, and omitted members are lost. `fields`: omitted members are preserved. */
  readonly writes: 'record' | 'fields';
  /**
   * The effect of a write of mcp_config. `config`: it replaces all entries, and omitted members of one are lost. `entries`: omitted members
   * of an entry are preserved.
   */
  readonly mcp: 'config' | 'entries';
  /** The members that an entry of each mcp list has; absent if these are all that a server may have. */
  readonly entryMembers?: Readonly<Record<McpList, readonly string[]>>;
  /** The least and the most seconds, as a whole number, that a timeout of an entry may have; absent if any number may be one. */
  readonly timeouts?: readonly [least: number, most: number];
  /** A header of an mcp entry that these services take out of its headers, to keep it as `auth`. */
  readonly authHeader?: string;
  /** True if an answer that masks one secret of an mcp entry may answer null for another that is stored. */
  readonly nullsMayHide: boolean;
  /**
   * The things to check if no secret reads as stored any more. These services answer so if they cannot decrypt their content, and some lose
   * it by the next write. Absent if a service that answers so has none.
   */
  readonly undecryptable?: string;
  /** The fields that these services have. */
  readonly fields: ReadonlyMap<string, DialectField>;
  /** Facts about native fields beyond their schema, by their names; for services that have them. */
  readonly native?: ReadonlyMap<string, Pick<DialectField, 'onNull'>>;
  /** The fields that these services do not have, each with the services that do, in words. */
  readonly lacks: ReadonlyMap<string, string>;
  /** Secrets that these services do not keep as they are sent. */
  readonly unstorable?: readonly Unstorable[];
}

/** A form of texts that must not be sent where the service keeps them as a secret. */
export interface Unstorable {
  readonly form: RegExp;
  /** The problem of such a text, in words that follow its name. */
  readonly because: string;
}

export interface DialectField {
  readonly name: string;
  /** The result of a read: the `value`, whether one is stored (`presence`), the `names` of stored values, or `nothing`. */
  readonly reads: 'value' | 'presence' | 'names' | 'nothing';
  /** The effect of a written null; `resets` restores the value of a field that was never set, which is `absent`. */
  readonly onNull: 'clears' | 'keeps' | 'refuses' | 'resets';
  /** The value that clears the field if null does not; it reads back as such. Null if no other value does. */
  readonly clearWith: string | null;
  /** The value of the field in a stored record that leaves it out. */
  readonly absent: Value;
  /** True if a stored null is a value of its own. Otherwise it is the same as a missing one. */
  readonly storesNull?: boolean;
  /** The rule for a value next to its type: at least a number, one of some words, or not empty. */
  readonly accepts?:
    | { readonly least: number }
    | { readonly oneOf: readonly string[] }
    | { readonly filled: true };
  /** Fields that a change of this one clears along if they read null, because the service keeps what it has inferred. */
  readonly renews?: readonly FieldName[];
  /** Values that these services answer as null. */
  readonly shownAsNull?: PrefixDefaults;
  /** Which services keep a stored value although null is sent, and nothing else clears it; absent: all of the dialect. */
  readonly kept?: string;
  /** The change to a sent value, if the service does not store it. */
  readonly loses?: string;
}

/** Values of a field, each behind what the value of another begins with. */
export interface PrefixDefaults {
  readonly field: FieldName;
  readonly values: Iterable<readonly [string, string]>;
}
