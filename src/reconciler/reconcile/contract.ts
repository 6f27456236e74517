import type { SandboxProgress } from '../model/progress.ts';
import type { CollectionForm, DesiredItem, Listing } from '../model/collection.ts';
import type { DialectName } from '../model/dialect.ts';
import type { TargetCheck } from '../model/doctor.ts';
import type { SetpointError, Warning } from '../model/error.ts';
import type { Refusal } from '../model/guard.ts';
import type { EnvironmentOutcome, Remainder, Result } from '../model/outcome.ts';
import type { Change, PartPlan, Plan, Unknown, Resource } from '../model/plan.ts';
import type { Clock, FingerprintStore, Observer } from '../model/ports.ts';
import type { Proof } from '../model/proof.ts';
import type { DesiredState, ObservedState, ServiceDialect } from '../model/state.ts';
import type { OutcomeVerdict } from '../model/verdict.ts';
import type { ApprovedPlan } from '../plan/approval.ts';
import type { PlanResult } from '../plan/plan-environment.ts';
import type { PlanTerms } from '../plan/settings-part.ts';
import type { ResourceReader, ResourceWriter } from '../service/port.ts';

/** The input of observing and planning an environment. O is null for a caller that does not read the settings. */
export interface PlanInput<O extends ObservedState | null = ObservedState> extends PlanTerms {
  /** Reads the settings: what the service is shows in them. */
  readonly settings: Observer<O>;
  /** Creates the reader of another resource. */
  readonly reader: <R>(of: ResourceReader<R>) => R;
  /** Creates the readers of blocks that the file does not declare; absent if those are not to be listed. */
  readonly listing?: PlanInput['reader'] | undefined;
  /** The resources to plan and write, in this order. */
  readonly resources: readonly ManagedResource[];
  readonly clock: Clock;
  /** The wait for effects that follow a request, in milliseconds; 0 does not wait. */
  readonly wait: number;
  /** Receives what is waited for, after each observation of it. */
  readonly progress: (waiting: readonly SandboxProgress[]) => void;
  /** A request to stop: nothing new is begun; a write in flight is finished and verified. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Tries the parts of a plan, or reports the known results; absent if that was not requested. `refused` is why it would not be written.
   */
  readonly prove?:
    | ((plan: Plan, settings: ObservedState, refused: string | null) => Promise<readonly Proof[]>)
    | undefined;
}

/** The input of one reconcile. */
export interface ReconcileInput extends PlanInput {
  /** Creates the writer of a resource. */
  readonly writer: <W>(of: ResourceWriter<W>) => W;
  readonly fingerprints: FingerprintStore;
  /** The saved plan that limits every write; null if there is none. */
  readonly approved: ApprovedPlan | null;
  /** Write only if nothing is stored yet. */
  readonly ifEmpty?: boolean | undefined;
  /** Receives each plan that has changes, before the guards decide. */
  readonly announce: (planned: PlanResult) => Promise<void>;
  /** Decides once for each plan that would be written. */
  readonly approve: () => Promise<boolean>;
  /** A second request to stop: what is in flight is abandoned, and its state is unknown. */
  readonly abandon?: AbortSignal | undefined;
}

/** The end of the write of one resource. `error` is null if the state is as declared. A verified stop also has an error. */
export interface ResourceEnd {
  readonly status: Exclude<OutcomeVerdict, 'not-started' | 'refused' | 'not-empty'>;
  readonly results: ReadonlyMap<Change, Result>;
  /** The ids that the service gave to what was made. */
  readonly started: ReadonlyMap<Change, string>;
  readonly remaining: readonly Remainder[];
  readonly unknown: readonly Unknown[];
  readonly warnings: readonly Warning[];
  readonly error: SetpointError | null;
}

/** The end of a reconcile: the ends of all resources in one. */
export interface ReconcileResult extends Omit<ResourceEnd, 'status'>, ServiceDialect {
  readonly status: EnvironmentOutcome['status'];
  readonly plan: Plan;
  /** Every reason that the guards refused the plan. */
  readonly refusals: readonly Refusal[];
  /** The service's trials of the plan before the write; absent if they were not requested. */
  readonly proofs?: readonly Proof[] | undefined;
}

/** Plans a resource that was read; null if there is nothing to plan. */
export type Reading = ((earlier: Plan) => PartPlan) | null;

/**
 * A resource, and how it is read, planned and written.
 *
 * 1. Must return null from `read` without a request if the file declares nothing of it.
 * 2. Must throw a SetpointError from `read` if the service cannot hold what is declared.
 * 3. Must `write` its part alone, verify it by another read, and never throw.
 * 4. May have a `check` for `doctor`, `lists` for `get`, and `named` items for `init`.
 * 5. May `judge` the whole plan before anything is sent.
 * 6. May set `isList` if items have positions, and `removesLast` if others may use its items.
 *
 * @example
 * export const limits: ManagedResource = {
 *   ...LIMITS, // a Resource: name, block, and what approvals and --base ask
 *   read: async ({ reader }) => {
 *     const observed = await reader(LIMITS_READER).read();
 *     return () => planLimits(observed);
 *   },
 *   write: (input, part) => writeLimits(input.writer(LIMITS_WRITER), part),
 * };
 */
export interface ManagedResource extends Resource {
  /**
   * Reads it; the result plans what was read, given the parts of the plan before its own, and throws if the service cannot hold what is declared. Null if the file declares nothing of
   * it: then the service is asked nothing, and nothing is waited for. `settings` are those that the service has; null if they were not observed.
   */
  readonly read: (
    input: PlanInput<ObservedState | null>,
    settings: ObservedState | null,
  ) => Promise<Reading> | Reading;
  /** The check of `doctor` next to what the settings show, if the file declares any of it. */
  readonly check?: {
    readonly name: TargetCheck;
    /** Returns the finding. Throws the error that an apply would end with. */
    readonly found: (reader: PlanInput['reader'], signal?: AbortSignal) => Promise<string>;
    /** The property that is judged by the service's clock, in a few words. */
    readonly timed: string;
  };
  /** The lists that `get` shows next to the settings, by the names that select them. */
  readonly lists?: Readonly<Record<string, ShownList>>;
  /** The items that a first settings file declares by name; absent if there are none. */
  readonly named?: NamedItems;
  /** True if the file lists its items by position: plans then name each item by its position. */
  readonly isList?: true;
  /**
   * Judges a whole plan, and returns it with the removals that make room and what renames take along. Throws a SetpointError if the service
   * would refuse a request.
   */
  readonly judge?: (plan: Plan, settings: ObservedState) => Plan;
  /** True if removals come last: after every write of a possible user, and after every removal of one. */
  readonly removesLast?: true;
  /** Writes its part of a plan and verifies it. Nothing to do is `in-sync`, without a request. Never throws. */
  readonly write: (
    input: ReconcileInput,
    part: PartPlan,
    settings: ObservedState,
  ) => Promise<ResourceEnd>;
}

/** The items that a service stores by name, for a file that is to declare them. */
export interface NamedItems {
  readonly form: CollectionForm;
  /** The kinds of services that have such a collection. */
  readonly dialects: readonly DialectName[];
  /** Reports whether a service of a dialect changes something when it lists them. */
  readonly listWrites: (dialect: DialectName) => boolean;
  /**
   * The listing of the service; null if it has no such collection, `untold` if it reports it only once settings are stored. Throws a
   * SetpointError if that cannot be read or believed.
   */
  readonly list: (
    reader: PlanInput['reader'],
    settings: ObservedState,
    asked: AskedItems,
    signal: AbortSignal | undefined,
  ) => Promise<Listing | null | 'untold'>;
  /** Plans a declaration when no secret is known except from the listing. Pure. */
  readonly plan: (
    desired: DesiredState,
    listing: Listing,
    settings: ObservedState,
  ) => Pick<PartPlan, 'changes' | 'unknown' | 'unmanaged'>;
}

/** The requested items of a collection: the declared ones, and whether all others are included. */
export interface AskedItems {
  readonly declared: readonly DesiredItem[];
  /** The declarations of other collections; absent if there is no file. */
  readonly desired?: Pick<DesiredState, 'items'>;
  readonly all?: true;
  /**
   * True if only the names are requested, because declared items of other collections have them; several of one name are then not an error.
   */
  readonly isReferred?: true;
}

/** A list that `get` shows. */
export interface ShownList {
  /** As documents carry it; null if the service has none. `settings` are null if no list that was asked for goes by them. */
  readonly read: (
    reader: PlanInput['reader'],
    settings: ObservedState | null,
    signal: AbortSignal | undefined,
    desired: DesiredState,
  ) => Promise<unknown>;
  /** True if the settings show how it is read. */
  readonly bySettings: boolean;
  /** True if documents omit it unless it was requested. */
  readonly isOptional: boolean;
}
