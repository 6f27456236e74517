import type { SchemaLock } from '../model/native-schema.ts';
import type { ValueRecord } from '../model/value.ts';
import type { SecretKey } from './secret-keys.ts';

/** The members of a SettingsTarget that are read here, as the API server returns it. */
export interface SettingsTarget {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: TargetSpec;
}

export interface TargetSpec extends ValueRecord {
  readonly server: ValueRecord;
  readonly mode: 'Observe' | 'Apply';
}

/** The input of a reader next to the object. */
export interface TargetInput {
  /** The text that `settingsFrom` names; null if there is no such ConfigMap or key. */
  readonly settings?: string | null;
  /** Members of the servers beyond those known here. */
  readonly lock?: SchemaLock;
  /** Reports whether a Secret has a key and a value under it. An optional key that is missing is left out. */
  readonly hasKey?: (secret: SecretKey) => boolean;
}
