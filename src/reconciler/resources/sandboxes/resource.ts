import { listDeclaredSandboxes, sandboxes } from '../../desired/blocks/sandboxes.ts';
import { asSetpointError, SetpointError, type Warning } from '../../model/error.ts';
import type { PartPlan } from '../../model/plan.ts';
import type { DesiredState, ObservedState } from '../../model/state.ts';
import { requireFit } from '../../plan/fit.ts';
import type {
  ManagedResource,
  PlanInput,
  Reading,
  ReconcileInput,
  ResourceEnd,
  ShownList,
} from '../../reconcile/contract.ts';
import { findInterruption, unlessAbandoned } from '../../reconcile/interruption.ts';
import { concludeRun, sandboxEnd, unwrittenEnd } from './conclude.ts';
import { followSteps, sendSteps, stillNeeded, type SandboxRun } from './run.ts';
import { NO_SANDBOXES, planSandboxes, specProblem, type SandboxPlan } from './plan-sandboxes.ts';
import { isUp, SANDBOX_READER, type ObservedSandboxes, type SandboxReader } from './wire.ts';

/** The sandboxes of a service. All items are one to approvals and agreements: what one claims depends on the others. */
export const SANDBOXES: ManagedResource = {
  name: 'sandbox',
  block: sandboxes.name,
  items: {
    declared: (desired) =>
      new Map([[ALL, listDeclaredSandboxes(desired).map((item) => ({ ...item, source: null }))]]),
    of: () => ALL,
  },
  // A fact that a change does not show and an approval covers: whether a conversation may be cut off.
  terms: (part) =>
    extractSandboxPlan(part).steps.map(({ item: { kind, whenBusy } }) => [kind, whenBusy]),
  read: (input, settings) =>
    listDeclaredSandboxes(input.desired).length === 0 ? null : readDeclared(input, settings),
  isList: true,
  check: {
    name: 'sandboxes',
    timed: 'ages of sandboxes',
    found: async (reader, signal) => {
      const { sandboxes: listed, at } = await reader(SANDBOX_READER).sandboxes(signal);
      return `can be listed: ${listed.length}, ${listed.filter((one) => isUp(one, at)).length} of them up`;
    },
  },
  lists: {
    sandboxes: createShownList(async (reader, signal) =>
      (await reader.sandboxes(signal)).sandboxes.map(({ id, spec, status, createdAt }) => ({
        id,
        spec,
        status,
        created_at: timeText(createdAt),
      })),
    ),
    specs: createShownList(async (reader, signal) =>
      (await reader.specs(signal))?.map(({ id }, index) => ({ id, default: index === 0 })),
    ),
    conversations: createShownList(async (reader, signal) =>
      (await reader.conversations(signal))?.map(({ id, sandbox, status, createdAt }) => ({
        id,
        sandbox,
        status,
        created_at: timeText(createdAt),
      })),
    ),
  },
  write: (input, part) => writeSandboxes(input, extractSandboxPlan(part)),
};

async function readDeclared(
  input: PlanInput<ObservedState | null>,
  settings: ObservedState | null,
): Promise<Reading> {
  const { desired } = input;
  // A service without sandboxes is not asked for any.
  if (settings !== null) requireFit(desired, settings);
  const plan = await planSandboxesPart(input, settings, desired);
  return () => sandboxPart(plan);
}

const ALL = '';

function createShownList(
  read: (reader: SandboxReader, signal: AbortSignal | undefined) => Promise<unknown>,
): ShownList {
  return {
    read: (reader, _, signal) => read(reader(SANDBOX_READER), signal),
    bySettings: false,
    isOptional: false,
  };
}

function timeText(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/**
 * Some releases cannot list sandboxes while no settings are stored, and fail. The settings are planned without them then: refused
 * together, neither would ever be written. Source: behaviour 3.1.
 */
async function planSandboxesPart(
  input: PlanInput<ObservedState | null>,
  settings: ObservedState | null,
  { fields }: DesiredState,
): Promise<SandboxPlan> {
  try {
    return await planObservedSandboxes(input);
  } catch (thrown) {
    const isFirst = settings !== null && !settings.stored && fields.length > 0;
    if (isFirst && thrown instanceof SetpointError && thrown.code === 'server-error')
      return SANDBOXES_LATER;
    throw thrown;
  }
}

/** The plan if the service cannot list sandboxes before the first settings are stored. */
const SANDBOXES_LATER: SandboxPlan = {
  ...NO_SANDBOXES,
  unmet: [
    {
      code: 'sandbox-later',
      message: 'The service could not list its sandboxes, and has no settings stored yet.',
      hint: 'Apply again once the settings are stored: some releases list no sandboxes before.',
      path: [],
    },
  ],
};

/** The sandboxes' part of a plan. */
export function sandboxPart(plan: SandboxPlan): PartPlan<SandboxPlan> {
  const { steps, unmet, warnings } = plan;
  const changes = steps.map(({ change }) => change);
  return {
    resource: SANDBOXES,
    changes,
    unknown: [],
    warnings,
    unmanaged: [],
    gone: [],
    unpreservable: [],
    unmet,
    work: plan,
  };
}

/** The plan of the sandboxes in their part, its steps with the changes that the part has. */
function extractSandboxPlan({ work, changes }: PartPlan): SandboxPlan {
  const { steps, unmet, warnings } = work as SandboxPlan;
  return {
    steps: steps.map((step, index) => ({ ...step, change: changes[index] ?? step.change })),
    unmet,
    warnings,
  };
}

type Input = PlanInput<ObservedState | null>;

/** The time, in milliseconds, that an ERROR too old for a start is watched before it is accepted, and the interval. */
const PATIENCE = 30_000;
const PAUSE = 3000;
/** An empty list may be an outage of what runs the sandboxes: it is read again after this, in milliseconds. */
const EMPTY_PAUSE = 2000;

/**
 * The plan of the sandboxes as they are. A sandbox in ERROR may be booting however old it is: no answer shows when it
 * was resumed. If the plan would give one up, it is watched for a while first; with `wait` 0 it is not. A request to stop ends
 * the watch with its error. If no sandbox is declared, nothing is requested.
 */
export async function planObservedSandboxes(input: Input): Promise<SandboxPlan> {
  const { desired, clock, signal } = input;
  if (listDeclaredSandboxes(desired).length === 0) return NO_SANDBOXES;
  const begun = clock.monotonic();
  let { plan } = await observeSandboxes(input, ({ unmet }) => unmet.length > 0);
  for (;;) {
    const failed = listFailedSandboxes(plan);
    const isOver = clock.monotonic() - begun >= Math.min(PATIENCE, input.wait);
    if (failed.length === 0 || isOver) return plan;
    const stopped = findInterruption(signal);
    if (stopped !== null) throw stopped;
    input.progress(
      failed.map((id) => ({ action: 'watch', id, spec: null, status: 'ERROR', done: false })),
    );
    await clock.sleep(PAUSE, signal);
    ({ plan } = await readSandboxes(input));
  }
}

function listFailedSandboxes({ unmet, warnings }: SandboxPlan): string[] {
  return [...unmet, ...warnings].flatMap(({ code, path: [id] }) =>
    code === 'sandbox-failed' && id !== undefined ? [id] : [],
  );
}

export interface SandboxObservation {
  readonly observed: ObservedSandboxes;
  readonly plan: SandboxPlan;
}

/** Observes the sandboxes and plans them; an empty list whose plan is doubted is read a second time. */
export async function observeSandboxes(
  input: Input,
  isDoubted: (plan: SandboxPlan) => boolean,
): Promise<SandboxObservation> {
  const first = await readSandboxes(input);
  const isEmpty = first.observed.sandboxes.length === 0;
  if (!isEmpty || !isDoubted(first.plan) || findInterruption(input.signal) !== null) return first;
  await input.clock.sleep(EMPTY_PAUSE, input.signal);
  return readSandboxes(input);
}

/** Reads specs only if an item names one, and conversations only if a pause could interrupt one. Throws `spec-refused`. */
async function readSandboxes(input: Input): Promise<SandboxObservation> {
  const { signal } = input;
  const desired = listDeclaredSandboxes(input.desired);
  const observer = input.reader(SANDBOX_READER);
  const isNamed = desired.some((item) => item.kind === 'counted' && item.spec !== null);
  const [{ sandboxes, at }, specs] = await Promise.all([
    observer.sandboxes(signal),
    isNamed ? observer.specs(signal) : null,
  ]);
  const first: ObservedSandboxes = { sandboxes, specs, busy: null, at };
  const plan = planSandboxes(desired, first);
  const problem = specProblem(desired, first, plan);
  if (problem !== null) throw problem;
  if (!plan.steps.some(({ action, item }) => action === 'pause' && item.whenBusy === 'skip'))
    return { observed: first, plan };
  const busy = await busySandboxes(observer, signal);
  if (busy === null)
    return { observed: first, plan: { ...plan, warnings: [...plan.warnings, UNKNOWN_BUSY] } };
  const observed = { ...first, busy };
  return { observed, plan: planSandboxes(desired, observed) };
}

const UNKNOWN_BUSY: Warning = {
  code: 'sandbox-busy',
  message:
    'The snapshot does not show where conversations run; a sandbox in which one runs would not be paused.',
  path: [],
};

/** Null if the observer has no conversations. */
async function busySandboxes(
  observer: SandboxReader,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string> | null> {
  const conversations = await observer.conversations(signal);
  if (conversations === null) return null;
  return new Set(
    conversations.flatMap(({ sandbox, status }) =>
      sandbox !== null && status === 'running' ? [sandbox] : [],
    ),
  );
}

/**
 * Creates the declared sandboxes: observe again, send the requests of the approved plan that are still needed, follow them, conclude.
 *
 * - Nothing is sent that was not approved, nor anything that the observation right before it does not show the need for. So
 *   there are never more starts than sandboxes missing in either observation, even if one of them was wrong.
 * - A start is sent once. If its answer was lost, a sandbox that has appeared since counts as the one that it started; if none
 *   has, the error reports that, and the next run counts the existing ones.
 * - A limit of the service shows as sandboxes that it pauses: that is reported, and nothing is sent against it.
 */
export async function writeSandboxes(
  input: ReconcileInput,
  approved: SandboxPlan,
): Promise<ResourceEnd> {
  if (approved.steps.length === 0 && approved.unmet.length === 0)
    return unwrittenEnd(approved, 'in-sync', 'not-sent', null);
  const later = approved.unmet.find(({ code }) => code === 'sandbox-later');
  if (later !== undefined) {
    const { message, hint } = later;
    const error = new SetpointError('applied-in-part', message, { hint });
    return unwrittenEnd(approved, 'partial', 'not-sent', error);
  }
  let sending = false;
  try {
    const observing = observeSandboxes(input, () => approved.steps.length > 0);
    const { observed: before, plan } = await unlessAbandoned(observing, input.abandon);
    const stopped = findInterruption(input.signal);
    if (stopped !== null) return unwrittenEnd(approved, 'failed', 'not-sent', stopped);
    const needed = stillNeeded(approved.steps, plan);
    sending = needed.length > 0;
    const begun: SandboxRun = {
      desired: listDeclaredSandboxes(input.desired),
      approved,
      before,
      steps: await sendSteps(input, needed, before),
      last: null,
      error: null,
      waited: false,
    };
    const run = await followSteps(input, begun);
    const waited = input.wait > 0 && findInterruption(input.signal) === null;
    return sandboxEnd(concludeRun({ ...run, waited }), findInterruption(input.signal));
  } catch (thrown) {
    const error = asSetpointError(thrown);
    const stopped = findInterruption(input.signal);
    if (!sending) return unwrittenEnd(approved, 'failed', 'not-sent', stopped ?? error);
    const { message, hint } = error;
    const abandoned = new SetpointError((stopped ?? error).code, message, { hint, cause: error });
    return unwrittenEnd(approved, 'failed', 'unknown', abandoned);
  }
}
