import type { DesiredSandboxes } from '../../desired/blocks/sandboxes.ts';
import { declaredItems, type DesiredState } from '../../model/state.ts';
import type { SandboxAction } from '../../model/action.ts';
import type { Change, Unmet, Warning } from '../../model/plan.ts';

/**
 * A sandbox as the service lists it. `status` is the service's word in capitals: STARTING, RUNNING, PAUSED, ERROR, MISSING,
 * or one of a later version. `createdAt` is in milliseconds since 1970; null, like `spec`, if the service does not report it.
 * What a listing carries besides, keys of sessions among it, is not kept. Source: behaviour 3.2.
 */
export interface Sandbox {
  readonly id: string;
  readonly spec: string | null;
  readonly status: string;
  readonly createdAt: number | null;
}

/** A template that sandboxes are started from. The first of a list is the service's default. */
export interface SandboxSpec {
  readonly id: string;
}

/** A conversation as the service lists it. `status`: idle, running, paused, finished, …; null if it is not known. */
export interface Conversation {
  readonly id: string;
  readonly sandbox: string | null;
  readonly status: string | null;
  readonly createdAt: number | null;
}

/** How an apply of `sandboxes:` sees the service. */
export interface ObservedSandboxes {
  readonly sandboxes: readonly Sandbox[];
  /** The specs of the service; null if the file names none. */
  readonly specs: readonly SandboxSpec[] | null;
  /** The sandboxes in which a conversation runs; null if that was not read. */
  readonly busy: ReadonlySet<string> | null;
  /** The service's own time of the observation, in milliseconds since 1970. */
  readonly at: number;
}

/** An ERROR younger than this, in milliseconds, counts as a start under way: one backend reports ERROR while it boots. Source: behaviour 3.2. */
const BOOT_TIME = 5 * 60_000;

/** Whether a sandbox counts as up: not PAUSED, ERROR or MISSING. One backend reports STARTING for good. */
export function isUp({ status, createdAt }: Sandbox, at: number): boolean {
  if (status === 'ERROR') return createdAt !== null && at - createdAt < BOOT_TIME;
  return status !== 'PAUSED' && status !== 'MISSING';
}

/** One sandbox to be started, resumed or paused. `sandbox` is its id; null for one that is yet to be started. */
export interface SandboxStep {
  readonly action: SandboxAction;
  readonly sandbox: string | null;
  readonly item: DesiredSandboxes;
  readonly change: Change;
}

/** The plan of the sandboxes: resumes before starts within an item, items in the order of the file. */
export interface SandboxPlan {
  readonly steps: readonly SandboxStep[];
  readonly unmet: readonly Unmet[];
  readonly warnings: readonly Warning[];
}

/** The declared sandboxes. If there are none, the service's sandboxes are neither read nor changed. */
export function declaredSandboxes(
  desired: Pick<DesiredState, 'items'>,
): readonly DesiredSandboxes[] {
  return declaredItems(desired, BLOCK) as readonly DesiredSandboxes[];
}

/** The block of a settings file that declares them. */
export const BLOCK = 'sandboxes';
