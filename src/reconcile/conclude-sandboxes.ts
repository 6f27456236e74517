import { SetpointError } from '../model/error.ts';
import type { Remainder, Result } from '../model/outcome.ts';
import { samePath } from '../model/path.ts';
import type { Change, SandboxPlan, SandboxStep, Warning } from '../model/plan.ts';
import { sandboxWarnings } from '../plan/plan-document.ts';
import { planSandboxes } from '../plan/plan-sandboxes.ts';
import { madeRoom, remainingSandboxes, type SandboxRun } from './remaining-sandboxes.ts';
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

/** Compares the last look with what was declared, and says of every approved change what became of it. */
export function concludeSandboxes(run: SandboxRun): SandboxesConcluded {
  const { approved, sent, settled } = run;
  const last = lastPlan(run);
  const left = last?.steps ?? [];
  const remaining = remainingSandboxes(run, left);
  const open = settled.waiting.filter(({ state }) => state === 'open');
  const started = settled.waiting.flatMap(({ id, sent: { step } }): [Change, string][] =>
    step.action === 'start' && id !== null ? [[step.change, id]] : [],
  );
  return {
    results: new Map(approved.steps.map((step) => [step.change, resultOf(step, run)])),
    started: new Map(started),
    remaining,
    warnings: [...warningsOf(approved, last), ...madeRoom(run, remaining)],
    changed: sent.some(({ kind }) => kind !== 'not-sent'),
    errors: [
      ...sent.flatMap(({ kind, error }) => (kind === 'not-sent' && error !== null ? [error] : [])),
      ...open.filter(({ id }) => id === null).map(({ sent: { error } }) => unseen(error)),
      ...(last ?? approved).unmet.map(
        ({ message, hint }) => new SetpointError('applied-in-part', message, { hint }),
      ),
      ...(settled.error === null ? [] : [unverified(settled.error)]),
      ...(remaining.length > 0 ? [notConverged(remaining)] : []),
      ...(run.waited && open.length > 0 ? [tooLate(open)] : []),
    ],
  };
}

/** The plan of the last look, what was started counting for its item; null where there was no look. */
function lastPlan({ desired, before, settled, started }: SandboxRun): SandboxPlan | null {
  if (settled.look === null) return null;
  const { specs, busy } = before;
  return planSandboxes(desired, { ...settled.look, specs, busy }, started);
}

/** What the plan has warned of, and what has come since. */
function warningsOf(approved: SandboxPlan, last: SandboxPlan | null): Warning[] {
  const before = sandboxWarnings(approved);
  const since = last === null ? [] : sandboxWarnings(last);
  const isNew = ({ code, path }: Warning): boolean =>
    !before.some((other) => other.code === code && samePath(other.path, path));
  return [...before, ...since.filter(isNew)];
}

function resultOf(step: SandboxStep, { sent, settled, waited }: SandboxRun): Result {
  const sending = sent.find((one) => one.step.change === step.change);
  const waiting = settled.waiting.find((one) => one.sent.step.change === step.change);
  // Where it was not even tried, the look right before it showed that it was not needed any more.
  if (sending === undefined || sending.kind === 'not-sent') return 'not-sent';
  const takenBack = step.action !== 'pause' && waiting?.status === 'PAUSED';
  if (waiting?.state === 'settled') return takenBack ? 'unknown' : 'verified';
  const status = waiting?.status ?? 'MISSING';
  const begun = step.action !== 'pause' && status !== 'PAUSED' && status !== 'MISSING';
  return !waited && begun ? 'verified' : 'unknown';
}

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
        {
          hint: 'A service pauses by itself what is above its limit: declare fewer, or raise the limit.',
        },
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
    `Whether a sandbox was started is not known: none has appeared, and it was not requested again. ${error?.message ?? ''}`.trim(),
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
