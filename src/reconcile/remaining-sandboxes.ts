import type { Remainder } from '../model/outcome.ts';
import type { SandboxPlan, SandboxStep, Warning } from '../model/plan.ts';
import { isUp, type DesiredSandboxes, type ObservedSandboxes } from '../model/sandbox.ts';
import { claimSandboxes, type Started } from '../plan/claim-sandboxes.ts';
import type { SentStep } from './send-sandbox-steps.ts';
import type { Settled } from './settle-sandboxes.ts';

/** What an apply has done about the sandboxes, and what it saw. `waited` is false where nothing was to be waited for. */
export interface SandboxRun {
  readonly desired: readonly DesiredSandboxes[];
  readonly approved: SandboxPlan;
  readonly before: ObservedSandboxes;
  readonly sent: readonly SentStep[];
  readonly settled: Settled;
  /** What was started, and for which item. */
  readonly started: Started;
  readonly waited: boolean;
}

/** What is not as declared though everything was done: `left` is what a plan of the last look would do. */
export function remainingSandboxes(run: SandboxRun, left: readonly SandboxStep[]): Remainder[] {
  return [...displaced(run, left), ...otherSpecs(run), ...stillToDo(run, left)];
}

/** Those that ran, or that this run made run, and that the service has paused by itself while their item is short. */
function displaced(run: SandboxRun, left: readonly SandboxStep[]): Remainder[] {
  return pausedByItself(run)
    .filter(({ item }) => left.some((step) => step.item === item && step.action !== 'pause'))
    .map(({ id }) => ({
      resource: 'sandbox',
      path: [id],
      expected: 'RUNNING',
      actual: 'PAUSED',
      reason: 'the service paused it by itself when another one was to run',
      hint: 'Declare fewer sandboxes running, or raise the limit of the service: it allows fewer at a time than are declared.',
    }));
}

/** The same where nothing declared is short of them: worth knowing all the same. */
export function madeRoom(run: SandboxRun, remaining: readonly Remainder[]): Warning[] {
  return pausedByItself(run)
    .filter(({ id }) => !remaining.some(({ path }) => path[0] === id))
    .map(({ id }) => ({
      code: 'sandbox-displaced',
      message: `The service paused sandbox ${id} by itself to make room for another.`,
      path: [id],
    }));
}

/** Each with the item that owns it, if there is one. */
function pausedByItself({ desired, before, sent, settled, started }: SandboxRun): {
  readonly id: string;
  readonly item: DesiredSandboxes | undefined;
}[] {
  if (settled.look === null) return [];
  const { sandboxes } = settled.look;
  const claims = [...claimSandboxes(desired, sandboxes, started)];
  const ours = new Set(sent.flatMap(({ step, id }) => (step.action === 'pause' ? [id] : [])));
  const ran = new Set([
    ...before.sandboxes.filter((sandbox) => isUp(sandbox, before.at)).map(({ id }) => id),
    ...settled.waiting.flatMap((one) =>
      one.wasUp || one.state === 'given-up' ? (one.id ?? []) : [],
    ),
  ]);
  const runs = sent.some(({ step, kind }) => step.action !== 'pause' && kind !== 'not-sent');
  if (!runs) return [];
  return sandboxes
    .filter(({ id, status }) => status === 'PAUSED' && ran.has(id) && !ours.has(id))
    .map((sandbox) => ({
      id: sandbox.id,
      item: claims.find(([, claimed]) => claimed.includes(sandbox))?.[0],
    }));
}

/** Started ones that a later run would count for another item, or for none, by the spec that is shown of them. */
function otherSpecs({ desired, settled }: SandboxRun): Remainder[] {
  const named = new Set(
    desired.flatMap((item) => (item.kind === 'counted' ? (item.spec ?? []) : [])),
  );
  return settled.waiting.flatMap(({ id, sent: { step } }): Remainder[] => {
    const { action, item } = step;
    const shown = settled.look?.sandboxes.find((sandbox) => sandbox.id === id)?.spec ?? null;
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
            ? `Another item names ${JSON.stringify(shown)}, and it counts there: make one item of the two, or the next apply starts one more.`
            : `Declare spec: ${JSON.stringify(shown)}, or the next apply starts one more.`,
      },
    ];
  });
}

/** What is left of items that nothing else explains: no failure, nothing on its way, no displacement. */
function stillToDo(run: SandboxRun, left: readonly SandboxStep[]): Remainder[] {
  const { sent, settled, waited } = run;
  const explained = new Set<DesiredSandboxes | undefined>([
    ...pausedByItself(run).map(({ item }) => item),
    ...sent.flatMap(({ step, kind }) => (kind === 'not-sent' ? [step.item] : [])),
    ...settled.waiting.flatMap(({ state, status, sent: { step } }) =>
      state === 'open' && (waited || status !== 'MISSING') ? [step.item] : [],
    ),
  ]);
  return left
    .filter(({ item }) => !explained.has(item))
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
