import { SetpointError, type Warning } from '../../model/error.ts';
import type { Remainder, Result } from '../../model/outcome.ts';
import { samePath } from '../../model/path.ts';
import { partWarnings, type Change } from '../../model/plan.ts';
import type { DesiredSandboxes } from '../../desired/blocks/sandboxes.ts';
import {
  claimSandboxes,
  planSandboxes,
  type SandboxPlan,
  type SandboxStep,
} from './plan-sandboxes.ts';
import { isUp } from './wire.ts';
import { type ResourceEnd } from '../../reconcile/contract.ts';
import { toPartialError, sameResult } from '../../reconcile/resource-end.ts';
import {
  isActionPending,
  collectNamedSpecs,
  listStartedSandboxes,
  wasSent,
  type RunStep,
  type SandboxRun,
} from './run.ts';

/** The end of a run, before it becomes one status and one error. */
export interface Conclusion extends Pick<
  ResourceEnd,
  'results' | 'started' | 'remaining' | 'warnings'
> {
  /** True if a request had, or may have had, an effect. */
  readonly changed: boolean;
  /** The errors, the gravest first. */
  readonly errors: readonly SetpointError[];
}

/** Compares the last observation with what was declared, and gives every approved change its result. */
export function concludeRun(run: SandboxRun): Conclusion {
  const { approved, steps } = run;
  const last = lastPlan(run);
  const left = last?.steps ?? [];
  const remaining = [
    ...listDisplacedSandboxes(run, left),
    ...otherSpecs(run),
    ...stillToDo(run, left),
  ];
  const open = steps.filter(isActionPending);
  const started = steps.flatMap(({ id, step }): [Change, string][] =>
    step.action === 'start' && id !== null ? [[step.change, id]] : [],
  );
  return {
    results: new Map(approved.steps.map((step) => [step.change, stepResult(step, run)])),
    started: new Map(started),
    remaining,
    warnings: [
      ...warningsSince(approved, last),
      ...warnDisplacedSandboxes(run, remaining),
      ...steps.filter(isStartingForGood).map(neverRunning),
    ],
    changed: steps.some(wasSent),
    errors: [
      ...steps.flatMap((one) => (wasSent(one) || one.error === null ? [] : [one.error])),
      ...open.filter(({ id }) => id === null).map(({ error }) => sandboxMaybeStarted(error)),
      ...(last ?? approved).unmet.map(
        ({ message, hint }) => new SetpointError('applied-in-part', message, { hint }),
      ),
      ...(run.error === null ? [] : [sandboxesNotObserved(run.error)]),
      ...(remaining.length > 0 ? [sandboxesNotConverged(remaining)] : []),
      ...(run.waited && open.length > 0 ? [sandboxesNotReady(open)] : []),
    ],
  };
}

/** Combines the end of a run into one status and one error. `stopped` is the error of a request to stop. */
export function sandboxEnd(
  { changed, errors, ...parts }: Conclusion,
  stopped: SetpointError | null,
): ResourceEnd {
  const [error = null] = errors;
  const end = { ...parts, unknown: [] };
  if (stopped !== null) return { ...end, status: changed ? 'partial' : 'failed', error: stopped };
  switch (error?.code) {
    case undefined:
      return { ...end, status: changed ? 'applied' : 'in-sync', error };
    case 'not-converged':
      return { ...end, status: 'not-converged', error };
    case 'applied-in-part':
      return { ...end, status: 'partial', error };
    default:
      if (!changed || error === null) return { ...end, status: 'failed', error };
      return {
        ...end,
        status: 'partial',
        error: error.code === 'timed-out' ? error : toPartialError(error),
      };
  }
}

/** An end at which nothing was concluded: every change has the same result. */
export function unwrittenEnd(
  plan: SandboxPlan,
  status: ResourceEnd['status'],
  result: 'not-sent' | 'unknown',
  error: SetpointError | null,
): ResourceEnd {
  return {
    status,
    results: sameResult(
      plan.steps.map(({ change }) => change),
      result,
    ),
    started: new Map(),
    remaining: [],
    unknown: [],
    warnings: partWarnings(plan),
    error,
  };
}

/** The plan of the last observation, what was started counting for its item; null if there was none. */
function lastPlan({ desired, before, steps, last }: SandboxRun): SandboxPlan | null {
  if (last === null) return null;
  const { specs, busy } = before;
  return planSandboxes(desired, { ...last, specs, busy }, listStartedSandboxes(steps));
}

/** The warnings of the plan, and those that are new since. */
function warningsSince(approved: SandboxPlan, last: SandboxPlan | null): Warning[] {
  const before = partWarnings(approved);
  const since = last === null ? [] : partWarnings(last);
  const isNew = ({ code, path }: Warning): boolean =>
    !before.some((other) => other.code === code && samePath(other.path, path));
  return [...before, ...since.filter(isNew)];
}

function stepResult({ change }: SandboxStep, { steps, waited }: SandboxRun): Result {
  const one = steps.find(({ step }) => step.change === change);
  // A step that is not there was not needed any more right before the first request.
  if (one === undefined || !wasSent(one)) return 'not-sent';
  const isPause = one.step.action === 'pause';
  if (isStartingForGood(one)) return 'unverifiable';
  if (one.state === 'settled') return !isPause && one.status === 'PAUSED' ? 'unknown' : 'verified';
  const status = one.status ?? 'MISSING';
  const hasBegun = !isPause && status !== 'PAUSED' && status !== 'MISSING';
  return !waited && hasBegun ? 'verified' : 'unknown';
}

/** Reports whether a start or resume settled while the service still shows STARTING. */
function isStartingForGood({ state, status, step }: RunStep): boolean {
  return state === 'settled' && step.action !== 'pause' && status === 'STARTING';
}

function neverRunning({ id }: RunStep): Warning {
  return {
    code: 'sandbox-starting',
    message: `Sandbox ${id} has been STARTING for two minutes and counts as up: this backend may never report RUNNING.`,
    path: id === null ? [] : [id],
  };
}

/** Sandboxes that ran, and that the service has paused while their item has too few. */
function listDisplacedSandboxes(run: SandboxRun, left: readonly SandboxStep[]): Remainder[] {
  return listServicePauses(run)
    .filter(({ item }) => left.some((step) => step.item === item && step.action !== 'pause'))
    .map(({ id }) => ({
      resource: 'sandbox',
      path: [id],
      expected: 'RUNNING',
      actual: 'PAUSED',
      reason: 'the service paused it automatically to run another one',
      hint: 'Declare fewer sandboxes running, or raise the limit of the service: it allows fewer at a time than are declared.',
    }));
}

/** Warns of displaced sandboxes while no item has too few. */
function warnDisplacedSandboxes(run: SandboxRun, remaining: readonly Remainder[]): Warning[] {
  return listServicePauses(run)
    .filter(({ id }) => !remaining.some(({ path }) => path[0] === id))
    .map(({ id }) => ({
      code: 'sandbox-displaced',
      message: `The service paused sandbox ${id} automatically to make room for another.`,
      path: [id],
    }));
}

/** Sandboxes that were up before, or that this run started or resumed, each with the item that owns it, if there is one. */
function listServicePauses({ desired, before, steps, last }: SandboxRun): {
  readonly id: string;
  readonly item: DesiredSandboxes | undefined;
}[] {
  if (last === null) return [];
  if (!steps.some((one) => one.step.action !== 'pause' && wasSent(one))) return [];
  const claims = [...claimSandboxes(desired, last.sandboxes, listStartedSandboxes(steps))];
  const ours = new Set(steps.flatMap(({ step, id }) => (step.action === 'pause' ? [id] : [])));
  const ran = new Set([
    ...before.sandboxes.filter((sandbox) => isUp(sandbox, before.at)).map(({ id }) => id),
    ...steps.flatMap((one) => (one.wasUp || one.state === 'given-up' ? (one.id ?? []) : [])),
  ]);
  return last.sandboxes
    .filter(({ id, status }) => status === 'PAUSED' && ran.has(id) && !ours.has(id))
    .map((sandbox) => ({
      id: sandbox.id,
      item: claims.find(([, claimed]) => claimed.includes(sandbox))?.[0],
    }));
}

/** Started sandboxes that a later run would count for another item, or for none, by the spec that the service shows. */
function otherSpecs({ desired, steps, last }: SandboxRun): Remainder[] {
  const named = collectNamedSpecs(desired);
  return steps.flatMap(({ id, step: { action, item } }): Remainder[] => {
    const shown = last?.sandboxes.find((sandbox) => sandbox.id === id)?.spec ?? null;
    if (action !== 'start' || item.kind === 'named' || id === null || shown === null) return [];
    if (item.spec === null ? !named.has(shown) : item.spec === shown) return [];
    return [
      {
        resource: 'sandbox',
        path: [id],
        expected: item.spec ?? 'default',
        actual: shown,
        reason: 'the service shows it under another spec than the one it was started from',
        hint:
          item.spec === null
            ? `Another item names ${JSON.stringify(shown)}, and it counts there. Merge the two items, or the next apply starts one more.`
            : `Declare spec: ${JSON.stringify(shown)}, or the next apply starts one more.`,
      },
    ];
  });
}

/** Lists what remains of the items without another explanation: no failure, nothing under way, nothing displaced. */
function stillToDo(run: SandboxRun, left: readonly SandboxStep[]): Remainder[] {
  const { steps, waited } = run;
  const isExplained = (one: RunStep): boolean =>
    !wasSent(one) || (isActionPending(one) && (waited || one.status !== 'MISSING'));
  const explained = new Set<DesiredSandboxes | undefined>([
    ...listServicePauses(run).map(({ item }) => item),
    ...steps.filter(isExplained).map(({ step }) => step.item),
  ]);
  return left
    .filter(({ item }) => !explained.has(item))
    .map(({ action, change }) => ({
      resource: 'sandbox',
      path: change.path,
      expected: change.after as string,
      actual: change.before as string | null,
      reason: action === 'start' ? `not as declared: ${change.reason}` : LEFT_REASONS[action],
      hint: 'Run setpoint plan to see what is left. Another client may be changing these sandboxes.',
    }));
}

const LEFT_REASONS = {
  resume: 'does not run',
  pause: 'is not paused; a service may ignore the pause of what is still starting',
} as const;

function sandboxesNotConverged(remaining: readonly Remainder[]): SetpointError {
  const [first] = remaining;
  const names = [...new Set(remaining.map(({ path }) => path[0]))].join(', ');
  const what = remaining.length === 1 ? `sandbox ${names}: ${first?.reason}` : `sandboxes ${names}`;
  return new SetpointError(
    'not-converged',
    `The sandboxes are not as declared: ${what}.`,
    first === undefined ? {} : { hint: first.hint },
  );
}

function sandboxesNotReady(open: readonly RunStep[]): SetpointError {
  const states = open
    .map(({ id, status }) => `${id ?? 'a new one'} (${status ?? 'not listed'})`)
    .join(', ');
  return open.every(({ status, step }) => status === 'PAUSED' && step.action !== 'pause')
    ? new SetpointError('not-converged', `Sandboxes are still PAUSED: ${states}.`, {
        hint: 'Declare fewer sandboxes, or raise the limit. The service automatically pauses sandboxes above its limit.',
      })
    : new SetpointError('timed-out', `Sandboxes were not ready in time: ${states}.`, {
        hint: 'Run setpoint plan later, or wait longer with --wait.',
      });
}

function sandboxMaybeStarted(error: SetpointError | null): SetpointError {
  return new SetpointError(
    'state-unknown',
    `A sandbox may or may not have been started: none has appeared, and it was not requested again. ${error?.message ?? ''}`.trim(),
    { hint: 'Run again: what has appeared by then is counted.', cause: error },
  );
}

function sandboxesNotObserved(error: SetpointError): SetpointError {
  return new SetpointError(
    'state-unknown',
    `The requests were sent, and the sandboxes could not be read afterwards. ${error.message}`,
    { cause: error },
  );
}
