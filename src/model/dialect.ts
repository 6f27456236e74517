import type { FieldName } from './field.ts';
import type { Value } from './value.ts';

/**
 * `settings-v0` is the dialect of the specification: GET and POST /api/settings. `app-server` took its place in release 1.7 of the
 * service: GET and POST /api/v1/settings.
 */
export type DialectName = 'settings-v0' | 'app-server';

/**
 * What the services of one dialect can do, as data that planning reads. The requests are in `service/`, in a folder of
 * the same name.
 */
export interface Dialect {
  readonly name: DialectName;
  /** `record`: a write replaces the whole record, so what it leaves out is lost. `fields`: what it leaves out is kept. */
  readonly writes: 'record' | 'fields';
  /** Whether an answer that masks one secret of an mcp entry may answer null for another that is stored. */
  readonly nullsMayHide: boolean;
  /** The fields that these services have. */
  readonly fields: ReadonlyMap<string, DialectField>;
  /** The fields that these services do not have, each with the services that do, in words. */
  readonly lacks: ReadonlyMap<string, string>;
}

export interface DialectField {
  readonly name: FieldName;
  /** What a read shows: the `value`, whether one is stored (`presence`), the `names` of what is stored, or `nothing`. */
  readonly reads: 'value' | 'presence' | 'names' | 'nothing';
  /** What a written null does; `resets` brings back what the field is if nobody has set it, which is `absent`. */
  readonly onNull: 'clears' | 'keeps' | 'refuses' | 'resets';
  /** What clears the field if null does not; it reads back as such. Null if nothing else does. */
  readonly clearWith: string | null;
  /** What the field is in a stored record that leaves it out. */
  readonly absent: Value;
  /** What a value must be besides its type: at least a number, one of some words, or not empty. */
  readonly accepts?:
    | { readonly least: number }
    | { readonly oneOf: readonly string[] }
    | { readonly filled: true };
  /** Fields that a change of this one sends along if they read null, because the service keeps what it has inferred. */
  readonly renews?: readonly FieldName[];
  /** Values that these services answer as null. */
  readonly shownAsNull?: DefaultsBy;
  /** What becomes of a value that is sent, if the service does not keep it. */
  readonly loses?: string;
}

/** The values of a field by what the value of another begins with. */
export interface DefaultsBy {
  readonly field: FieldName;
  readonly values: ReadonlyMap<string, string>;
}
