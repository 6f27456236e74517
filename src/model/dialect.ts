import type { FieldName } from './field.ts';
import type { Value } from './value.ts';

/** `settings-v0` is the dialect of the specification: GET and POST /api/settings. */
export type DialectName = 'settings-v0';

/**
 * What the services of one dialect can do, as data that planning reads. The requests are in `service/`, in a folder of
 * the same name.
 */
export interface Dialect {
  readonly name: DialectName;
  /** `record`: a write replaces the whole record, so what it leaves out is lost. `fields`: what it leaves out is kept. */
  readonly writes: 'record' | 'fields';
  /** The fields that these services have. */
  readonly fields: ReadonlyMap<string, DialectField>;
}

export interface DialectField {
  readonly name: FieldName;
  /** What a read shows: the `value`, whether one is stored (`presence`), the `names` of what is stored, or `nothing`. */
  readonly reads: 'value' | 'presence' | 'names' | 'nothing';
  /** What a written null does. */
  readonly onNull: 'clears' | 'keeps' | 'refuses';
  /** What clears the field if null does not; null if nothing else does. */
  readonly clearWith: '' | null;
  /** What the field is in a stored record that leaves it out. */
  readonly absent: Value;
}
