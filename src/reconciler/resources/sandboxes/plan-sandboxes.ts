import type {
  CountedSandboxes,
  DesiredSandboxes,
  NamedSandbox,
} from '../../desired/blocks/sandboxes.ts';
import type { Change, UnmetReference } from '../../model/plan.ts';
import type { SandboxAction } from '../../model/action.ts';
import { REASONS, tooFewRunning, tooManyRunning, type Reason } from '../../model/reasons.ts';
import { type Warning, SetpointError } from '../../model/error.ts';
import { didYouMean } from '../../model/wording.ts';
import { isUp, type ObservedSandboxes, type Sandbox } from './wire.ts';

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
  readonly unmet: readonly UnmetReference[];
  readonly warnings: readonly Warning[];
}

/** The sandboxes that this run has started, by id, with the item that each was started for. */
export type StartedSandboxes = ReadonlyMap<string, DesiredSandboxes>;

export const NO_SANDBOXES: SandboxPlan = { steps: [], unmet: [], warnings: [] };

/**
 * The plan that turns the observed sandboxes into the declared ones. Pure; if nothing differs the plan is empty.
 *
 * PAUSED sandboxes are resumed, oldest first, before any is started. A surplus is paused newest first, so that the same sandboxes keep
 * running from run to run. A sandbox with a running conversation is not paused unless its item allows that. `started` counts for the item
 * that each sandbox was started for, whatever spec the service shows.
 */
export function planSandboxes(
  desired: readonly DesiredSandboxes[],
  observed: ObservedSandboxes,
  started: StartedSandboxes = new Map(),
): SandboxPlan {
  const claims = claimSandboxes(desired, observed.sandboxes, started);
  const plans = desired.map((item): SandboxPlan => {
    const claimed = claims.get(item) ?? [];
    return item.kind === 'named'
      ? planNamed(item, claimed, observed)
      : planCounted(item, claimed, observed);
  });
  return {
    steps: plans.flatMap(({ steps }) => steps),
    unmet: plans.flatMap(({ unmet }) => unmet),
    warnings: plans.flatMap(({ warnings }) => warnings),
  };
}

/**
 * Assigns each sandbox to the item that owns it, at most one. In this order: the item that names its id, the item that it was
 * started for, the item of its spec, the item without a spec.
 */
export function claimSandboxes(
  desired: readonly DesiredSandboxes[],
  sandboxes: readonly Sandbox[],
  started: StartedSandboxes,
): ReadonlyMap<DesiredSandboxes, readonly Sandbox[]> {
  const named = new Map<string, DesiredSandboxes>();
  const counted = new Map<string | null, DesiredSandboxes>();
  for (const item of desired.toReversed()) {
    if (item.kind === 'named') named.set(item.id, item);
    else counted.set(item.spec, item);
  }
  const claims = new Map<DesiredSandboxes, Sandbox[]>(desired.map((item) => [item, []]));
  for (const sandbox of sandboxes) {
    const item =
      named.get(sandbox.id) ??
      started.get(sandbox.id) ??
      // A sandbox whose spec is not reported (null) belongs to the item without a spec.
      counted.get(sandbox.spec) ??
      counted.get(null);
    if (item !== undefined) claims.get(item)?.push(sandbox);
  }
  return claims;
}

function planCounted(
  item: CountedSandboxes,
  claimed: readonly Sandbox[],
  observed: ObservedSandboxes,
): SandboxPlan {
  const up = claimed.filter((sandbox) => isUp(sandbox, observed.at));
  if (up.length > item.running && item.surplus === 'pause')
    return pauseSurplus(item, up, observed.busy);
  const missing = Math.max(0, item.running - up.length);
  const reason = tooFewRunning(up.length, item.running);
  const resumed = claimed
    .filter(({ status }) => status === 'PAUSED')
    .toSorted(oldestFirst)
    .slice(0, missing);
  const starts = Array.from({ length: missing - resumed.length }, (_, index) =>
    startStep(item, index + 1, reason),
  );
  return {
    steps: [...resumed.map((sandbox) => resumeStep(item, sandbox, reason)), ...starts],
    unmet: [],
    warnings: missing > 0 ? notCounted(claimed, observed.at) : [],
  };
}

function pauseSurplus(
  item: CountedSandboxes,
  up: readonly Sandbox[],
  busy: ObservedSandboxes['busy'],
): SandboxPlan {
  const surplus = up.length - item.running;
  const candidates = up.toSorted((a, b) => isBooting(a) - isBooting(b) || oldestFirst(b, a));
  const kept =
    item.whenBusy === 'skip' ? candidates.filter(({ id }) => busy?.has(id) === true) : [];
  const keptOnes = new Set(kept);
  const paused = candidates.filter((sandbox) => !keptOnes.has(sandbox)).slice(0, surplus);
  const reason = tooManyRunning(up.length, item.running);
  return {
    steps: paused.map((sandbox) => pauseStep(item, sandbox, reason)),
    unmet: [],
    warnings: kept.slice(0, surplus - paused.length).map(busyWarning),
  };
}

/** Sorts what is not RUNNING yet last: a service may ignore the pause of it. */
function isBooting({ status }: Sandbox): number {
  return status === 'RUNNING' ? 0 : 1;
}

/** Oldest first; without an age, by id. */
function oldestFirst(a: Sandbox, b: Sandbox): number {
  return (a.createdAt ?? 0) - (b.createdAt ?? 0) || (a.id < b.id ? -1 : 1);
}

/** Sandboxes that count as down and cannot be resumed: new ones replace them, and a user should check them. */
function notCounted(claimed: readonly Sandbox[], at: number): Warning[] {
  return claimed
    .filter((sandbox) => sandbox.status === 'ERROR' && !isUp(sandbox, at))
    .toSorted(oldestFirst)
    .map(({ id }) => ({
      code: 'sandbox-failed',
      message: `Sandbox ${id} is in state ERROR and does not count; it is left unchanged.`,
      path: [id],
    }));
}

/** A sandbox that is declared by its id can be paused and resumed, and not started. */
function planNamed(
  item: NamedSandbox,
  [sandbox]: readonly Sandbox[],
  { at, busy }: ObservedSandboxes,
): SandboxPlan {
  if (sandbox === undefined || sandbox.status === 'MISSING') return gone(item);
  const up = isUp(sandbox, at);
  if (item.state === 'running') {
    if (up) return NO_SANDBOXES;
    return sandbox.status === 'PAUSED'
      ? { ...NO_SANDBOXES, steps: [resumeStep(item, sandbox, REASONS['declared-running'])] }
      : notResumable(item, sandbox);
  }
  if (sandbox.status === 'PAUSED') return NO_SANDBOXES;
  if (!up) return { ...NO_SANDBOXES, warnings: [notPausable(sandbox)] };
  return item.whenBusy === 'skip' && busy?.has(sandbox.id) === true
    ? { ...NO_SANDBOXES, warnings: [busyWarning(sandbox)] }
    : { ...NO_SANDBOXES, steps: [pauseStep(item, sandbox, REASONS['declared-paused'])] };
}

function gone({ id, state }: NamedSandbox): SandboxPlan {
  const message = `Sandbox ${id} is declared ${state}, but the service has no sandbox of that id.`;
  if (state === 'paused')
    return { ...NO_SANDBOXES, warnings: [{ code: 'sandbox-gone', message, path: [id] }] };
  const hint =
    'Remove the item, or declare running: and a number. A deleted sandbox cannot be restored.';
  return { ...NO_SANDBOXES, unmet: [{ code: 'sandbox-gone', message, hint, path: [id] }] };
}

function notResumable({ id }: NamedSandbox, { status }: Sandbox): SandboxPlan {
  const message = `Sandbox ${id} is declared running but is in state ${status}: only a paused one can be resumed.`;
  const hint = 'Check the sandbox; if it cannot be repaired, declare another one.';
  return { ...NO_SANDBOXES, unmet: [{ code: 'sandbox-failed', message, hint, path: [id] }] };
}

function notPausable({ id, status }: Sandbox): Warning {
  const message = `Sandbox ${id} is declared paused but is in state ${status}; it is left unchanged.`;
  return { code: 'sandbox-failed', message, path: [id] };
}

function busyWarning({ id }: Sandbox): Warning {
  return {
    code: 'sandbox-busy',
    message: `Sandbox ${id} is not paused: a conversation runs there. when_busy: pause would cut it off.`,
    path: [id],
  };
}

/** The service gives the sandbox its id; `number` counts the starts of an item from 1. */
function startStep(item: CountedSandboxes, number: number, reason: Reason): SandboxStep {
  const path = [item.spec ?? 'default', `#${number}`];
  return sandboxStep('start', item, null, { path, before: null, after: 'RUNNING', ...reason });
}

function resumeStep(item: DesiredSandboxes, { id, status }: Sandbox, reason: Reason): SandboxStep {
  return sandboxStep('resume', item, id, {
    path: [id],
    before: status,
    after: 'RUNNING',
    ...reason,
  });
}

function pauseStep(item: DesiredSandboxes, { id, status }: Sandbox, reason: Reason): SandboxStep {
  return sandboxStep('pause', item, id, { path: [id], before: status, after: 'PAUSED', ...reason });
}

function sandboxStep(
  action: SandboxStep['action'],
  item: DesiredSandboxes,
  sandbox: string | null,
  change: Pick<SandboxStep['change'], 'path' | 'before' | 'after' | keyof Reason>,
): SandboxStep {
  const { source } = item;
  return {
    action,
    item,
    sandbox,
    change: { resource: 'sandbox', action, sensitive: false, ref: null, source, ...change },
  };
}

/**
 * The reason why an environment is refused before any write: an item names a spec that the service does not have, or starts sandboxes that
 * would count for another item. A retired spec (the ids change with every upgrade of a service) may still be named to pause the sandboxes
 * that run from it, and not to start one.
 */
export function specProblem(
  desired: readonly DesiredSandboxes[],
  { sandboxes, specs }: ObservedSandboxes,
  { steps }: SandboxPlan,
): SetpointError | null {
  if (specs === null) return null;
  const ids = specs.map(({ id }) => id);
  const counted = desired.filter((item) => item.kind === 'counted');
  for (const item of counted) {
    const starts = steps.some((step) => step.item === item && step.action === 'start');
    if (item.spec === null) {
      const [usual] = ids;
      const other = counted.find(({ spec }) => spec === usual);
      if (starts && usual !== undefined && other !== undefined)
        return startsForAnother(item, usual);
    } else if (!ids.includes(item.spec)) {
      const shown = sandboxes.some(({ spec }) => spec === item.spec);
      if (starts || !shown) return unknownSpec(item, item.spec, ids);
    }
  }
  return null;
}

function unknownSpec(
  { source: { file, line } }: CountedSandboxes,
  spec: string,
  ids: readonly string[],
): SetpointError {
  return new SetpointError(
    'spec-refused',
    `${file}:${line} names the sandbox spec ${spec}, which the service does not have.`,
    { hint: `${didYouMean(spec, ids)} ${formatIdChoices(ids)}`.trim() },
  );
}

function startsForAnother({ source }: CountedSandboxes, usual: string): SetpointError {
  const { file, line } = source;
  return new SetpointError(
    'spec-refused',
    `${file}:${line} starts from the server's default spec, ${usual}, which another item names: what it starts would count there.`,
    { hint: 'Give this item its own spec, or merge the two items.' },
  );
}

const LISTED_SPECS = 10;

function formatIdChoices(ids: readonly string[]): string {
  if (ids.length === 0) return 'It lists none.';
  const more = ids.length > LISTED_SPECS ? ` and ${ids.length - LISTED_SPECS} more` : '';
  return `Available: ${ids.slice(0, LISTED_SPECS).join(', ')}${more}.`;
}
