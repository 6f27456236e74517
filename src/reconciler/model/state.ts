import type { Dialect, DialectName } from './dialect.ts';
import type { Field } from './field.ts';
import type { GuardSettings } from './guard.ts';
import type { Path, Source } from './path.ts';
import type { Warning } from './error.ts';
import type { SchemaLock } from './native-schema.ts';
import type { Secret } from './secret.ts';
import { sameValue, type Value, type ValueRecord } from './value.ts';

/**
 * A declared field with its references resolved. Environments that declare it by the same node of a file, without a reference, have the
 * same object: computed results can be remembered by it. It never changes.
 */
export interface DesiredField {
  readonly field: Field;
  readonly value: Value;
  /** The place of a value; the path is relative to settings, and an mcp entry is addressed by its index. */
  readonly source: (path?: Path) => Source;
  /** The block next to the settings that declares it by name; absent if the settings do. */
  readonly block?: NamedSettings;
}

/** The settings that a block of the file declares by name. */
export interface NamedSettings {
  readonly name: 'mcp_servers' | 'marketplaces' | 'disabled_skills';
  /** The mcp servers that are to be removed. Those that are named nowhere are left alone. */
  readonly removed: readonly string[];
  /** The place that removes unnamed servers; absent if they are left alone. */
  readonly others?: OtherServers;
}

/** The removal of the mcp servers that the file does not name. */
export interface OtherServers {
  readonly source: Source;
  /** The servers that the file lists as unmanaged: their names, and their declarations. */
  readonly left: { readonly names: readonly string[]; readonly lists: Value };
}

/** A reference without a value: its path under settings, why it has none, and the reference. */
export interface MissingReference {
  readonly path: Path;
  readonly reason: string;
  readonly ref: string;
}

/**
 * An item of a block that declares several. `values` are its parts that may be references, by the paths that plans have for them; `isText`
 * if it is not one that is rotated.
 */
export interface DeclaredItem {
  readonly values?: readonly {
    readonly path: Path;
    readonly value: Value;
    readonly isText?: true;
  }[];
  readonly source: Source;
}

/** The features of certain dialects, and the message for the others. */
export interface OnlyOn {
  readonly dialects: readonly DialectName[];
  readonly otherwise: string;
}

/** A declared path that a run skips (`--without`), as plans call it and as it was given. */
export interface SkippedPath {
  readonly path: Path;
  readonly given: string;
  /** The references in it, as the file writes them; null if there are none. */
  readonly ref: string | null;
  /** The names that an item of a collection may have on the service. */
  readonly names: readonly string[];
  /** The mcp entry or item that it is a member of; absent if it is all of one. */
  readonly of?: Path;
  /** Other paths that call an mcp entry. */
  readonly calls?: readonly Path[];
  /** True if the run is limited to other parts (`--only`), so that it is not compared and not listed. */
  readonly isOfOnly?: true;
}

/** The parts that a run is limited to (`--only`): as given, those that the environment declares, and all that it declares. */
export interface OnlyParts {
  readonly given: readonly string[];
  readonly matched: readonly string[];
  readonly available: readonly string[];
}

/** The declarations of one environment. Contains only managed fields, in the order of the specification. */
export interface DesiredState {
  /** The declared fields, without those that the file lists as unmanaged. */
  readonly fields: readonly DesiredField[];
  /** An apply refuses to begin with any; a plan compares everything around them. */
  readonly missing: readonly MissingReference[];
  /** The paths that the file lists as unmanaged. */
  readonly unmanaged: readonly Path[];
  /** The parts that this run skips: not compared, not written and not removed. Absent if there are none. */
  readonly left?: readonly SkippedPath[];
  /** The parts that this run is limited to; absent if it is not. */
  readonly onlyParts?: OnlyParts;
  /** The declared items, by block. Nothing of an absent block is read or changed. */
  readonly items: ReadonlyMap<string, readonly DeclaredItem[]>;
  /** The blocks that name all that a service may have, each with the place of that declaration: items that they do not name are removed. */
  readonly exhaustive?: ReadonlyMap<string, Source>;
  /** The parts of the items that not every service supports. */
  readonly only?: readonly OnlyOn[];
  /** Names in it that it does not declare, by the paths that their items would have. */
  readonly unknownNames?: readonly Warning[];
  readonly guards: GuardSettings;
  /** The lock next to the file; absent if it does not exist, or no native part could need it. */
  readonly lock?: SchemaLock;
}

/** Returns the declared items of a block in the block's own type. */
export function listBlockItems(
  { items }: Pick<DesiredState, 'items'>,
  block: string,
): readonly DeclaredItem[] {
  return items.get(block) ?? [];
}

/** The connection to a service, with secrets resolved. */
export interface ServerSettings {
  /** The address without a trailing slash, path prefix included; or `embedded:` and what follows it. */
  readonly url: string;
  /** The printable form of the url: the reference, if it came from one. */
  readonly origin: string;
  /** The address of the automation service, if it has another one; `origin` is its printable form. */
  readonly automation?: { readonly url: string; readonly origin: string };
  readonly apiKey: Secret | null;
  readonly auth: 'session-key' | 'bearer' | 'both';
  /** The dialect of the service's settings; `auto` detects it. */
  readonly dialect: DialectName | 'auto';
  readonly headers: ReadonlyMap<string, Secret>;
  readonly caFile: string | null;
  /** The client certificate for TLS: the path of a PEM file, or its text. */
  readonly clientCert: string | null;
  /** The private key of the client certificate: the path of a PEM file, or its text. */
  readonly clientKey: Secret | null;
  /** True if secrets that the service masks are read in clear for comparison. */
  readonly compareSecrets: boolean;
}

/** The state of a secret, if the service reports it. */
export type SecretState = 'stored' | 'not-stored' | 'not-reported';

/** The service's answer, under setpoint's names of the fields. Sensitive values are wrapped. */
export interface ObservedState {
  readonly dialect: Dialect;
  /** The release of the service that the answer shows: `1.6`, `1.9 or 1.10`; exact if the service was asked. Null if nothing shows it. */
  readonly release: string | null;
  /** The evidence of a release later than setpoint knows, and how it is treated; absent without any. */
  readonly newer?: string;
  /** The age of an answer that a cache in front of the service gave, in seconds; 0 if it is not known. Absent if none did. */
  readonly cachedFor?: number;
  /** True if anything is stored. An empty store has no values. */
  readonly stored: boolean;
  /** Every field that the service shows, also those that this version does not know. */
  readonly values: ValueRecord;
  /** Every field that holds a secret. */
  readonly secrets: ReadonlyMap<string, SecretState>;
  /** The secrets that the service has shown on request, to be compared and for nothing else. Those of mcp entries are in `values`. */
  readonly revealed?: ReadonlyMap<string, Secret>;
  /** The names of the provider tokens that are stored in secrets_store. */
  readonly tokens: readonly string[];
  /** Fields that this version does not know, that are stored, and whose values the service does not show. */
  readonly hidden: readonly string[];
  /** The answer itself: for the dialect that made it, to write what planning leaves alone, and for what shows and saves it. */
  readonly answer: ValueRecord;
  /** True if a service that always answers a record shows only defaults: it is new, or cannot read its store. */
  readonly untouched?: boolean;
  /** Places without a secret that by all around them have had one. */
  readonly bare?: readonly Path[];
  /** The warnings of a plan that no field of the file causes. */
  readonly cautions?: readonly Caution[];
  /** The targets of the declared pointers, by field, where they differ from the service's; absent if it was not asked. */
  readonly pointed?: ReadonlyMap<string, PointerTarget>;
  /** The LLM profiles, on services that keep one active only as long as the llm is the one of it; absent if there are none. */
  readonly profiles?: LlmProfiles;
  /** The organisation that a write reaches; absent if the service has none, or was not asked. */
  readonly organization?: Organization;
  /** Predicts what a write makes of this state; null if it must not be sent. Absent if nothing is stored, or no effects are known. */
  readonly predict?: (write: SettingsWrite, state: ObservedState) => Prediction | null;
  /** Explains why a write of these settings must not be sent; null if it may be. Absent if any may. */
  readonly unwritable?: (write: SettingsWrite) => string | null;
  /** True if this was read from a snapshot: the service knows what is masked there, and a write would not lose it. */
  readonly saved?: boolean;
}

/** The target of a pointer of the settings. `broken`: it exists, and the service cannot activate it. */
export interface PointerTarget {
  readonly is: 'there' | 'missing' | 'broken';
  /** The llm that it stands for, as it is stored; null if it has none, or nothing shows it. */
  readonly llm: ValueRecord | null;
}

/** The llm of each profile by its name, as the service shows it, and the name of the active one; null if none is. */
export interface LlmProfiles {
  readonly active: string | null;
  readonly llms: ValueRecord;
}

/** What is known of the settings of a service after a request, before it is sent. */
export interface Prediction {
  /** The settings that the service will show. */
  readonly expected: ObservedState;
  /** Each stored value that becomes another: its place in the nesting of the server, and both values. */
  readonly differences: readonly (readonly [place: Path, before: Value, after: Value])[];
}

/** A warning that the answer itself gives. `about`: only a plan that changes one of these fields has it; null: every plan with a change. */
export interface Caution {
  readonly warning: Warning;
  readonly about: readonly string[] | null;
}

/** The detected dialect of a service, as documents name it; null if it was not observed. */
export interface ServiceDialect {
  readonly dialect: DialectName | null;
  /** As in `ObservedState`. */
  readonly release: string | null;
}

/** The mcp servers that a file declares, in a block of their own or in the settings; undefined if it declares none. */
export function findDeclaredServers({
  fields,
}: Pick<DesiredState, 'fields'>): DesiredField | undefined {
  return fields.find(({ field }) => field.name === 'mcp_config');
}

export const NOT_OBSERVED: ServiceDialect = { dialect: null, release: null };

export function describeDialectVersion({ dialect, release }: ObservedState): ServiceDialect {
  return { dialect: dialect.name, release };
}

/** Reports whether two observations show the same. */
export function sameState(a: ObservedState, b: ObservedState): boolean {
  return a.stored === b.stored && sameValue(a.answer, b.answer);
}

/**
 * Reports whether the store is still empty. A service that answers a record all the same counts as empty if nothing in the record differs
 * from its record of an empty store.
 */
export function isEmptyStore({ stored, untouched = false }: ObservedState): boolean {
  return !stored || untouched;
}

/** The fields to write, by setpoint's names, and the observation that they were planned on: it contains the values that stay unchanged. */
export interface SettingsWrite {
  readonly fields: ValueRecord;
  readonly observed: ObservedState;
}

/**
 * The organisation in which a service stores the writes of a key: for a service that has organisations. Unreported parts are null.
 * Source: behaviour 7.
 */
export interface Organization {
  readonly id: string | null;
  readonly name: string | null;
  /** True for a workspace of the key's owner alone. */
  readonly personal: boolean;
  readonly members: number | null;
  /** The role of the key's owner in it. */
  readonly role: string | null;
  readonly key: {
    readonly name: string | null;
    /** The id of its owner. */
    readonly user: string | null;
    /** True if it always belongs to this organisation. Otherwise it follows its owner, who may switch to another. */
    readonly bound: boolean | null;
  };
}
