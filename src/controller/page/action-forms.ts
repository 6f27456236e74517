import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { counted } from '../../reconciler/model/wording.ts';
import { markup, type Markup } from '../../reconciler/render/html/markup.ts';
import { sectionBodyHtml } from '../../reconciler/render/html/section.ts';
import { planSection } from '../../reconciler/render/section.ts';
import { formTokenHtml } from './frame.ts';
import { environmentAddress } from './parts.ts';
import type { Session } from './sessions.ts';

/** What somebody who is logged in can do with an environment. */
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
${form(
  'suspend',
  markup`
<p><label for="reason">Reason</label>
<input id="reason" name="reason" required maxlength="500" autocomplete="off"></p>
<p><label for="hours">For</label>
<select id="hours" name="hours">
<option value="1">1 hour</option><option value="8">8 hours</option><option value="24" selected>1 day</option><option value="168">7 days</option><option value="">until somebody resumes it</option>
</select></p>
<p><button>Suspend</button></p>
`,
)}</details>
`
      : null;
  return markup`<section id="actions" aria-labelledby="actions-title">
<h2 id="actions-title">Actions</h2>
<div class="buttons">
${form('read', markup`<button>Read now</button>`)}${form('plan', markup`<button>Plan now</button>`)}${resume}</div>
${suspend}<p class="soft">Plan now shows what an apply would do, and asks before anything is written.</p>
</section>
`;
}

/** A plan as it is now, and the question whether to apply it, if an apply would do something. */
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
  const count = counted(plan.changes.length, 'change');
  return markup`<p class="back"><a href="${address}">← ${name}</a></p>
<h1>Plan of ${name}</h1>
${said === null ? null : markup`<p class="box warn said" role="alert">${said}</p>\n`}<section aria-labelledby="plan-title">
<h2 id="plan-title">What an apply would do</h2>
${sectionBodyHtml(planSection(plan, 'plan', { created_at: at }))}</section>
${
  confirm === null
    ? markup`<section aria-label="Confirmation">
<p>${plan.changes.length === 0 ? 'There is nothing to apply.' : 'An apply would be refused, and the page lifts no guard. Change the file, or run setpoint apply with --allow.'} <a href="${address}">Back to ${name}</a></p>
</section>
`
    : markup`<section aria-labelledby="confirm-title" class="confirm">
<h2 id="confirm-title">Apply ${count} to ${name} now?</h2>
<p>This writes to ${plan.origin ?? 'the service'} at once. Only what is shown above is applied: if the service or the file has changed since, nothing is written.</p>
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
<p class="soft">It is the value of SETPOINT_WATCH_TOKEN that the controller was started with.</p>
<p><button>Log in</button></p>
</form>
</section>
`;
}
