import type { Refusal } from './guard.ts';
import type { ErrorCode, ErrorReport, Warning } from './error.ts';
import type { DesiredState, Organization, SettingsWrite, Spoken } from './state.ts';
import { type Path, type Source, formatPath } from './path.ts';
import type { Proof } from './proof.ts';
import { REASONS } from './reasons.ts';
import type { Shard } from './shard.ts';
import type { Json, Value, ValueRecord } from './value.ts';
import type { OneOf, PlanVerdict, Verdict } from './verdict.ts';

/** What a change does to what it is about: marks, colours, what counts as a loss and who must look first follow from it. */
export type Effect = 'add' | 'alter' | 'drop';

interface Verb {
  readonly effect: Effect;
  /** Only of what the service names by an id; what has a path in the settings file is told by that. */
  readonly told?: {
    /** What has become of it: `will be started`. */
    readonly done: string;
    /** What one is called, and several. */
    readonly nouns: readonly [string, string];
  };
}

const SANDBOX = ['sandbox', 'sandboxes'] as const;

/**
 * The verbs of changes, with what each does. `set`: there was none (null, absent or ""); `change`: there was another; `rotate`: a secret
 * whose value cannot be compared is sent; `rename`: an item has another name from then on; `remove`: an entry or item goes.
 */
const VERBS = {
  set: { effect: 'add' },
  change: { effect: 'alter' },
  clear: { effect: 'drop' },
  remove: { effect: 'drop' },
  rotate: { effect: 'alter' },
  rename: { effect: 'alter' },
  start: { effect: 'add', told: { done: 'started', nouns: SANDBOX } },
  resume: { effect: 'alter', told: { done: 'resumed', nouns: SANDBOX } },
  pause: { effect: 'alter', told: { done: 'paused', nouns: SANDBOX } },
} as const satisfies Readonly<Record<string, Verb>>;

export type Action = keyof typeof VERBS;
export type SandboxAction = 'start' | 'resume' | 'pause';
export type SettingsAction = Exclude<Action, SandboxAction | 'rename'>;
export type ActionCounts = Readonly<Record<Action, number>>;

/** All verbs, in the order in which sentences count them. */
export const ACTIONS = Object.keys(VERBS) as readonly Action[];

export function findActionEffect(action: Action): Effect {
  return VERBS[action].effect;
}

/** Whether it gives an item another name, and is none of its values. */
export function isRename({ action }: { readonly action: Action }): boolean {
  return action === 'rename';
}

/** `started`; null if a change of this kind is told by its reason. */
export function findActionParticiple(action: Action): string | null {
  const verb: Verb = VERBS[action];
  return verb.told?.done ?? null;
}

/** What a change of this kind is about, one or several of it; null if it is told by its path. */
export function formatActionNoun(action: Action, count = 1): string | null {
  const verb: Verb = VERBS[action];
  return verb.told?.nouns[count === 1 ? 0 : 1] ?? null;
}

/** What an outcome has of the id that the service gave to what a change started; nothing if there is none. */
export function createStartMember(id: string | undefined): StartedMember {
  return id === undefined ? {} : { sandbox: id };
}

/** The id of what a change started; null if it started nothing. */
export function findStartId({ sandbox }: StartedMember): string | null {
  return sandbox ?? null;
}

export interface StartedMember {
  /** The id of a sandbox that was started. */
  readonly sandbox?: string;
}

export function countActions(changes: Iterable<{ readonly action: Action }>): ActionCounts {
  const counts = Object.fromEntries(ACTIONS.map((action) => [action, 0])) as Record<Action, number>;
  for (const { action } of changes) counts[action] += 1;
  return counts;
}

export const FORMAT_VERSION = '1.0';

/**
 * One difference between the file and the service, and what an apply would do about it. One per declared field; in mcp
 * lists one per entry; one per sandbox, whose path is its id, or the spec and a number (`#1`) before it is started.
 * `sensitive` if a masked value is part of it; `ref` names the references it came from.
 */
export interface Change<V = Value> {
  /** `settings`, or the name of a `Resource`. */
  readonly resource: string;
  readonly path: Path;
  readonly action: Action;
  readonly before: V;
  readonly after: V;
  readonly sensitive: boolean;
  readonly ref: string | null;
  readonly reason: string;
  /** What was found, if the reason also says what an apply would do about it. */
  readonly found?: string;
  readonly source: Source | null;
  /** What has changed since the file was last applied; absent if that is not known. */
  readonly class?: ChangeClass;
  /** That nothing differs here: the other changes of the plan make it necessary. It has no class, and is no drift. */
  readonly consequence?: true;
  /** The path of the change whose request makes this one, too; absent of what a request is made for. No document has it. */
  readonly cause?: Path;
}

/** The reason of a change to null after which the service has its default again. */
export const RESET = REASONS.reset.reason;

/** The reasons of a removal of what a service has and the file does not name, where the file says that it names all. */
export const UNDECLARED = 'not declared';
export const UNCERTAIN = 'not declared, as far as known without the missing values';

/** The reason of a removal of an mcp server that the file names and says null of. */
export const NAMED_NULL = 'null in the file';

/** Whether a change removes what the file does not name, where `collections` says that others go. A declared list of mcp servers says it of itself. */
export function removesOther({ resource, action, reason, source }: Change<unknown>): boolean {
  const isOfBlock = resource !== 'settings' || source !== null;
  return action === 'remove' && isOfBlock && (reason === UNDECLARED || reason === UNCERTAIN);
}

/** `pending`: the file has changed; `drift`: the service has; `conflict`: both have. */
export type ChangeClass = 'pending' | 'drift' | 'conflict';

/** A declared value that could not be compared; never claimed equal, and no change of its own. */
export interface Unknown {
  readonly path: Path;
  readonly reason: string;
  readonly ref: string | null;
  /**
   * `stored`: a secret that the service has and does not show; `missing`: its reference has no value here, and an apply wants it; `left`:
   * this run leaves it as it is (`--without`). Absent for anything else.
   */
  readonly kind?: 'stored' | 'missing' | 'left';
}

/** Something that a write would lose because the service does not show it. The rule `lose-unreadable` reports these. */
export interface Unpreservable {
  readonly path: Path;
  /** `always` stops every write; `protected` only if the guard lose_unreadable is on. */
  readonly stops: 'always' | 'protected';
  readonly remedy: string;
  /** Whether what the service keeps of it never works, so that a plan that it does not stop says nothing. */
  readonly neverWorks?: true;
}

/** What is found of a resource by comparing what is declared of it with what the service has. */
interface Comparison {
  readonly changes: readonly Change[];
  readonly unknown: readonly Unknown[];
  readonly warnings: readonly Warning[];
  /** What the service has and the file does not manage. */
  readonly unmanaged: readonly Path[];
  /** Secrets that were written from here, and that the service does not have any more. */
  readonly gone: readonly Path[];
  /** What its write would lose. */
  readonly unpreservable: readonly Unpreservable[];
}

/** The plan of the settings. `write` is null if there is nothing to write. */
export interface SettingsPlan extends Comparison {
  readonly write: SettingsWrite | null;
}

/** Something declared that nothing here leads to, such as one of an id that is gone. */
export interface Unmet extends Warning {
  readonly hint: string;
}

/** An address that moves although a stored credential goes there. */
export interface MovedAddress {
  readonly path: Path;
  readonly where: 'another host' | 'another provider';
  /** The credential, if it is one of another item: the plan may write it anew. */
  readonly by?: Path;
}

/** The plan of what a file declares of one resource. `work` is what the resource itself makes the changes from. */
export interface PartPlan<Work = unknown> extends Comparison {
  readonly resource: Resource;
  readonly unmet: readonly Unmet[];
  readonly moved?: readonly MovedAddress[];
  /** What comes into effect although it is stored already, such as the members of an agent profile that is made active: for guards. */
  readonly effective?: readonly Change[];
  /** What is stored of each declared item after its write, by the names of the server; absent of parts without items. */
  readonly leaves?: ReadonlyMap<string, ValueRecord>;
  /** The removals that come first, because a service at its limit takes nothing new before; absent if none does. */
  readonly room?: readonly Path[];
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
  return plan.flatMap(({ unmanaged }) => unmanaged);
}

/** Everything that could not be compared. */
export function listPlanUnknowns(plan: Plan): Unknown[] {
  return plan.flatMap(({ unknown }) => unknown);
}

export function listPlanWarnings(plan: Plan): Warning[] {
  return plan.flatMap(partWarnings);
}

/** What is declared and not available, before what a part only warns of. */
export function partWarnings({ unmet, warnings }: Pick<PartPlan, 'unmet' | 'warnings'>): Warning[] {
  const unavailable = unmet.map(({ code, message, hint, path }) => ({
    code,
    message: `${message} ${hint}`,
    path,
  }));
  return [...unavailable, ...warnings];
}

export function listPlanUnmet(plan: Plan): Unmet[] {
  return plan.flatMap(({ unmet }) => unmet);
}

/** Who ran something, on which commit, and the url of the run; null if the pipeline does not report it. */
export interface Run {
  readonly actor: string | null;
  readonly commit: string | null;
  readonly url: string | null;
}

export interface Tool {
  readonly name: 'setpoint';
  readonly version: string;
}

/** The plan of one environment. `complete` is false if something could not be compared or read. */
export interface EnvironmentPlan extends Spoken {
  readonly name: string;
  readonly origin: string | null;
  /** When the snapshot was taken that this was planned against; null if the service itself was read. */
  readonly observed_at: string | null;
  /** `in-sync`: all that can be compared is as declared; `unknown` has the rest. */
  readonly status: OneOf<'in-sync' | 'differs' | 'error'>;
  readonly complete: boolean;
  readonly changes: readonly Change<Json>[];
  readonly unknown: readonly Unknown[];
  readonly warnings: readonly Warning[];
  /** Why an apply would refuse this plan: every reason. */
  readonly refusals: readonly Refusal[];
  readonly unmanaged: readonly Path[];
  /** What an approval is checked with; null in a plan that is not for saving, and if there is an error. */
  readonly digests: PlanDigests | null;
  /** What the service tried of what would change; absent if it was not asked to. */
  readonly proofs?: readonly Proof[] | undefined;
  /** The organisation that a write reaches; absent if the service has none, or was not asked. */
  readonly organization?: Organization | undefined;
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
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'plan';
  readonly tool: Tool;
  readonly created_at: string;
  /** The part of the environments that this is about; null if it is about all of those chosen. */
  readonly shard: Shard | null;
  /** Only if what could not be compared counts, in the summary and the exit code. */
  readonly strict?: true | undefined;
  /** What its digests were made with, 128 random bits in hex; null if it has none. */
  readonly salt: string | null;
  readonly environments: readonly EnvironmentPlan[];
  readonly run: Run;
  readonly summary: PlanSummary;
  /** Only if `setpoint report` made it of several. */
  readonly merged?: Merged | undefined;
}

/** What a document was made of. It is whole if there are no problems. */
export interface Merged {
  readonly files: number;
  /** The shards that no document is of, from 0. */
  readonly missing: readonly number[];
  /** Why it is not whole, in sentences. */
  readonly problems: readonly string[];
  /** What else is worth knowing, in sentences. */
  readonly notes: readonly string[];
}

/** What a plan document has before and after its environments: it is written while it is made. */
export type PlanHead = Omit<PlanDocument, 'environments' | keyof PlanTail>;
export type PlanTail = Pick<PlanDocument, 'run' | 'summary'>;

const BY_ID: ReadonlySet<string | null> = new Set(
  ACTIONS.map((action) => formatActionNoun(action)),
);

/** Whether a change is about what the service names by an id. The changes of other resources are about paths of the settings file. */
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
 * A kind of thing that a settings file declares, such as settings and secrets. Approvals, agreements and `--base` treat all of them
 * alike, by what this says of them.
 */
export interface Resource {
  /** As its changes name it. */
  readonly name: string;
  /** The block of a settings file that declares it. */
  readonly block: string;
  /** What is agreed on with a service, item by item; null of the settings, which are agreed on place by place. */
  readonly items: Items | null;
  /** What an approval of each change is about besides what the change shows, in the order of the part's changes. */
  readonly terms: (part: PartPlan, desired: DesiredState, quick: Quick) => readonly unknown[];
}

/** What a file declares of a resource by item. */
export interface Items {
  /** Forms of JSON without a value of a reference: digests are made of them. */
  readonly declared: (desired: DesiredState, quick: Quick) => ReadonlyMap<string, unknown>;
  /** What items were called before, by their names; absent if none is ever called otherwise. */
  readonly former?: (desired: DesiredState) => ReadonlyMap<string, string>;
  /** The item that a change is about. */
  readonly of: (change: Pick<Change, 'path'>) => string;
}

/** The digest of a literal of the file. */
export type Quick = (text: string) => string;

/** An environment that somebody should look at, in a few words. */
export interface Attention<V extends Verdict = Verdict> {
  readonly name: string;
  readonly verdict: V;
  /** How many changes there are, by action; only the actions that there are. */
  readonly changes: Readonly<Partial<ActionCounts>>;
  /** How many of the changes are edits of the file that have not been applied; null without a base. */
  readonly pending: number | null;
  /** How many values could not be compared. */
  readonly unknown: number;
  readonly warnings: number;
  /** The rules by which an apply refuses the plan. */
  readonly rules: readonly string[];
  readonly error: Pick<ErrorReport, 'code' | 'message'> | null;
}

/** How many environments there are, and how many with each verdict. */
export type EnvironmentCounts<V extends Verdict = Verdict> = Readonly<Record<V | 'total', number>>;

/** What a document says of all its environments together. */
export interface Summary<V extends Verdict = Verdict> extends ActionCounts {
  /** Values that could not be compared. */
  readonly unknown: number;
  readonly warnings: number;
  readonly environments: EnvironmentCounts<V>;
  /** How many of the environments that failed did so with each error; `other` is one that this version does not know. */
  readonly errors: Readonly<Partial<Record<ErrorCode | 'other', number>>>;
  /** The environments that somebody should look at, the worst first: at most MOST_LISTED. */
  readonly attention: readonly Attention<V>[];
  /** How many more there are than `attention` has. */
  readonly more: number;
}

export type PlanSummary = Summary<PlanVerdict>;

/** A plan as a look for drift tells it: what only follows from other changes is no difference. */
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
