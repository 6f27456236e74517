import { SetpointError } from '../../reconciler/model/error.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { Watching } from '../watch/watching.ts';
import { digestOf } from '../watch/environment-state.ts';

/** A plan that is shown. `digest` is what an apply of it is asked for with; null if an apply would do nothing, or refuse. */
export interface ShownPlan {
  readonly plan: EnvironmentPlan;
  readonly digest: string | null;
}

export async function planToShow(watching: Watching, name: string): Promise<ShownPlan> {
  const plan = await watching.planNow(name);
  const { status, changes, refusals } = plan;
  const canApply = status === 'differs' && changes.length > 0 && refusals.length === 0;
  return { plan, digest: canApply ? digestOf(plan) : null };
}

/**
 * Applies the plan of a digest that somebody was shown; resolves to what became of it, in a sentence. If planning now comes to
 * something else, nothing is written, and the result is the plan of now. The controller compares once more right before the write.
 */
export async function applyShown(
  watching: Watching,
  name: string,
  digest: string,
): Promise<string | ShownPlan> {
  const now = await planToShow(watching, name);
  return now.digest === null || now.digest !== digest ? now : watching.applyNow(name, digest);
}

const LONGEST_REASON = 500;
const HOUR = 3_600_000;
const MOST_HOURS = 24 * 366;

/** The reason and the end of a suspension, from a form. Throws a usage error. */
export function suspensionFrom(
  form: URLSearchParams,
  now: number,
): { readonly reason: string; readonly until: string | null } {
  const reason = (form.get('reason') ?? '').trim();
  if (reason === '' || reason.length > LONGEST_REASON)
    throw new SetpointError(
      'usage',
      `A suspension needs a reason of at most ${LONGEST_REASON} characters.`,
      {
        hint: 'Go back and write one.',
      },
    );
  const hours = form.get('hours') ?? '';
  if (hours === '') return { reason, until: null };
  const count = Number(hours);
  if (!(count > 0 && count <= MOST_HOURS))
    throw new SetpointError('usage', 'A suspension lasts for a number of hours, at most a year.', {
      hint: 'Go back and choose one.',
    });
  return { reason, until: new Date(now + count * HOUR).toISOString() };
}
