import { ACTIONS, type Action, type ActionCounts, formatActionNoun } from './action.ts';
import type { Refusal } from './guard.ts';
import type { ErrorCode, ErrorReport, Warning } from './error.ts';
import type { DesiredState, Organization, SettingsWrite, ServiceDialect } from './state.ts';
import { type Path, type Source, formatPath, samePath } from './path.ts';
import type { Proof } from './proof.ts';
import type { Reason, ReasonCode } from './reasons.ts';
import type { Shard } from './shard.ts';
import type { Json, Value, ValueRecord } from './value.ts';
import type { VerdictSubset, PlanVerdict, Verdict } from './verdict.ts';

export const FORMAT_VERSION = '1.0';

/**
 * One difference between the file and the service, and what an apply would do about it. One per declared field; in mcp
 * lists one per entry; one per sandbox, whose path is its id, or the spec and a number (`#1`) before it is started.
 * `sensitive` if a masked value is part of it; `ref` names the references it came from.
 */
export interface Change<V = Value> {
  /** `settings`, or the name of a `Resource`. */
  readonly resource: string;
  /** The path in the settings file. */
  readonly path: Path;
  /** The action of an apply. */
  readonly action: Action;
  /** The value of the server; a sensitive one is masked. */
  readonly before: V;
  /** The value of the file; a sensitive one is masked. */
  readonly after: V;
  /** True if a masked value is part of it. */
  readonly sensitive: boolean;
  /** The reference as the file writes it; null if there is none. */
  readonly ref: string | null;
  /** Why it is in the plan, for programs; absent in documents of earlier versions. */
  readonly code?: ReasonCode | undefined;
  /** What the sentences of the reason are made with. */
  readonly parameters?: Reason['parameters'] | undefined;
  /** The reason that it is in the plan, in a sentence. */
  readonly reason: string;
  /** What was found, if the reason also says what an apply would do about it. */
  readonly found?: string;
  /** The place that declares it; null if no line does. */
  readonly source: Source | null;
  /** The kind of change since the last apply of the file; absent if unknown. */
  readonly class?: ChangeClass;
  /** Nothing differs here: the other changes of the plan make it necessary. It has no class, and does not count as drift. */
  readonly consequence?: true;
  /** The path of the change whose request makes this one, too; absent of what a request is made for. No document has it. */
  readonly cause?: Path;
}

/**
 * Reports whether a change removes an item that the file does not name, where `collections` removes others. A declared list of mcp servers
 * always removes them.
 */
export function removesOther({ resource, action, code, source }: Change<unknown>): boolean {
  const isOfBlock = resource !== 'settings' || source !== null;
  return action === 'remove' && isOfBlock && isUndeclared({ code });
}

/** Reports whether a change is there because the file, which names all of a list, does not name what the service has. */
export function isUndeclared({ code }: Pick<Change, 'code'>): boolean {
  return code === 'undeclared' || code === 'undeclared-uncertain';
}

/** `pending`: the file has changed; `drift`: the service has; `conflict`: both have. */
export type ChangeClass = 'pending' | 'drift' | 'conflict';

/** A declared value that could not be compared; never claimed equal, and no change of its own. */
export interface Unknown {
  /** The path in the settings file. */
  readonly path: Path;
  /** The reason that it cannot be compared, in a sentence. */
  readonly reason: string;
  /** The reference as the file writes it; null if there is none. */
  readonly ref: string | null;
  /**
   * `stored`: a secret that the service has and does not show; `missing`: its reference has no value here, and an apply needs it; `left`:
   * this run leaves it unchanged (`--without`). Absent for anything else.
   */
  readonly kind?: 'stored' | 'missing' | 'left';
}

/** Something that a write would lose because the service does not show it. The rule `lose-unreadable` reports these. */
export interface Unpreservable {
  readonly path: Path;
  /** `always` stops every write; `protected` only if the guard lose_unreadable is on. */
  readonly stops: 'always' | 'protected';
  readonly remedy: string;
  /** True if the part that the service stores never works: a plan that it does not stop then means nothing. */
  readonly neverWorks?: true;
}

/** The result of comparing a resource's declarations with the service. */
interface Comparison {
  readonly changes: readonly Change[];
  readonly unknown: readonly Unknown[];
  readonly warnings: readonly Warning[];
  /** The paths on the service that the file does not manage. */
  readonly unmanaged: readonly Path[];
  /** Secrets that were written from here, and that the service does not have any more. */
  readonly gone: readonly Path[];
  /** The values that its write would lose. */
  readonly unpreservable: readonly Unpreservable[];
}

/** The plan of the settings. `write` is null if there is nothing to write. */
export interface SettingsPlan extends Comparison {
  readonly write: SettingsWrite | null;
}

/** Something declared that nothing here leads to, such as one of an id that is gone. */
export interface UnmetReference extends Warning {
  readonly hint: string;
}

/** An address that moves although a stored credential goes there. */
export interface MovedAddress {
  readonly path: Path;
  readonly where: 'another host' | 'another provider';
  /** The credential, if it is one of another item: the plan may write it again. */
  readonly by?: Path;
}

/** A request of a plan, as a server judges it by what it has stored. */
export interface PlannedRequest {
  /** The first of the changes that it makes. */
  readonly change: Change;
  readonly method: string;
  readonly path: string;
  readonly body: ValueRecord;
  /** Names the user of the item on the service, so that its removal cannot come before all else; null if nothing does. */
  readonly user: string | null;
}

/** The plan of what a file declares of one resource. `work` is what the resource itself makes the changes from. */
export interface PartPlan<Work = unknown> extends Comparison {
  readonly resource: Resource;
  readonly unmet: readonly UnmetReference[];
  readonly moved?: readonly MovedAddress[];
  /** What comes into effect although it is stored already, such as the members of an agent profile that is made active: for guards. */
  readonly effective?: readonly Change[];
  /** What is stored of each declared item after its write, by the names of the server; absent of parts without items. */
  readonly leaves?: ReadonlyMap<string, ValueRecord>;
  /** The removals that come first, because a service at its limit takes nothing new before; absent if none does. */
  readonly room?: readonly Path[];
  /** Its requests in their order, as far as they are known before what they are made of is read; absent if nothing judges them. */
  readonly requests?: readonly PlannedRequest[];
  /** The stored state of its items on the service before them, by part and by the names of the server. */
  readonly stored?: ValueRecord;
  readonly work: Work;
}

/**
 * The plan: a value, computed by pure functions from the desired and the observed state, and the only thing that an apply
 * can execute: a part for each resource, in the order of writing.
 */
export type Plan = readonly PartPlan[];

/** Every change of a plan in the order in which they are made. */
export function listPlanChanges(plan: Plan): Change[] {
  return plan.flatMap(({ changes }) => changes);
}

export function listUnmanagedPlanPaths(plan: Plan): Path[] {
  const paths = plan.flatMap(({ unmanaged }) => unmanaged);
  const along = listPlanChanges(plan).filter(({ cause }) => cause !== undefined);
  return paths.filter((path) => along.every((change) => !samePath(change.path, path)));
}

/** Everything that could not be compared. */
export function listPlanUnknowns(plan: Plan): Unknown[] {
  return plan.flatMap(({ unknown }) => unknown);
}

export function listPlanWarnings(plan: Plan): Warning[] {
  return plan.flatMap(partWarnings);
}

/** Lists the declared but unavailable values, then the other warnings of a part. */
export function partWarnings({ unmet, warnings }: Pick<PartPlan, 'unmet' | 'warnings'>): Warning[] {
  const unavailable = unmet.map(({ code, message, hint, path }) => ({
    code,
    message: `${message} ${hint}`,
    path,
  }));
  return [...unavailable, ...warnings];
}

export function listPlanUnmet(plan: Plan): UnmetReference[] {
  return plan.flatMap(({ unmet }) => unmet);
}

/** The author of a run, its commit, and its url; null if the pipeline does not report it. */
export interface Run {
  /** The person who started it. */
  readonly actor: string | null;
  /** The commit of the settings files. */
  readonly commit: string | null;
  /** The address of the pipeline's run. */
  readonly url: string | null;
}

export interface Tool {
  readonly name: 'setpoint';
  readonly version: string;
}

/** The plan of one environment. `complete` is false if something could not be compared or read. */
export interface EnvironmentPlan extends ServiceDialect {
  /** The name of the environment. */
  readonly name: string;
  /** Scheme, host and port of its server; null if the address is not known. */
  readonly origin: string | null;
  /** The time of the snapshot that this was planned against; null if the service itself was read. */
  readonly observed_at: string | null;
  /** `in-sync`: all that can be compared is as declared; `unknown` has the rest. */
  readonly status: VerdictSubset<'in-sync' | 'differs' | 'error'>;
  /** False if something could not be read or compared. */
  readonly complete: boolean;
  /** The differences, in the order in which an apply makes them. */
  readonly changes: readonly Change<Json>[];
  /** The values that could not be compared. */
  readonly unknown: readonly Unknown[];
  /** Remarks that stop nothing. */
  readonly warnings: readonly Warning[];
  /** Every reason that an apply would refuse this plan. */
  readonly refusals: readonly Refusal[];
  /** Paths on the server that the file does not manage. */
  readonly unmanaged: readonly Path[];
  /** The digests that an approval is checked with; null in a plan that is not for saving, and after an error. */
  readonly digests: PlanDigests | null;
  /** The service's trials of the changes; absent if they were not requested. */
  readonly proofs?: readonly Proof[] | undefined;
  /** The organisation that a write reaches; absent if the service has none, or was not asked. */
  readonly organization?: Organization | undefined;
  /** The failure that ended the environment; null if none did. */
  readonly error: ErrorReport | null;
}

/** Digests under the salt of the document: of the resolved address with its path prefix, and of what the file declares for each change. */
interface PlanDigests {
  /** Null if the address is not known. */
  readonly address: string | null;
  /** In the order of `changes`. */
  readonly changes: readonly string[];
}

/** The plan as JSON, as `-o json` prints and `--out` saves it. schemas/plan.schema.json is its schema. Times are ISO 8601, UTC. */
export interface PlanDocument {
  /** The version of this form of document. */
  readonly format_version: typeof FORMAT_VERSION;
  /** The kind of document. */
  readonly kind: 'plan';
  /** The program and version that wrote the document. */
  readonly tool: Tool;
  /** The time at which the document was made, ISO 8601, UTC. */
  readonly created_at: string;
  /** The part of the environments that this is about; null if it is about all of those chosen. */
  readonly shard: Shard | null;
  /** Only if what could not be compared counts, in the summary and the exit code. */
  readonly strict?: true | undefined;
  /** The salt of its digests, 128 random bits in hex; null if it has none. */
  readonly salt: string | null;
  /** The chosen environments, in the order of their names. */
  readonly environments: readonly EnvironmentPlan[];
  /** The person and the commit of the run, as far as the pipeline reports them. */
  readonly run: Run;
  /** The counts, and the environments that need attention. */
  readonly summary: PlanSummary;
  /** Only if `setpoint report` made it of several. */
  readonly merged?: Merged | undefined;
}

/** The sources of a merged document. It is complete if there are no problems. */
export interface Merged {
  /** The number of merged documents. */
  readonly files: number;
  /** The shards that no document is of, from 0. */
  readonly missing: readonly number[];
  /** The reasons that it is incomplete, in sentences. */
  readonly problems: readonly string[];
  /** Further notes, in sentences. */
  readonly notes: readonly string[];
}

/** The members of a plan document around its environments, which are written while it is created. */
export type PlanHead = Omit<PlanDocument, 'environments' | keyof PlanTail>;
export type PlanTail = Pick<PlanDocument, 'run' | 'summary'>;

const BY_ID: ReadonlySet<string | null> = new Set(
  ACTIONS.map((action) => formatActionNoun(action)),
);

/** Reports whether a change names an object by its id on the service. Changes of other resources name paths of the settings file. */
export function isById({ resource }: Pick<Change, 'resource'>): boolean {
  return BY_ID.has(resource);
}

/** The name of a change: a path as flags take it, or a noun and an ID; `new NOUN #1 (SPEC)` before it has one. */
export function formatChangeName(change: Pick<Change, 'resource' | 'path'>): string {
  const { resource, path } = change;
  if (!isById(change)) return formatPath(path);
  const [first = '', number] = path;
  return number === undefined ? `${resource} ${first}` : `new ${resource} ${number} (${first})`;
}

/**
 * A kind of thing that a settings file declares, such as settings and secrets. Approvals, agreements and `--base` treat all of them alike,
 * by these members.
 */
export interface Resource {
  /** As its changes name it. */
  readonly name: string;
  /** The block of a settings file that declares it. */
  readonly block: string;
  /** The agreement with a service, item by item; null for the settings, which are agreed place by place. */
  readonly items: Items | null;
  /** Returns the terms of an approval that the changes do not show, in the order of the part's changes. */
  readonly terms: (part: PartPlan, desired: DesiredState, quick: Quick) => readonly unknown[];
}

/** The declarations of a resource by item. */
export interface Items {
  /** Forms of JSON without a value of a reference: digests are made of them. */
  readonly declared: (desired: DesiredState, quick: Quick) => ReadonlyMap<string, unknown>;
  /** Returns the former names of items, by their names; absent if items are never renamed. */
  readonly former?: (desired: DesiredState) => ReadonlyMap<string, string>;
  /** The item that a change is about. */
  readonly of: (change: Pick<Change, 'path'>) => string;
}

/** The digest of a literal of the file. */
export type Quick = (text: string) => string;

/** An environment that needs attention, in a few words. */
export interface Attention<V extends Verdict = Verdict> {
  /** The name of the environment. */
  readonly name: string;
  /** The verdict. */
  readonly verdict: V;
  /** The number of changes by action; absent actions have none. */
  readonly changes: Readonly<Partial<ActionCounts>>;
  /** The number of changes that are unapplied edits of the file; null without a base. */
  readonly pending: number | null;
  /** The number of values that could not be compared. */
  readonly unknown: number;
  /** The number of its warnings. */
  readonly warnings: number;
  /** The rules by which an apply refuses the plan. */
  readonly rules: readonly string[];
  /** The reason that it failed; null if it did not. */
  readonly error: Pick<ErrorReport, 'code' | 'message'> | null;
}

/** The number of environments, in total and with each verdict. */
export type EnvironmentCounts<V extends Verdict = Verdict> = Readonly<Record<V | 'total', number>>;

/** The summary of all environments of a document. */
export interface Summary<V extends Verdict = Verdict> extends ActionCounts {
  /** Values that could not be compared. */
  readonly unknown: number;
  /** The number of warnings. */
  readonly warnings: number;
  /** The number of environments by verdict. */
  readonly environments: EnvironmentCounts<V>;
  /** The number of failed environments by error; `other` is one that this version does not know. */
  readonly errors: Readonly<Partial<Record<ErrorCode | 'other', number>>>;
  /** The environments that need attention, the worst first: at most MOST_LISTED. */
  readonly attention: readonly Attention<V>[];
  /** The number of environments that `attention` leaves out. */
  readonly more: number;
}

/** The counts of a plan. */
export type PlanSummary = Summary<PlanVerdict>;

/** A plan in the form of a drift report: changes that only follow from others do not count as differences. */
export function omitImpliedChanges(environment: EnvironmentPlan): EnvironmentPlan {
  const { changes, digests } = environment;
  const differs = changes.map(({ consequence }) => consequence !== true);
  if (!differs.includes(false)) return environment;
  const kept = <T>(all: readonly T[]): T[] => all.filter((_, index) => differs[index] === true);
  return {
    ...environment,
    changes: kept(changes),
    digests: digests === null ? null : { ...digests, changes: kept(digests.changes) },
  };
}
