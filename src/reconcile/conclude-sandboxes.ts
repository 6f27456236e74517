import { SetpointError } from '../model/error.ts';
import type { Remainder, Result } from '../model/outcome.ts';
import { samePath } from '../model/path.ts';
import type { Change, SandboxPlan, SandboxStep, Warning } from '../model/plan.ts';
import { isUp, type DesiredSandboxes, type ObservedSandboxes } from '../model/sandbox.ts';
import { sandboxWarnings } from '../plan/plan-document.ts';
import { planSandboxes } from '../plan/plan-sandboxes.ts';
import type { SentStep } from './send-sandbox-steps.ts';
import type { Settled } from './settle-sandboxes.ts';
import type { Waiting } from './waiting.ts';

/** What has come of the sandboxes: the material of every end. */
export interface SandboxesConcluded {
  readonly results: ReadonlyMap<Change, Result>;
  readonly started: ReadonlyMap<Change, string>;
  readonly remaining: readonly Remainder[];
  readonly warnings: readonly Warning[];
  /** Whether anything was sent that had, or may have had, an effect. */
  readonly changed: boolean;
  /** What went wrong, the gravest first. */
  readonly errors: readonly SetpointError[];
}

interface Run {
  readonly desired: readonly DesiredSandboxes[];
  readonly approved: SandboxPlan;
  readonly before: ObservedSandboxes;
  readonly sent: readonly SentStep[];
  readonly settled: Settled;
  readonly waited: boolean;
}

/** Compares the last look with what was declared, and says of every approved change what became of it. */
export function concludeSandboxes(run: Run): SandboxesConcluded {
  const { approved, sent, settled } = run;
  const left = leftOver(run);
  const remaining = [...displaced(run, left), ...otherSpecs(run), ...stillToDo(run, left)];
  const open = settled.waiting.filter(({ state }) => state === 'open');
  const started = settled.waiting.flatMap(({ id, sent: { step } }): [Change, string][] =>
    step.action === 'start' && id !== null ? [[step.change, id]] : [],
  );
  return {
    results: new Map(approved.steps.map((step) => [step.change, resultOf(step, run, left)])),
    started: new Map(started),
    remaining,
    warnings: [...sandboxWarnings(approved), ...madeRoom(run, remaining)],
    changed: sent.some(({ kind }) => kind !== 'not-sent'),
    errors: [
      ...sent.flatMap(({ kind, error }) => (kind === 'not-sent' && error !== null ? [error] : [])),
      ...open.filter(({ id }) => id === null).map(({ sent: { error } }) => unseen(error)),
      ...approved.unmet.map(
        ({ message, hint }) => new SetpointError('applied-in-part', message, { hint }),
      ),
      ...(settled.look === null && settled.error !== null ? [unverified(settled.error)] : []),
      ...(remaining.length > 0 ? [notConverged(remaining)] : []),
      ...(run.waited && open.length > 0 ? [tooLate(open)] : []),
    ],
  };
}

/** What a plan of the last look would do, what was started counting for its item. */
function leftOver({ desired, before, settled }: Run): readonly SandboxStep[] {
  if (settled.look === null) return [];
  const { specs, busy } = before;
  const started = new Map(
    settled.waiting.flatMap(({ id, sent: { step } }): [string, DesiredSandboxes][] =>
      step.action === 'start' && id !== null ? [[id, step.item]] : [],
    ),
  );
  return planSandboxes(desired, { ...settled.look, specs, busy }, started).steps;
}

function resultOf(
  step: SandboxStep,
  { sent, settled, waited }: Run,
  left: readonly SandboxStep[],
): Result {
  const sending = sent.find((one) => one.step.change === step.change);
  const waiting = settled.waiting.find((one) => one.sent.step.change === step.change);
  // The look right before the writes showed that it was not needed any more.
  if (sending === undefined)
    return left.some((other) => isSame(step, other)) ? 'not-sent' : 'verified';
  if (sending.kind === 'not-sent') return 'not-sent';
  const takenBack = step.action !== 'pause' && waiting?.status === 'PAUSED';
  if (waiting?.state === 'settled') return takenBack ? 'unknown' : 'verified';
  const begun =
    waiting?.status !== null && waiting?.status !== undefined && waiting.status !== 'PAUSED';
  return !waited && begun && step.action !== 'pause' ? 'verified' : 'unknown';
}

export function isSame(one: SandboxStep, other: SandboxStep): boolean {
  return one.action === other.action && samePath(one.change.path, other.change.path);
}

/** Those that ran, or that this run made run, and that the service has paused by itself while their item is short. */
function displaced(run: Run, left: readonly SandboxStep[]): Remainder[] {
  const short = new Set(left.map(({ sandbox }) => sandbox));
  return pausedByItself(run)
    .filter((id) => short.has(id))
    .map((id) => ({
      resource: 'sandbox',
      path: [id],
      expected: 'RUNNING',
      actual: 'PAUSED',
      reason: 'the service paused it by itself when another one was to run',
      hint: 'Declare fewer sandboxes running, or raise the limit of the service: it allows fewer at a time than are declared.',
    }));
}

/** The same where nothing declared is short of them: worth knowing all the same. */
function madeRoom(run: Run, remaining: readonly Remainder[]): Warning[] {
  return pausedByItself(run)
    .filter((id) => !remaining.some(({ path }) => path[0] === id))
    .map((id) => ({
      code: 'sandbox-displaced',
      message: `The service paused sandbox ${id} by itself to make room for another.`,
      path: [id],
    }));
}

function pausedByItself({ before, sent, settled }: Run): string[] {
  if (settled.look === null) return [];
  const paused = settled.look.sandboxes.filter(({ status }) => status === 'PAUSED');
  const ours = new Set(sent.flatMap(({ step, id }) => (step.action === 'pause' ? [id] : [])));
  const ran = new Set([
    ...before.sandboxes.filter((sandbox) => isUp(sandbox, before.at)).map(({ id }) => id),
    ...settled.waiting.flatMap((one) =>
      one.wasUp || one.state === 'given-up' ? (one.id ?? []) : [],
    ),
  ]);
  const runs = sent.some(({ step, kind }) => step.action !== 'pause' && kind !== 'not-sent');
  return runs ? paused.flatMap(({ id }) => (ran.has(id) && !ours.has(id) ? [id] : [])) : [];
}

function otherSpecs({ settled }: Run): Remainder[] {
  return settled.waiting.flatMap(({ id, sent: { step } }) => {
    const wanted = step.action === 'start' && step.item.kind === 'counted' ? step.item.spec : null;
    const shown = settled.look?.sandboxes.find((sandbox) => sandbox.id === id)?.spec ?? null;
    if (id === null || wanted === null || shown === null || shown === wanted) return [];
    return [
      {
        resource: 'sandbox',
        path: [id],
        expected: wanted,
        actual: shown,
        reason: 'the service shows it under another spec than the one it was started from',
        hint: `Declare spec: ${JSON.stringify(shown)}, or the next apply starts one more.`,
      },
    ];
  });
}

/** What is left of items that nothing else explains: no failure, nothing on its way, no displacement. */
function stillToDo(run: Run, left: readonly SandboxStep[]): Remainder[] {
  const { sent, settled } = run;
  const told = new Set(pausedByItself(run));
  const explained = new Set<DesiredSandboxes>([
    ...sent.flatMap(({ step, kind }) => (kind === 'not-sent' ? [step.item] : [])),
    ...settled.waiting.flatMap(({ state, sent: { step } }) =>
      state === 'open' ? [step.item] : [],
    ),
  ]);
  return left
    .filter(({ item, sandbox }) => !explained.has(item) && !told.has(sandbox ?? ''))
    .map(({ action, change }) => ({
      resource: 'sandbox',
      path: change.path,
      expected: change.after as string,
      actual: change.before as string | null,
      reason: action === 'start' ? `not as declared: ${change.reason}` : REASONS[action],
      hint: 'Run setpoint plan to see what is left; somebody else may be at these sandboxes.',
    }));
}

const REASONS = {
  resume: 'does not run',
  pause: 'is not paused; a service may ignore the pause of what is still starting',
} as const;

function notConverged(remaining: readonly Remainder[]): SetpointError {
  const [first] = remaining;
  const names = [...new Set(remaining.map(({ path }) => path[0]))].join(', ');
  const what = remaining.length === 1 ? `sandbox ${names}: ${first?.reason}` : `sandboxes ${names}`;
  return new SetpointError(
    'not-converged',
    `The sandboxes are not what they should be: ${what}.`,
    first === undefined ? {} : { hint: first.hint },
  );
}

function tooLate(open: readonly Waiting[]): SetpointError {
  const states = open.map(({ id, status }) => `${id ?? 'a new one'} (${status ?? 'not listed'})`);
  const paused = open.every(
    ({ status, sent }) => status === 'PAUSED' && sent.step.action !== 'pause',
  );
  return paused
    ? new SetpointError(
        'not-converged',
        `Sandboxes read PAUSED though they were to run: ${states.join(', ')}.`,
      )
    : new SetpointError(
        'timed-out',
        `Sandboxes are not ready within the time for it: ${states.join(', ')}.`,
        { hint: 'Look again later, or give them longer with --wait.' },
      );
}

function unseen(error: SetpointError | null): SetpointError {
  return new SetpointError(
    'state-unknown',
    `Whether a sandbox was started is not known: none has appeared, and it was not asked for again. ${error?.message ?? ''}`.trim(),
    { hint: 'Run again: what has appeared by then is counted.', cause: error },
  );
}

function unverified(error: SetpointError): SetpointError {
  return new SetpointError(
    'state-unknown',
    `What became of the sandboxes could not be seen. ${error.message}`,
    { cause: error },
  );
}
