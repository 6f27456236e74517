import type { Dialect, DialectName } from './dialect.ts';
import type { Field } from './field.ts';
import type { GuardSettings } from './guard.ts';
import type { Path, Source } from './path.ts';
import type { DesiredSandboxes } from './sandbox.ts';
import type { Secret } from './secret.ts';
import { sameValue, type Value, type ValueRecord } from './value.ts';

/** A declared field with its references resolved. */
export interface DesiredField {
  readonly field: Field;
  readonly value: Value;
  /** The place of a value; the path is relative to settings, and an mcp entry is addressed by its index. */
  readonly source: (path?: Path) => Source;
}

/** A reference without a value: its path under settings, why it has none, and the reference. */
export interface MissingReference {
  readonly path: Path;
  readonly reason: string;
  readonly ref: string;
}

/** What the file of one environment declares. Only managed fields are in it, in the order of the specification. */
export interface DesiredState {
  readonly fields: readonly DesiredField[];
  /** An apply refuses to begin with any; a plan compares everything around them. */
  readonly missing: readonly MissingReference[];
  /** The paths that the file lists as unmanaged. */
  readonly unmanaged: readonly Path[];
  /** If there are none, the service's sandboxes are neither read nor changed. */
  readonly sandboxes: readonly DesiredSandboxes[];
  readonly guards: GuardSettings;
}

/** How a service is reached, with secrets resolved. */
export interface ServerSettings {
  /** The address without a trailing slash, path prefix included; or `embedded:` and what follows it. */
  readonly url: string;
  /** What may be shown of the url: the reference, if it came from one. */
  readonly origin: string;
  readonly apiKey: Secret | null;
  readonly auth: 'session-key' | 'bearer' | 'both';
  /** How the service speaks of its settings; `auto`: that is found out. */
  readonly dialect: DialectName | 'auto';
  readonly headers: ReadonlyMap<string, Secret>;
  readonly caFile: string | null;
}

/** Whether a secret is stored, as far as the service reports it. */
export type SecretState = 'stored' | 'not-stored' | 'not-reported';

/** What the service answered, by setpoint's own names of the fields. Sensitive values are wrapped. */
export interface ObservedState {
  readonly dialect: Dialect;
  /** Whether anything is stored. An empty store has no values. */
  readonly stored: boolean;
  /** Every field that the service shows, also those that this version does not know. */
  readonly values: ValueRecord;
  /** Every field that holds a secret. */
  readonly secrets: ReadonlyMap<string, SecretState>;
  /** The names of the provider tokens that are stored in secrets_store. */
  readonly tokens: readonly string[];
  /** Fields that this version does not know, that are stored, and whose values the service does not show. */
  readonly hidden: readonly string[];
  /** The answer itself: for the dialect that made it, to write what planning leaves alone, and for what shows and saves it. */
  readonly answer: ValueRecord;
  /** Whether this was read from a snapshot: what is masked there is known to the service, and a write would not lose it. */
  readonly saved?: boolean;
}

/** Whether two observations show the same. */
export function sameState(a: ObservedState, b: ObservedState): boolean {
  return a.stored === b.stored && sameValue(a.answer, b.answer);
}
