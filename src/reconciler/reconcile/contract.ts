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
import type { DesiredState, ObservedState, Spoken } from '../model/state.ts';
import type { OutcomeVerdict } from '../model/verdict.ts';
import type { Approved } from '../plan/approval.ts';
import type { Planned } from '../plan/plan-environment.ts';
import type { PlanTerms } from '../plan/settings-part.ts';
import type { ReaderOf, WriterOf } from '../service/port.ts';

/** What an environment is observed and planned with. O is null for a caller that does not look at the settings. */
export interface PlanInput<O extends ObservedState | null = ObservedState> extends PlanTerms {
  /** Reads the settings: what the service is shows in them. */
  readonly settings: Observer<O>;
  /** What reads another resource. */
  readonly reader: <R>(of: ReaderOf<R>) => R;
  /** What is planned and written, in this order. */
  readonly resources: readonly ManagedResource[];
  readonly clock: Clock;
  /** How long to wait for what takes time after its request, in milliseconds; 0 does not wait. */
  readonly wait: number;
  /** Receives what is waited for, after each observation of it. */
  readonly progress: (waiting: readonly SandboxProgress[]) => void;
  /** A request to stop: nothing new is begun; a write in flight is finished and verified. */
  readonly signal?: AbortSignal | undefined;
  /** Finds out what of a plan works, or tells what is known of it; absent if nobody asked. `refused` is why it would not be written. */
  readonly prove?:
    | ((plan: Plan, settings: ObservedState, refused: string | null) => Promise<readonly Proof[]>)
    | undefined;
}

/** What one reconcile works with. */
export interface ReconcileInput extends PlanInput {
  /** What writes a resource. */
  readonly writer: <W>(of: WriterOf<W>) => W;
  readonly fingerprints: FingerprintStore;
  /** The saved plan that nothing may go beyond; null if there is none. */
  readonly approved: Approved | null;
  /** Write only if nothing is stored yet. */
  readonly ifEmpty?: boolean | undefined;
  /** Receives each plan that has changes, before the guards decide. */
  readonly announce: (planned: Planned) => Promise<void>;
  /** Decides once for each plan that would be written. */
  readonly approve: () => Promise<boolean>;
  /** A second request to stop: what is in flight is abandoned, and its state is unknown. */
  readonly abandon?: AbortSignal | undefined;
}

/** How the write of one resource ended. `error` is null if it is as declared; a stop that was verified has one, too. */
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

/** How a reconcile ended: the ends of all resources in one. */
export interface Reconciled extends Omit<ResourceEnd, 'status'>, Spoken {
  readonly status: EnvironmentOutcome['status'];
  readonly plan: Plan;
  /** Why the guards refused the plan: every reason. */
  readonly refusals: readonly Refusal[];
  /** What the service tried of the plan before it was written; absent if it was not asked to. */
  readonly proofs?: readonly Proof[] | undefined;
}

/** What plans a resource that was read; null if there is nothing of it to plan. */
export type Reading = ((earlier: Plan) => PartPlan) | null;

/** A resource, and how it is read, planned and written. */
export interface ManagedResource extends Resource {
  /**
   * Reads it; the result plans what was read, given the parts of the plan before its own, and throws if the service cannot hold what is declared. Null if the file declares nothing of
   * it: then the service is asked nothing, and nothing is waited for. `settings` are those that the service has; null if they were not observed.
   */
  readonly read: (
    input: PlanInput<ObservedState | null>,
    settings: ObservedState | null,
  ) => Promise<Reading> | Reading;
  /** What `doctor` checks besides what the settings show, if the file declares something of it. */
  readonly check?: {
    readonly name: TargetCheck;
    /** What was found. Throws the error that an apply would end with. */
    readonly found: (reader: PlanInput['reader'], signal?: AbortSignal) => Promise<string>;
    /** What it judges by the time of the service, in a few words. */
    readonly timed: string;
  };
  /** What `get` shows of it besides the settings, by the names that it is asked for. */
  readonly lists?: Readonly<Record<string, ShownList>>;
  /** What a first settings file declares of it by name; absent if it has no such items. */
  readonly named?: NamedItems;
  /** Whether the file lists its items by their place, so that what is planned of one is known by its place. */
  readonly isList?: true;
  /** Whether what it removes is removed when all that may refer to it is written, and after what may refer to it is removed. */
  readonly removesLast?: true;
  /** Writes its part of a plan and verifies it. Nothing to do is `in-sync`, without a request. Never throws. */
  readonly write: (
    input: ReconcileInput,
    part: PartPlan,
    settings: ObservedState,
  ) => Promise<ResourceEnd>;
}

/** What a service keeps by name, for a file that is to declare it. */
export interface NamedItems {
  readonly form: CollectionForm;
  /** The kinds of services that have such a collection. */
  readonly dialects: readonly DialectName[];
  /**
   * What the service has; null if it has no such collection, `untold` if it tells of it only once settings are stored. Throws a SetpointError
   * if that cannot be read or believed.
   */
  readonly list: (
    reader: PlanInput['reader'],
    settings: ObservedState,
    asked: AskedItems,
    signal: AbortSignal | undefined,
  ) => Promise<Listing | null | 'untold'>;
  /** What a plan makes of what a file declares, if nothing is known of secrets besides the listing. Pure. */
  readonly plan: (
    desired: DesiredState,
    listing: Listing,
    settings: ObservedState,
  ) => Pick<PartPlan, 'changes' | 'unknown' | 'unmanaged'>;
}

/** What of a collection is asked for: the declared items, and whether all others are, too. */
export interface AskedItems {
  readonly declared: readonly DesiredItem[];
  /** What the file declares of other collections; absent if there is no file. */
  readonly desired?: Pick<DesiredState, 'items'>;
  readonly all?: true;
  /** Whether only the names are asked for, because declared items of other collections have them; several of one name are no error. */
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
  /** Whether how it is read shows in the settings. */
  readonly bySettings: boolean;
  /** Whether documents leave it out if it was not asked for. */
  readonly isOptional: boolean;
}
