import type { SchemaLock } from '../model/native-schema.ts';
import type { ValueRecord } from '../model/value.ts';
import type { SecretKey } from './secret-keys.ts';

/** What of a SettingsTarget is read here, as the API server hands it out. */
export interface SettingsTarget {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: TargetSpec;
}

export interface TargetSpec extends ValueRecord {
  readonly server: ValueRecord;
  readonly mode: 'Observe' | 'Apply';
}

/** What a reader hands in besides the object. */
export interface Given {
  /** The text that `settingsFrom` names; null if there is no such ConfigMap or key. */
  readonly settings?: string | null;
  /** What the servers have besides what is known here. */
  readonly lock?: SchemaLock;
  /** Whether a Secret has a key and a value under it. What is optional, and is not there, is left out. */
  readonly hasKey?: (secret: SecretKey) => boolean;
}
