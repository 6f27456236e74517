import { SetpointError } from '../../reconciler/model/error.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { Watching } from '../watch/watching.ts';
import { computeFoundDigest } from '../watch/environment-state.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { formatCount } from '../../reconciler/model/wording.ts';
import { markup, type Markup } from '../../reconciler/render/html/page.ts';
import { sectionBodyHtml } from '../../reconciler/render/html/section.ts';
import { planSection } from '../../reconciler/render/section.ts';
import { formTokenHtml } from './frame.ts';
import { environmentAddress } from './page-parts.ts';
import type { Session } from './access.ts';

/** A plan that is shown. `digest` is what an apply of it is asked for with; null if an apply would do nothing, or refuse. */
export interface ShownPlan {
  readonly plan: EnvironmentPlan;
  readonly digest: string | null;
}

export async function planToShow(watching: Watching, name: string): Promise<ShownPlan> {
  const plan = await watching.planNow(name);
  const { status, changes, refusals } = plan;
  const canApply = status === 'differs' && changes.length > 0 && refusals.length === 0;
  return { plan, digest: canApply ? computeFoundDigest(plan) : null };
}

/**
 * Applies the plan of a digest that a user was shown; resolves to a sentence that describes the result. If planning gives another result
 * now, nothing is written, and the result is the current plan. The controller compares once more right before the write.
 */
export async function applyShown(
  watching: Watching,
  name: string,
  digest: string,
  by?: string,
): Promise<string | ShownPlan> {
  const now = await planToShow(watching, name);
  return now.digest === null || now.digest !== digest ? now : watching.applyNow(name, digest, by);
}

const LONGEST_REASON = 500;
const HOUR = 3_600_000;
const MOST_HOURS = 24 * 366;

/** The reason and the end of a suspension, from a form. Throws a usage error. */
export function parseSuspension(
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

/** Renders the actions on an environment for a user who is logged in. */
export function actionsHtml({ name, suspended, stopped }: WatchState, session: Session): Markup {
  const address = environmentAddress(name);
  const form = (action: string, inside: Markup): Markup =>
    markup`<form method="post" action="${address}/${action}">${formTokenHtml(session)}${inside}</form>\n`;
  const resume =
    suspended === null && stopped === null ? null : form('resume', markup`<button>Resume</button>`);
  const suspend =
    suspended === null
      ? markup`<details class="fold">
<summary>Suspend</summary>
${form('suspend', markup`\n${suspensionFields()}<p><button>Suspend</button></p>\n`)}</details>
`
      : null;
  return markup`<section id="actions" aria-labelledby="actions-title">
<h2 id="actions-title">Actions</h2>
<div class="buttons">
${form('read', markup`<button>Read now</button>`)}${form('plan', markup`<button>Plan now</button>`)}${resume}</div>
${suspend}<p class="soft">Plan now shows the planned changes, and asks before it writes them.</p>
</section>
`;
}

/** Renders the fields for the reason and the duration, which `parseSuspension` reads. */
export function suspensionFields(): Markup {
  return markup`<p><label for="reason">Reason</label>
<input id="reason" name="reason" required maxlength="500" autocomplete="off"></p>
<p><label for="hours">For</label>
<select id="hours" name="hours">
<option value="1">1 hour</option><option value="8">8 hours</option><option value="24" selected>1 day</option><option value="168">7 days</option><option value="">until it is resumed</option>
</select></p>
`;
}

/** The current plan, and the question whether to apply it, if an apply would do something. */
export function planPageHtml(
  name: string,
  plan: EnvironmentPlan,
  {
    at,
    confirm,
    said,
  }: {
    readonly at: string;
    /** The session, and what names the plan that is shown; null if there is nothing to confirm. */
    readonly confirm: { readonly session: Session; readonly digest: string } | null;
    readonly said: string | null;
  },
): Markup {
  const address = environmentAddress(name);
  const count = formatCount(plan.changes.length, 'change');
  return markup`<p class="back"><a href="${address}">← ${name}</a></p>
<h1>Plan of ${name}</h1>
${said === null ? null : markup`<p class="box warn said" role="alert">${said}</p>\n`}<section aria-labelledby="plan-title">
<h2 id="plan-title">Planned changes</h2>
${sectionBodyHtml(planSection(plan, 'plan', { created_at: at }))}</section>
${
  confirm === null
    ? markup`<section aria-label="Confirmation">
<p>${plan.changes.length === 0 ? 'There is nothing to apply.' : 'An apply would be refused, and the page cannot lift a guard. Change the file, or run setpoint apply with --allow.'} <a href="${address}">Back to ${name}</a></p>
</section>
`
    : markup`<section aria-labelledby="confirm-title" class="confirm">
<h2 id="confirm-title">Apply ${count} to ${name} now?</h2>
<p>This writes to ${plan.origin ?? 'the service'} at once. Only the changes above are applied. If the service or the file has changed since, nothing is written.</p>
<form method="post" action="${address}/apply" class="buttons">${formTokenHtml(confirm.session)}<input type="hidden" name="digest" value="${confirm.digest}"><button class="grave">Apply ${count}</button> <a href="${address}">Cancel</a></form>
</section>
`
}`;
}

export function loginHtml(next: string, said: string | null): Markup {
  return markup`<h1>Log in</h1>
<section aria-label="Log in" class="login">
${said === null ? null : markup`<p class="box bad said" role="alert">${said}</p>\n`}<form method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<p><label for="token">Token</label>
<input id="token" name="token" type="password" required autocomplete="current-password" autofocus></p>
<p><label for="name">Your name, for the history of what you do (may be left out)</label>
<input id="name" name="name" maxlength="64" autocomplete="username"></p>
<p class="soft">The token is the one in SETPOINT_WATCH_TOKEN, or in the file of SETPOINT_WATCH_TOKEN_FILE, of the controller.</p>
<p><button>Log in</button></p>
</form>
</section>
`;
}
