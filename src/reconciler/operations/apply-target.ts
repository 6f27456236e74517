import { asSetpointError, errorReport, type SetpointError } from '../model/error.ts';
import type { EnvironmentOutcome } from '../model/outcome.ts';
import { changesOf } from '../model/plan.ts';
import { redacted } from '../model/redacted.ts';
import { NOT_OBSERVED } from '../model/state.ts';
import { alreadyMade, type Approved } from '../plan/approval.ts';
import { environmentPlan, maskedChange } from '../plan/plan-document.ts';
import type { Reconciled } from '../reconcile/contract.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import type { Writing } from '../service/port.ts';
import { withTarget } from './open-target.ts';
import type { ApplyRequest } from './options.ts';
import { aboutOf, planInput, type Planning } from './plan-target.ts';
import { shownOrigin, type Prepared } from './prepare.ts';
import type { Running } from './redacting.ts';

/**
 * Reconciles one target, and gives its part of an outcome: a result for every change, on every end. `approved` is what nothing may go beyond;
 * null if there is nothing of that kind. Never throws.
 */
export async function applyTarget(
  prepared: Prepared,
  request: Running<ApplyRequest>,
  planning: Planning,
  approved: Approved | null,
): Promise<EnvironmentOutcome> {
  const { target, desired, warnings } = prepared;
  const redact = <D>(document: D): D => redacted(document, request.resolved.of(target.name));
  const about = { ...aboutOf(prepared), digests: null };
  try {
    return await withTarget(prepared, request, async (open) => {
      const reconciled = await reconcile({
        ...(await planInput(prepared, open, request, planning)),
        approved,
        ifEmpty: request.ifEmpty,
        writer: (of) => of({ ...open, send: sending(request, target.name) }),
        announce: async (planned) =>
          request.onPlan?.(redact(environmentPlan(planned, about, warnings))),
        approve: () => open.aside(async () => (await request.confirm?.(target.name)) ?? true),
        abandon: request.abandon,
      });
      const made =
        approved === null || reconciled.dialect === null || reconciled.status === 'not-empty'
          ? []
          : alreadyMade(reconciled.plan, desired, approved);
      const requests = { ...open.connection.requests };
      return outcomeOf(prepared, reconciled, made, { allowed: planning.allowed, requests });
    });
  } catch (thrown) {
    return failedOutcome(prepared, asSetpointError(thrown));
  }
}

/** What all requests that write go through: whether they may still be sent is asked, and each is told as a span. */
function sending({ beforeWrite, tracer }: Running<ApplyRequest>, target: string): Writing['send'] {
  return async (what, work) => {
    const error = (await beforeWrite?.()) ?? null;
    if (error !== null) return { kind: 'not-applied', retry: false, reached: false, error };
    return tracer.write(what, target, work);
  };
}

function outcomeOf(
  prepared: Prepared,
  { plan, results, started, error, ...ended }: Reconciled,
  made: EnvironmentOutcome['warnings'],
  { allowed, requests }: Pick<EnvironmentOutcome, 'allowed' | 'requests'>,
): EnvironmentOutcome {
  return {
    name: prepared.target.name,
    origin: shownOrigin(prepared),
    dialect: ended.dialect,
    release: ended.release,
    status: ended.status,
    allowed,
    changes: changesOf(plan).map((change) => ({
      ...maskedChange(change),
      result: results.get(change) ?? 'not-sent',
      ...startedAs(started.get(change)),
    })),
    remaining: ended.remaining,
    unknown: ended.unknown,
    warnings: [...prepared.warnings, ...ended.warnings, ...made],
    refusals: ended.refusals,
    requests,
    error: error === null ? null : errorReport(error),
  };
}

/** The id of a sandbox that was started; nothing for other changes. */
function startedAs(sandbox: string | undefined): { readonly sandbox?: string } {
  return sandbox === undefined ? {} : { sandbox };
}

/** The outcome of a target that was not written. */
export function failedOutcome(prepared: Prepared, error: SetpointError): EnvironmentOutcome {
  return {
    name: prepared.target.name,
    origin: shownOrigin(prepared),
    ...NOT_OBSERVED,
    status: 'failed',
    allowed: [],
    changes: [],
    remaining: [],
    unknown: [],
    warnings: prepared.warnings,
    refusals: [],
    requests: { get: 0, post: 0 },
    error: errorReport(error),
  };
}
