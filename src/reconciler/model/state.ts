import type { Dialect, DialectName } from './dialect.ts';
import type { Field } from './field.ts';
import type { GuardSettings } from './guard.ts';
import type { Path, Source } from './path.ts';
import type { Warning } from './error.ts';
import type { SchemaLock } from './native-schema.ts';
import type { Secret } from './secret.ts';
import { sameValue, type Value, type ValueRecord } from './value.ts';

/**
 * A declared field with its references resolved. Environments that declare it by the same node of a file, without a reference, have
 * the same object, so that what was computed of it can be remembered by it. It never changes.
 */
export interface DesiredField {
  readonly field: Field;
  readonly value: Value;
  /** The place of a value; the path is relative to settings, and an mcp entry is addressed by its index. */
  readonly source: (path?: Path) => Source;
  /** The block beside the settings that declares it by name; absent if the settings do. */
  readonly block?: NamedSettings;
}

/** What a block of the file says of the settings by name. */
export interface NamedSettings {
  readonly name: 'mcp_servers' | 'marketplaces' | 'disabled_skills';
  /** The mcp servers that are to be removed. Those that are named nowhere are left alone. */
  readonly removed: readonly string[];
  /** Where those that are named nowhere are to be removed, too; absent if they are left alone. */
  readonly others?: OtherServers;
}

/** The removal of the mcp servers that the file does not name. */
export interface OtherServers {
  readonly source: Source;
  /** Those that the file lists as unmanaged: their names, and what the file declares of them. */
  readonly left: { readonly names: readonly string[]; readonly lists: Value };
}

/** A reference without a value: its path under settings, why it has none, and the reference. */
export interface MissingReference {
  readonly path: Path;
  readonly reason: string;
  readonly ref: string;
}

/**
 * An item of a block that declares several. `values` is what of it may be a reference, by the paths that plans have for it; `isText` if it
 * is none that is rotated.
 */
export interface DeclaredItem {
  readonly values?: readonly {
    readonly path: Path;
    readonly value: Value;
    readonly isText?: true;
  }[];
  readonly source: Source;
}

/** What the services of some dialects alone have, and what is said of the others. */
export interface OnlyOn {
  readonly dialects: readonly DialectName[];
  readonly otherwise: string;
}

/** What a run leaves as it is although the file declares it (`--without`): its path in plans, and how that was given. */
export interface Left {
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
}

/** What the file of one environment declares. Only managed fields are in it, in the order of the specification. */
export interface DesiredState {
  readonly fields: readonly DesiredField[];
  /** An apply refuses to begin with any; a plan compares everything around them. */
  readonly missing: readonly MissingReference[];
  /** The paths that the file lists as unmanaged. */
  readonly unmanaged: readonly Path[];
  /** What is not in it for this run alone: it is not compared, not written and not removed. Absent if there is nothing. */
  readonly left?: readonly Left[];
  /** What is declared item by item, by block; of a block that is not there nothing is read or changed. */
  readonly items: ReadonlyMap<string, readonly DeclaredItem[]>;
  /** The blocks that name all that a service may have, each with the place that says so: what they do not name is removed. */
  readonly exhaustive?: ReadonlyMap<string, Source>;
  /** What not every service has of the items. */
  readonly only?: readonly OnlyOn[];
  /** Names in it that it does not declare, by the paths that their items would have. */
  readonly unknownNames?: readonly Warning[];
  readonly guards: GuardSettings;
  /** The lock beside the file; absent if there is none, or no native part that it could be about. */
  readonly lock?: SchemaLock;
}

/** What a block declares item by item, as the block itself made it. */
export function listBlockItems(
  { items }: Pick<DesiredState, 'items'>,
  block: string,
): readonly DeclaredItem[] {
  return items.get(block) ?? [];
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
  /** Whether secrets that the service masks are read in clear, to be compared. */
  readonly compareSecrets: boolean;
}

/** Whether a secret is stored, as far as the service reports it. */
export type SecretState = 'stored' | 'not-stored' | 'not-reported';

/** What the service answered, by setpoint's own names of the fields. Sensitive values are wrapped. */
export interface ObservedState {
  readonly dialect: Dialect;
  /** The release of the service as far as the answer shows it: `1.6`, `1.9 or 1.10`; exact if the service was asked. Null if nothing shows. */
  readonly release: string | null;
  /** What shows that the service is of a later release than setpoint knows, and as what it is treated; absent if nothing does. */
  readonly newer?: string;
  /** Whether anything is stored. An empty store has no values. */
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
  /** Whether a service that always answers a record shows nothing that anybody has set: a new one, or one that cannot read its store. */
  readonly untouched?: boolean;
  /** Places without a secret that by all around them have had one. */
  readonly bare?: readonly Path[];
  /** What a plan must warn of, and no field of the file says. */
  readonly cautions?: readonly Caution[];
  /** What the declared pointers name, by their fields, where they name something else than the service does; absent if it was not asked. */
  readonly pointed?: ReadonlyMap<string, Pointed>;
  /** The LLM profiles, on services that keep one active only as long as the llm is the one of it; absent if there are none. */
  readonly profiles?: LlmProfiles;
  /** The organisation that a write reaches; absent if the service has none, or was not asked. */
  readonly organization?: Organization;
  /** Why a write of these settings must not be sent, in words; null if it may be. Absent if any may. */
  readonly unwritable?: (write: SettingsWrite) => string | null;
  /** Whether this was read from a snapshot: what is masked there is known to the service, and a write would not lose it. */
  readonly saved?: boolean;
}

/** What a pointer of the settings names. `broken`: it is there, and the service cannot make it active. */
export interface Pointed {
  readonly is: 'there' | 'missing' | 'broken';
  /** What takes the place of the llm of the settings with it; null if nothing does, or nothing shows it. */
  readonly brings: Brought | null;
}

/** The llm of each profile by its name, as the service shows it, and the name of the active one; null if none is. */
export interface LlmProfiles {
  readonly active: string | null;
  readonly llms: ValueRecord;
}

/** The values and secrets of the llm of a profile, by the names that plans have for them. */
export type Brought = Pick<ObservedState, 'values' | 'secrets'>;

/** A warning that the answer itself gives. `about`: only a plan that changes one of these fields has it; null: every plan with a change. */
export interface Caution {
  readonly warning: Warning;
  readonly about: readonly string[] | null;
}

/** What a service was found to speak, as documents name it; null if it was not observed. */
export interface Spoken {
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

export const NOT_OBSERVED: Spoken = { dialect: null, release: null };

export function describeDialectVersion({ dialect, release }: ObservedState): Spoken {
  return { dialect: dialect.name, release };
}

/** Whether two observations show the same. */
export function sameState(a: ObservedState, b: ObservedState): boolean {
  return a.stored === b.stored && sameValue(a.answer, b.answer);
}

/**
 * Whether nobody has stored anything yet. A service that answers a record all the same counts as empty if nothing in the record
 * differs from what the service makes of an empty store.
 */
export function isEmptyStore({ stored, untouched = false }: ObservedState): boolean {
  return !stored || untouched;
}

/** The fields to write, by setpoint's names, and the observation that they were planned on: it holds what stays as it is. */
export interface SettingsWrite {
  readonly fields: ValueRecord;
  readonly observed: ObservedState;
}

/**
 * The organisation in which a service keeps what a key writes: of a service that has organisations. What it does not tell is null.
 * Source: behaviour 7.
 */
export interface Organization {
  readonly id: string | null;
  readonly name: string | null;
  /** Whether it is a workspace of the key's owner alone. */
  readonly personal: boolean;
  readonly members: number | null;
  /** The role of the key's owner in it. */
  readonly role: string | null;
  readonly key: {
    readonly name: string | null;
    /** The id of its owner. */
    readonly user: string | null;
    /** Whether it is of this organisation for good. One that is not goes with its owner, who may switch to another. */
    readonly bound: boolean | null;
  };
}
