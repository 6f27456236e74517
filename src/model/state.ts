import type { Field } from './field.ts';
import type { GuardSettings } from './guard.ts';
import type { Path } from './path.ts';
import type { DesiredSandboxes } from './sandbox.ts';
import type { Secret } from './secret.ts';
import type { Source } from './source.ts';
import type { Value, ValueRecord } from './value.ts';

/** A declared field whose references have been looked up. */
export interface DesiredField {
  readonly field: Field;
  readonly value: Value;
  /** The place of a value; the path is relative to settings, and an mcp entry is addressed by its index. */
  readonly source: (path?: Path) => Source;
}

/** A reference without a value: where it is under settings, why it has none, and the reference. */
export interface MissingReference {
  readonly path: Path;
  readonly reason: string;
  readonly ref: string;
}

/** What one target's file asks for. Only managed fields are in it; order is the specification's. */
export interface DesiredState {
  readonly fields: readonly DesiredField[];
  /** An apply refuses to begin with any; a plan compares everything around them. */
  readonly missing: readonly MissingReference[];
  /** The paths that the file lists as unmanaged. */
  readonly unmanaged: readonly Path[];
  /** Where there are none, nothing is asked of the service's sandboxes, and nothing is asked about them. */
  readonly sandboxes: readonly DesiredSandboxes[];
  readonly guards: GuardSettings;
}

/** How a target is reached. Secrets are resolved; nothing has been sent. */
export interface ServerSettings {
  /** The address without a trailing slash, path prefix included; or `embedded:` and what follows it. */
  readonly url: string;
  /** What may be shown of the url: the reference, where it came from one. */
  readonly origin: string;
  readonly apiKey: Secret | null;
  readonly auth: 'session-key' | 'bearer' | 'both';
  readonly headers: ReadonlyMap<string, Secret>;
  readonly caFile: string | null;
}

/** What the service answered. An empty store has no record; sensitive members are wrapped. */
export interface ObservedState {
  readonly dialect: Dialect;
  readonly stored: boolean;
  readonly record: ValueRecord;
  /** Whether this was read from a file: what is masked there is known to the service, and a write would not lose it. */
  readonly saved?: boolean;
}

/** What the service speaks, read from its answer: `settings-v0` is GET and POST /api/settings. */
export type Dialect = 'settings-v0';
