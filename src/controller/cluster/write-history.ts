import type { WatchState, WriteEvent } from '../../reconciler/model/watch.ts';
import { visible } from '../../reconciler/render/text.ts';
import { approvalDigest } from '../watch/healing.ts';
import type { SettingsApprovals } from './settings-approvals.ts';
import { withoutFraction, type AppliedPlan } from './status.ts';
import { parseGeneration, type TargetResource } from './target-resource.ts';

const LONGEST_NAME = 256;
/** The most writes that a status lists. */
const MOST = 10;

/** The last writes of each object by this process, with the approval that covered each. */
export class WriteHistory {
  readonly #approvals: Pick<SettingsApprovals, 'find'>;
  readonly #applied = new Map<string, readonly AppliedPlan[]>();

  constructor(approvals: Pick<SettingsApprovals, 'find'>) {
    this.#approvals = approvals;
  }

  /** Returns the writes of an object, the latest first. */
  of(key: string): readonly AppliedPlan[] {
    return this.#applied.get(key) ?? [];
  }

  delete(key: string): void {
    this.#applied.delete(key);
  }

  /** Adds a write. Returns its time and the digest that approvals name; null if the plan was not written. */
  add(
    object: TargetResource,
    state: WatchState,
    { at, outcome }: WriteEvent & { readonly at: string },
  ): { readonly at: string; readonly digest: string } | null {
    if (outcome.requests.post === 0) return null;
    const digest = approvalDigest(state);
    const time = withoutFraction(at);
    const approval = this.#approvals.find(state.name, digest);
    const approver = approval?.spec.approver;
    const isApproved = state.settings.approvals !== undefined;
    const entry: AppliedPlan = {
      time,
      generation: parseGeneration(object),
      digest,
      result: outcome.status,
      changes: outcome.changes.length,
      ...(isApproved ? { approval: approval?.metadata.name ?? 'spec.approval' } : {}),
      ...(isApproved && approver !== undefined
        ? { approver: visible(approver).slice(0, LONGEST_NAME) }
        : {}),
    };
    this.#applied.set(state.name, [entry, ...this.of(state.name)].slice(0, MOST));
    return outcome.status === 'applied' ? { at: time, digest } : null;
  }
}
