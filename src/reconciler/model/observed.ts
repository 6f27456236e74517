import type { ListedItem } from './collection.ts';
import type { Dialect, DialectField } from './dialect.ts';
import type { Path } from './path.ts';
import type { ErrorReport, FORMAT_VERSION, Tool } from './plan.ts';
import type { Spoken } from './state.ts';
import type { Json } from './value.ts';

export const RESOURCES = [
  'server',
  'settings',
  'sandboxes',
  'specs',
  'conversations',
  'secrets',
] as const;
export type Resource = (typeof RESOURCES)[number];

/** What the services of one dialect can hold. */
export interface ServerReport {
  /** `record`: a write replaces the whole record; `fields`: what it leaves out is kept. */
  readonly writes: Dialect['writes'];
  readonly fields: readonly ServerField[];
  /** The fields of a settings file that these services do not have, each with the services that do. */
  readonly lacks: readonly { readonly name: string; readonly why: string }[];
}

export interface ServerField {
  readonly name: string;
  /** What a read shows: the value, whether one is stored, the names of what is stored, or nothing. */
  readonly reads: DialectField['reads'];
  /** What null in the file does here. */
  readonly on_null: 'clears' | 'keeps' | 'refuses' | 'resets';
  /** What happens to a value that is sent, if the service does not keep it. */
  readonly loses: string | null;
}

/** A sandbox as documents carry it: no key of a session, no address. Times are ISO 8601, UTC; null if the service does not report one. */
export interface SandboxReport {
  readonly id: string;
  readonly spec: string | null;
  readonly status: string;
  readonly created_at: string | null;
}

export interface SpecReport {
  readonly id: string;
  /** Whether this spec is started if none is named: the first is. */
  readonly default: boolean;
}

export interface ConversationReport {
  readonly id: string;
  readonly sandbox: string | null;
  readonly status: string | null;
  readonly created_at: string | null;
}

/** The digest of a masked value that is a literal of the file, by its place under `settings`; lists by index. */
export interface SavedDigest {
  readonly path: Path;
  readonly digest: string;
}

/** Digests under the salt of the document: of the address with its path prefix, and of masked literals of the file. */
export interface ObservedDigests {
  /** Null if the address comes from a reference, or is not known. */
  readonly address: string | null;
  readonly values: readonly SavedDigest[];
}

/** What the service of one environment has. A resource that was not requested, or could not be read, is null. */
export interface EnvironmentObserved extends Spoken {
  readonly name: string;
  readonly origin: string | null;
  /** `stored` and `empty`: of the settings; `observed`: the settings were not requested. */
  readonly status: 'stored' | 'empty' | 'observed' | 'error';
  readonly server: ServerReport | null;
  readonly settings: Json;
  /** What a plan against this is checked with; null if the document is not for saving. */
  readonly digests: ObservedDigests | null;
  /** Their names, and no value; absent if they were not requested, null if the service has no such list. */
  readonly secrets?: readonly ListedItem[] | null;
  readonly sandboxes: readonly SandboxReport[] | null;
  readonly specs: readonly SpecReport[] | null;
  readonly conversations: readonly ConversationReport[] | null;
  readonly error: ErrorReport | null;
}

/** What `get` found, masked. schemas/observed.schema.json is its schema. */
export interface ObservedDocument {
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'observed';
  readonly tool: Tool;
  readonly observed_at: string;
  /** What its digests were made with, 128 random bits in hex; null if it has none. */
  readonly salt: string | null;
  readonly resources: readonly Resource[];
  readonly environments: readonly EnvironmentObserved[];
}
