// Generated from schemas by `npm run generate`. Do not edit.
import type { DiagnosticCode } from './diagnostic.ts';
import type { ErrorReport, Warning } from './error.ts';
import type { Resource } from './observed.ts';
import type { Path, Source } from './path.ts';
import type { Change, EnvironmentPlan, Tool, Unknown } from './plan.ts';
import type { Proof } from './proof.ts';
import type { Json } from './value.ts';
import type { WatchStatus } from './verdict.ts';
import type { JournalRecord } from './watch.ts';

/** What was checked of one environment. */
export interface EnvironmentHealth {
  /** The name of the environment. */
  readonly name: string;
  /** Scheme, host and port of its server; null if the address is not known. */
  readonly origin: string | null;
  /** The API that its server speaks; null if that is not known. */
  readonly dialect: 'settings-v0' | 'app-server' | 'agent-server' | null;
  /** The release of the service: exact if it was asked for, else as far as its answer shows it, as in "1.9 or 1.10". Null if nothing shows it. */
  readonly release: string | null;
  /** The organisation of the key; absent if the server has none, or was not asked. */
  readonly organization?: {
    readonly id: string | null;
    readonly name: string | null;
    /** Whether it is a workspace of the key's owner alone. */
    readonly personal: boolean;
    /** How many members it has. */
    readonly members: number | null;
    /** The role of the key's owner in it. */
    readonly role: string | null;
    /** The key that was sent. */
    readonly key: {
      readonly name: string | null;
      /** The id of its owner. */
      readonly user: string | null;
      /** Whether it is of this organisation for good; one that is not follows where its owner switches to. */
      readonly bound: boolean | null;
    };
  };
  /** What the service tried of what it has stored (doctor --check); absent if it was not asked to. */
  readonly proofs?: readonly Proof[];
  /** The checks of this environment, in the order in which they ran. */
  readonly checks: readonly {
    readonly name: 'references' | 'policy' | 'proxy' | 'reach' | 'key' | 'dialect' | 'organization' | 'clock' | 'logins' | 'secrets' | 'sandboxes';
    /** warning: it works, and is worth knowing; skipped: it could not be judged, because of another that failed. */
    readonly status: 'passed' | 'warning' | 'failed' | 'skipped';
    readonly found: string;
    /** What to do about a failure or a warning. */
    readonly remedy: string | null;
    /** For a failure: its code (docs/reference/exit-codes.md). doctor exits with that of the first failure. */
    readonly code: string | null;
  }[];
}

/**
 * What setpoint doctor prints as JSON: what is right and wrong with this machine, and with each environment. schemas/doctor.schema.json is its
 * schema.
 */
export interface DoctorDocument {
  /** The version of this form of document. */
  readonly format_version: '1.0';
  /** The kind of document. */
  readonly kind: 'health';
  /** The program and version that wrote the document. */
  readonly tool: Tool;
  /** Of this machine, independent of environments. */
  readonly checks: readonly {
    readonly name: 'node' | 'certificates' | 'debugging' | 'file';
    /** warning: it works, and is worth knowing; skipped: it could not be judged, because of another that failed. */
    readonly status: 'passed' | 'warning' | 'failed' | 'skipped';
    readonly found: string;
    /** What to do about a failure or a warning. */
    readonly remedy: string | null;
    /** For a failure: its code (docs/reference/exit-codes.md). doctor exits with that of the first failure. */
    readonly code: string | null;
  }[];
  /** The checks of each environment. */
  readonly environments: readonly EnvironmentHealth[];
}

/** Whether a reference is allowed: as the whole value, inside text, or nowhere. */
export type ReferenceForm = 'whole' | 'inside' | 'none';

/** What the store does with a field of the settings. */
export interface StoreReport {
  /** The effect of null in the file. */
  readonly on_null: 'clears' | 'keeps' | 'refuses';
  /** What is sent to clear a field whose store keeps it on null. */
  readonly clear_with: string | null;
  /** True if a read shows the value. */
  readonly readable: boolean;
  /** The member of an answer that reports whether a secret is stored. */
  readonly set_flag: string | null;
  /** A later addition: the oldest servers do not have it. */
  readonly later: boolean;
}

/** What a path of the file accepts and means, from the schema. */
export interface Meaning {
  /** Its purpose, in sentences. */
  readonly description: string;
  /** JSON Schema's types, but null. */
  readonly types: readonly string[];
  /** The only values allowed; empty if there is no such list. */
  readonly values: readonly string[];
  /** The least number allowed; null if there is no limit. */
  readonly minimum: number | null;
  /** The greatest number allowed; null if there is no limit. */
  readonly maximum: number | null;
  /** True if null is allowed. */
  readonly nullable: boolean;
  /** True if it must be a reference. */
  readonly secret: boolean;
  /** Whether a reference is allowed: as the whole value, inside text, or nowhere. */
  readonly reference: ReferenceForm;
  /** Absent if there is none. */
  readonly default?: Json;
  /** What a map has, each with the first sentence of its description; absent if it has no members of its own. */
  readonly members?: readonly {
    readonly name: string;
    readonly description: string;
  }[];
  /** The treatment by a server; null if it is no field of the settings. */
  readonly store: StoreReport | null;
}

/** A declared value: a reference as it is written, and everything masked that a plan would mask. */
export interface DeclaredReport {
  /** References as they are written; what a plan masks is the text (sensitive). */
  readonly value: Json;
  /** The place in the settings file. */
  readonly source: Source;
  /** The blocks at the top of the file, those of the environment, or those of the base file. */
  readonly block: Block;
}

/** A reference of the file, and whether what it names has a value; never the value. */
export interface ReferenceReport {
  /** As the file writes it. */
  readonly ref: string;
  /** The kind of its source: a variable, a file, or a secret command. */
  readonly kind: 'env' | 'file' | 'secret';
  /** The variable, the path of the file, or the command and the path of a secret. */
  readonly name: string;
  /** Whether it has a value; the value itself is never included. */
  readonly set: boolean;
  /** Why it cannot be used. */
  readonly problem: string | null;
}

/**
 * What one environment declares there, and what an apply would do about it. not-observed: the service was not read, because of --offline, or because
 * it keeps nothing of this path.
 */
export interface EnvironmentExplained {
  /** The name of the environment. */
  readonly name: string;
  /** Scheme, host and port of its server; null if the address is not known. */
  readonly origin: string | null;
  /** The API that its server speaks; null if that is not known. */
  readonly dialect: 'settings-v0' | 'app-server' | 'agent-server' | null;
  /** The release of the service: exact if it was asked for, else as far as its answer shows it, as in "1.9 or 1.10". Null if nothing shows it. */
  readonly release: string | null;
  /** Whether the service was read. */
  readonly status: 'observed' | 'not-observed' | 'error';
  /** The declaration of the environment; null if there is none. */
  readonly declared: DeclaredReport | null;
  /** Whether it is listed under unmanaged. */
  readonly unmanaged: boolean;
  /** The references in that value. */
  readonly references: readonly ReferenceReport[];
  /** The changes that an apply would make there. */
  readonly changes: readonly Change<Json>[];
  /** The values that could not be compared. */
  readonly unknown: readonly Unknown[];
  /** Remarks that stop nothing. */
  readonly warnings: readonly Warning[];
  /** The failure that ended the environment; null if none did. */
  readonly error: ErrorReport | null;
}

/**
 * explain PATH: what a place of the file is, what each environment declares there, and what an apply would do about it. schemas/explain.schema.json
 * is its schema.
 */
export interface ExplainDocument {
  /** The version of this form of document. */
  readonly format_version: '1.0';
  /** The kind of document. */
  readonly kind: 'explanation';
  /** The program and version that wrote the document. */
  readonly tool: Tool;
  /** Relative to settings, or from the top of the file for other blocks. */
  readonly path: Path;
  /** The part of the file that the path belongs to; file means everything that is never sent to the service. */
  readonly part: 'settings' | 'secrets' | 'skills' | 'plugins' | 'canvas_extensions' | 'git_providers' | 'provider_connections' | 'llm_profiles' | 'meta_profiles' | 'agent_profiles' | 'active' | 'workspace_parents' | 'workspaces' | 'webhooks' | 'automations' | 'sandboxes' | 'file';
  /** The meaning of the path. */
  readonly meaning: Meaning;
  /** The declarations, by environment. */
  readonly environments: readonly EnvironmentExplained[];
}

/** The blocks at the top of the file, those of the environment, or those of the base file. */
export type Block = 'top' | 'environment' | 'base';

/** A value without members, masked as a plan masks it. */
export interface EffectiveValue {
  /** From the top of the file; entries of lists by number. */
  readonly path: Path;
  /** References as they are written; what a plan masks is the text (sensitive). */
  readonly value: Json;
  /** The place in the settings file. */
  readonly source: Source;
  /** The blocks at the top of the file, those of the environment, or those of the base file. */
  readonly block: Block;
}

/** explain: every value of one environment, all blocks merged, with its origin. schemas/explain.schema.json is its schema. */
export interface EffectiveDocument {
  /** The version of this form of document. */
  readonly format_version: '1.0';
  /** The kind of document. */
  readonly kind: 'effective';
  /** The program and version that wrote the document. */
  readonly tool: Tool;
  /** The name of the environment. */
  readonly name: string;
  /** The values, in the order of the file. */
  readonly values: readonly EffectiveValue[];
}

export interface HeldValue {
  readonly variable: string;
  readonly file: string;
  /** The keys that lead to it in the file. */
  readonly place: string;
  /** Whether a server has encrypted it, so that the file is of no use for it. */
  readonly encrypted: boolean;
}

export interface NotTakenOver {
  readonly file: string;
  /** The keys that lead to it in the file. */
  readonly place: string;
  /** The line of the file, from 1; null if it is not known. */
  readonly line: number | null;
  readonly reason: string;
}

export interface TakenFrom {
  /** The files, in the order in which they were read: of what several say, the last holds. */
  readonly files: readonly {
    readonly file: string;
    readonly form: 'toml' | 'json' | 'yaml' | 'variables';
  }[];
  /** How many values and items the file declares. */
  readonly taken: number;
  /** Where the value of each variable is now, as far as one of the files has it. */
  readonly values: readonly HeldValue[];
  /** What could not be taken over. */
  readonly left: readonly NotTakenOver[];
}

/** What setpoint init prints as JSON: what it wrote. schemas/init.schema.json is its schema. */
export interface InitDocument {
  /** The version of this form of document. */
  readonly format_version: '1.0';
  /** The kind of document. */
  readonly kind: 'init';
  /** The program and version that wrote the document. */
  readonly tool: Tool;
  /** The name of the environment that was written. */
  readonly environment: string;
  /** Scheme, host and port of its server; null if the address is not known. */
  readonly origin: string | null;
  /** What the service speaks. */
  readonly dialect: 'settings-v0' | 'app-server' | 'agent-server';
  /** Whether the service had anything stored; unread: it was not asked. */
  readonly status: 'stored' | 'empty' | 'unread';
  /** The files, each with what happened to it. */
  readonly files: readonly {
    readonly file: string;
    readonly status: 'created' | 'extended' | 'unchanged';
  }[];
  /** The variables that the files read from now on. */
  readonly variables: readonly NewVariable[];
  /** The differences that were left unchanged, each with its reason. */
  readonly left: readonly LeftAlone[];
  /** What was read in place of a service; null if a service was. */
  readonly from: TakenFrom | null;
}

export interface ServerField {
  readonly name: string;
  /** What a read shows: the value, whether one is stored, the names of what is stored, or nothing. */
  readonly reads: 'value' | 'presence' | 'names' | 'nothing';
  /** What null in the file does; resets: the field is its default again. */
  readonly on_null: 'clears' | 'keeps' | 'refuses' | 'resets';
  /** What happens to a value that is sent, if the service does not keep it. */
  readonly loses: string | null;
}

/** What the services of one dialect can hold. */
export interface ServerReport {
  /** record: a write replaces the whole record; fields: what it leaves out is kept. */
  readonly writes: 'record' | 'fields';
  /** The fields of a settings file that these services have. */
  readonly fields: readonly ServerField[];
  /** The fields of a settings file that these services do not have, each with those that do. */
  readonly lacks: readonly {
    readonly name: string;
    readonly why: string;
  }[];
}

/** The digest of a masked value that is a literal of the file, by its place under settings; lists by index. */
export interface SavedDigest {
  readonly path: readonly string[];
  readonly digest: string;
}

/** What a plan against this is held to, HMAC-SHA-256 under the salt; null if the document has no digests. */
export interface ObservedDigests {
  /** Of the address with its path prefix; null if the file reads it from a reference. */
  readonly address: string | null;
  /** Of masked values that are literals of the file, by their path in settings. No other value has a digest. */
  readonly values: readonly SavedDigest[];
}

/** A sandbox as documents carry it: no key of a session, no address. Times are ISO 8601, UTC; null if the service does not report one. */
export interface SandboxReport {
  /** The server's id of it. */
  readonly id: string;
  /** The spec that it was started from; null if unknown. */
  readonly spec: string | null;
  /** The service's word in capitals: STARTING, RUNNING, PAUSED, ERROR, MISSING, or a later one. */
  readonly status: string;
  /** ISO 8601, UTC. */
  readonly created_at: string | null;
}

/** A spec that sandboxes are started from. */
export interface SpecReport {
  /** Its id. */
  readonly id: string;
  /** True if sandboxes are started from it if none is named. */
  readonly default: boolean;
}

/** A conversation of the server. */
export interface ConversationReport {
  /** The server's id of it. */
  readonly id: string;
  /** The id of its sandbox; null if it has none. */
  readonly sandbox: string | null;
  /** What it is doing: idle, running, paused, finished, or another word of the service. */
  readonly status: string | null;
  /** ISO 8601, UTC. */
  readonly created_at: string | null;
}

/** What the service of one environment has. A resource that was not requested, or could not be read, is null. */
export interface EnvironmentObserved {
  /** The name of the environment. */
  readonly name: string;
  /** Scheme, host and port of its server; null if the address is not known. */
  readonly origin: string | null;
  /** The API that its server speaks; null if that is not known. */
  readonly dialect: 'settings-v0' | 'app-server' | 'agent-server' | null;
  /** The release of the service: exact if it was asked for, else as far as its answer shows it, as in "1.9 or 1.10". Null if nothing shows it. */
  readonly release: string | null;
  /** stored or empty if the settings were requested; observed if they were not. */
  readonly status: 'stored' | 'empty' | 'observed' | 'error';
  /** What the services of this dialect can hold; null if it was not requested. */
  readonly server: ServerReport | null;
  /**
   * The record as the service answered it; a sensitive value is the text (sensitive), and a url whose userinfo or query is sensitive is the rest of
   * it with ?(sensitive) behind.
   */
  readonly settings: Json;
  /** What a plan against this is held to, HMAC-SHA-256 under the salt; null if the document has no digests. */
  readonly digests: ObservedDigests | null;
  /** The names of custom secrets, without a value; absent if they were not requested, null if the service has no such list. */
  readonly secrets?: readonly {
    readonly name: string;
    readonly description: string;
  }[] | null;
  /**
   * The git providers that have a token, without it, and the host of each; absent if they were not requested, null if the service has no such list,
   * or nothing stored and does not tell.
   */
  readonly git_providers?: readonly {
    readonly name: string;
    readonly token?: '(sensitive)';
    readonly host: string | null;
  }[] | null;
  /** Skills that the service has installed, by name; absent if they were not requested, null if the service has none of this kind. */
  readonly skills?: readonly {
    readonly name: string;
    readonly source: string;
    /** The commit that it is at; absent if it came from a folder. */
    readonly ref?: string;
    readonly repo_path?: string;
    readonly enabled: boolean;
  }[] | null;
  /** Plugins that the service has installed, by name; absent if they were not requested, null if the service has none of this kind. */
  readonly plugins?: readonly {
    readonly name: string;
    readonly source: string;
    /** The commit that it is at; absent if it came from a folder. */
    readonly ref?: string;
    readonly repo_path?: string;
    readonly enabled: boolean;
  }[] | null;
  /** Provider connections by name, their keys masked; absent if they were not requested, null if the service has none of this kind. */
  readonly provider_connections?: readonly {
    readonly name: string;
    readonly provider: string | null;
    readonly base_url: string | null;
    /** The mask if a key is stored, null if none is. */
    readonly api_key: string | null;
  }[] | null;
  /** Meta profiles by name, with the members of settings.yaml; absent if they were not requested, null if the service has none of this kind. */
  readonly meta_profiles?: readonly {
    readonly name: string;
    readonly classifier?: string;
    readonly classes?: readonly Readonly<Record<string, Json>>[];
  }[] | null;
  /**
   * LLM profiles by name, with the members of settings.yaml, their secrets masked; absent if they were not requested, null if the service has none of
   * this kind.
   */
  readonly llm_profiles?: readonly {
    readonly name: string;
    readonly model?: string | null;
    readonly base_url?: string | null;
    readonly connection?: string;
    /** The mask if a key is stored, null if none is. */
    readonly api_key?: string | null;
  }[] | null;
  /** Which profile of each kind is active: its kind as name, and its name; absent if they were not requested, null if the service has no profiles. */
  readonly active?: readonly {
    readonly name: string;
    readonly profile: string;
  }[] | null;
  /**
   * Agent profiles by name, with the members of settings.yaml that are not their default; absent if they were not requested, null if the service has
   * none of this kind. While no agent profile is active, only those that the file declares: the list of the service would make one.
   */
  readonly agent_profiles?: readonly {
    readonly name: string;
    readonly agent_kind?: string;
    readonly llm_profile?: string;
    readonly acp_server?: string;
  }[] | null;
  /** Without keys of sessions, and without addresses. */
  readonly sandboxes: readonly SandboxReport[] | null;
  /** The first is the default, from which a sandbox is started if no spec is named. */
  readonly specs: readonly SpecReport[] | null;
  /** Without keys of sessions, and without addresses. */
  readonly conversations: readonly ConversationReport[] | null;
  /** The failure that ended the environment; null if none did. */
  readonly error: ErrorReport | null;
  /** The webhooks by name, secrets masked; absent if they were not requested, null if the service has none of this kind. */
  readonly webhooks?: readonly {
    readonly name: string;
  }[] | null;
  /** The automations by name, secrets masked; absent if they were not requested, null if the service has none of this kind. */
  readonly automations?: readonly {
    readonly name: string;
  }[] | null;
  /** The canvas extensions by name, secrets masked; absent if they were not requested, null if the service has none of this kind. */
  readonly canvas_extensions?: readonly {
    readonly name: string;
  }[] | null;
  /** The workspace parents by name, secrets masked; absent if they were not requested, null if the service has none of this kind. */
  readonly workspace_parents?: readonly {
    readonly name: string;
  }[] | null;
  /** The workspaces by name, secrets masked; absent if they were not requested, null if the service has none of this kind. */
  readonly workspaces?: readonly {
    readonly name: string;
  }[] | null;
}

/**
 * What setpoint get prints as JSON: what each service has, masked. A resource that was not requested, or could not be read, is null.
 * schemas/observed.schema.json is its schema.
 */
export interface ObservedDocument {
  /** The version of this form of document. */
  readonly format_version: '1.0';
  /** The kind of document. */
  readonly kind: 'observed';
  /** The program and version that wrote the document. */
  readonly tool: Tool;
  /** When reading began, ISO 8601, UTC. */
  readonly observed_at: string;
  /** 128 random bits in hex that the digests of this document were made with; null if it has none. */
  readonly salt: string | null;
  /** The resources that were requested. */
  readonly resources: readonly Resource[];
  /** The state of each environment. */
  readonly environments: readonly EnvironmentObserved[];
}

/** What a pull did to a file; differs if it would be edited and nothing is written. */
export interface PulledFile {
  /** The path of the file. */
  readonly file: string;
  /** The result for the file. */
  readonly status: 'unchanged' | 'differs' | 'written';
}

/** What happened to the value in the file: set, change and clear of a field or a member; add and remove of an mcp entry or an item; adopt. */
export type PulledAction = 'set' | 'change' | 'clear' | 'add' | 'remove' | 'adopt';

/** A value of the service that was brought into the file. */
export interface PulledValue {
  /** The path in the settings file. */
  readonly path: Path;
  /** What happened to the value in the file: set, change and clear of a field or a member; add and remove of an mcp entry or an item; adopt. */
  readonly action: PulledAction;
  /** What the file had; a sensitive value is the text (sensitive). */
  readonly before: Json;
  /** What the service has, masked likewise. */
  readonly after: Json;
  /** True if a masked value is part of it. */
  readonly sensitive: boolean;
  /** Line and column from 1; null for what was removed. */
  readonly source: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  } | null;
}

/** Something that differs and was not brought into the file. */
export interface LeftAlone {
  /** The path of what was left unchanged. */
  readonly path: Path;
  /** The reason that it was left unchanged, in a sentence. */
  readonly reason: string;
  /** The reference as the file writes it; null if there is none. */
  readonly ref: string | null;
}

/** A variable that the file reads from now on. */
export interface NewVariable {
  /** The name of the variable. */
  readonly name: string;
  /** The path that reads it. */
  readonly path: Path;
}

/** What a pull brings into the files from the service of one environment. unknown is what could not be compared. */
export interface EnvironmentPull {
  /** The name of the environment. */
  readonly name: string;
  /** Scheme, host and port of its server; null if the address is not known. */
  readonly origin: string | null;
  /** differs: nothing was written; skipped: another environment could not be read. */
  readonly status: 'in-sync' | 'differs' | 'pulled' | 'skipped' | 'error';
  /** The values that were brought into the files. */
  readonly pulled: readonly PulledValue[];
  /** The differences that were left unchanged, each with its reason. */
  readonly left: readonly LeftAlone[];
  /** The values that could not be compared. */
  readonly unknown: readonly Unknown[];
  /** The variables that the files read from now on. */
  readonly variables: readonly NewVariable[];
  /** The failure that ended the environment; null if none did. */
  readonly error: ErrorReport | null;
}

/** What setpoint pull prints as JSON: what was, or with --check would be, brought into the files. schemas/pull.schema.json is its schema. */
export interface PullDocument {
  /** The version of this form of document. */
  readonly format_version: '1.0';
  /** The kind of document. */
  readonly kind: 'pull';
  /** The program and version that wrote the document. */
  readonly tool: Tool;
  /** The settings files, each with what happened to it. */
  readonly files: readonly PulledFile[];
  /** The chosen environments, in the order of their names. */
  readonly environments: readonly EnvironmentPull[];
}

/** A status of the task that starts a conversation, and when it was first observed. */
export interface SmokeStep {
  /** The status, in the word of the server. */
  readonly status: string;
  /** Since the request. */
  readonly seconds: number;
}

/**
 * The smoke test of one environment. conversation and sandbox are what was started, as far as the service reported it; removed tells whether they are
 * gone again.
 */
export interface EnvironmentSmoke {
  /** The name of the environment. */
  readonly name: string;
  /** Scheme, host and port of its server; null if the address is not known. */
  readonly origin: string | null;
  /** True if the conversation became ready. */
  readonly status: 'ready' | 'failed';
  /** Every status of the start, and when it was first observed. */
  readonly steps: readonly SmokeStep[];
  /** The conversation that was started, as far as the service reported it. */
  readonly conversation: string | null;
  /** The id of the conversation's sandbox; null if none is known. */
  readonly sandbox: string | null;
  /** Whether the conversation was removed again. Its sandbox ends with it. */
  readonly removed: boolean;
  /** Why a conversation that became ready was not removed, and what to do. */
  readonly remains: string | null;
  /** The failure that ended the environment; null if none did. */
  readonly error: ErrorReport | null;
}

/** What setpoint smoke prints as JSON: whether a conversation can start, and nothing else. schemas/smoke.schema.json is its schema. */
export interface SmokeDocument {
  /** The version of this form of document. */
  readonly format_version: '1.0';
  /** The kind of document. */
  readonly kind: 'smoke';
  /** The program and version that wrote the document. */
  readonly tool: Tool;
  /** The time at which the run began, ISO 8601, UTC. */
  readonly started_at: string;
  /** The time at which the run ended, ISO 8601, UTC. */
  readonly finished_at: string;
  /** The chosen environments, in the order of their names. */
  readonly environments: readonly EnvironmentSmoke[];
}

export interface DiagnosticReport {
  readonly severity: 'error' | 'warning';
  /** docs/diagnostics.md lists them with their meanings. */
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
  readonly file: string;
  readonly line: number;
  /** In UTF-16 units. */
  readonly column: number;
  /** Keys from the top of the file. */
  readonly path: readonly string[];
  /** The edit that mends it, if there is exactly one: another name for the last key of `path`, or another value. */
  readonly fix?: {
    readonly rename?: string;
    readonly value?: string;
  };
}

/** What setpoint validate prints as JSON. schemas/validation.schema.json is its schema. */
export interface ValidationDocument {
  /** The version of this form of document. */
  readonly format_version: '1.0';
  /** The kind of document. */
  readonly kind: 'validation';
  /** True if there is no error. */
  readonly valid: boolean;
  /** The errors and warnings. */
  readonly diagnostics: readonly DiagnosticReport[];
}

/** What a controller knows of one environment. */
export interface EnvironmentWatched {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly origin: string | null;
  readonly dialect: string | null;
  readonly release: string | null;
  /** null if a data folder was read: the settings files say it. */
  readonly mode: 'detect' | 'heal' | null;
  /** Between two reads. */
  readonly interval_seconds: number | null;
  /** The state, as the page shows it. */
  readonly status: WatchStatus;
  /** What the last read found; the state may be suspended besides. */
  readonly found: WatchStatus;
  /** Since when it is in sync, or cannot be read, or the first of what differs now does. */
  readonly since: string;
  /** What differs, in short: the first paths, or why the last read failed. Empty if nothing does. */
  readonly what: string;
  /** Why what differs is not healed now; null if nothing is to be healed, or it is about to be. */
  readonly not_healed: string | null;
  /** The read before the one that found it first: the change was made in between. */
  readonly after: string | null;
  /** The same as long as what was found is the same; empty if in sync and all was compared. */
  readonly digest: string;
  /** How many changes an apply would make. */
  readonly changes: number;
  /** How many values could not be compared. */
  readonly unknown: number;
  /** For how many reasons an apply would be refused. */
  readonly refusals: number;
  /** Why the last read failed; null if it did not. */
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string;
  } | null;
  readonly last_read: string | null;
  readonly last_in_sync: string | null;
  readonly last_apply: string | null;
  readonly next_read: string | null;
  /** Reads in a row that failed. */
  readonly failures: number;
  /** Since when and why nothing is healed and nobody is told, and until when; until is null if only a resume ends it. */
  readonly suspended: {
    readonly at: string;
    readonly reason: string;
    readonly until: string | null;
    /** Who did it, by the name given at the login of the page or by a tool. */
    readonly by?: string;
  } | null;
  /** Why healing has stopped until the environment is resumed. */
  readonly healing_stopped: {
    readonly at: string;
    readonly path: string;
    readonly reason: string;
    /**
     * other-writer: another client keeps writing the environment. server: the server stores other values than it is sent; healing goes on by itself
     * once the file or the server has others.
     */
    readonly cause: 'other-writer' | 'server';
  } | null;
  /**
   * The heals that failed in a row, until one succeeds or the environment is as declared. refused: the service stored nothing of the last one and
   * answers the next one the same way.
   */
  readonly healing_failed: {
    readonly since: string;
    readonly times: number;
    readonly refused: boolean;
    readonly code: string;
    readonly message: string;
  } | null;
  /** Whether other clients changed it three times within ten minutes, whatever it is now. */
  readonly flapping: boolean;
  /** Who holds the lock, if another controller does. */
  readonly held_by: string | null;
  /** The commit of the files that were last compared. */
  readonly commit: string | null;
  /**
   * Only of one environment: what the last read found, as an environment of the document that setpoint plan prints; null if it is in sync and all was
   * compared.
   */
  readonly plan?: EnvironmentPlan | null;
  /** Only of one environment: the last reads, at most 100, the latest last. */
  readonly reads?: readonly {
    readonly at: string;
    readonly status: 'in-sync' | 'suspended' | 'not-read' | 'unknown' | 'pending' | 'drift' | 'conflict' | 'refused' | 'error';
  }[];
  /** Only of one environment: what was healed in the last hour. */
  readonly heals?: readonly {
    readonly at: string;
    readonly paths: readonly string[];
  }[];
  /** Only of one environment: the last records of the journal about it, the latest first, as the journal keeps them. */
  readonly history?: readonly JournalRecord[];
}

/**
 * What setpoint status prints with -o json, and the page of setpoint watch answers at /api/environments, and at /api/environments/NAME for one.
 * schemas/watched.schema.json is its schema.
 */
export interface WatchedDocument {
  readonly format_version: '1.0';
  readonly kind: 'watched';
  readonly tool: Tool;
  /** When it was answered, ISO 8601, UTC, as every time of it. */
  readonly created_at: string;
  /** How the controller itself is; null if a data folder was read (setpoint status --data). */
  readonly controller: {
    readonly started_at: string;
    /** When its loop last turned. */
    readonly turned_at: string;
    /** Whether every environment has been read once, or failed. */
    readonly ready: boolean;
    /** Environments that are due and wait for their turn. */
    readonly queued: number;
    /** Those of them that wait longer than half of their interval, within 15 seconds and two minutes. */
    readonly late: number;
    /** Environments whose service did not answer within four seconds when it was read last, or does not now. */
    readonly hanging: number;
    /** The commit of the files in force. */
    readonly commit: string | null;
    /** Why the files of now are not used; null if they are. */
    readonly files_problem: string | null;
    /** What is wrong with the controller itself. */
    readonly problems: readonly {
      readonly kind: 'journal' | 'locks' | 'suspensions' | 'files' | 'git' | 'cluster' | 'reads' | 'page' | 'receiver';
      /** The name of the receiver that takes no notices; null for the other kinds. */
      readonly receiver: string | null;
      /** What happened, and what follows from it. */
      readonly message: string;
      readonly since: string;
    }[];
    /** The part of the environments that it watches: number index, from 0, of count. null if it watches all of those chosen. */
    readonly shard: {
      readonly index: number;
      readonly count: number;
    } | null;
  } | null;
  /** The worst first. */
  readonly environments: readonly EnvironmentWatched[];
}
