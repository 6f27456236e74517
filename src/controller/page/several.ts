import type { Hono } from 'hono/tiny';
import { asSetpointError } from '../../reconciler/model/error.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { formatCount } from '../../reconciler/model/wording.ts';
import { markup, type Markup } from '../../reconciler/render/html/page.ts';
import { type Session } from './access.ts';
import { refuseForbiddenAction, resolveRequestActor } from './may-act.ts';
import { suspensionFields, parseSuspension } from './actions.ts';
import {
  errorAnswer,
  pageAnswer,
  refusalAnswer,
  type Binding,
  type Call,
  type RouteContext,
} from './answers.ts';
import { formTokenHtml } from './frame.ts';
import {
  listAddress,
  selectListedStates,
  listQuery,
  worstFirst,
  type ListQuery,
} from './listing.ts';
import { localPath } from './local-path.ts';
import { environmentAddress, partKey } from './parts.ts';

/** Suspends and resumes all environments of a list. People are first shown which they are, and act on those alone. */
export function severalRoutes(app: Hono<Binding>, served: RouteContext): void {
  app.get('/suspend', (call) => {
    const { session } = call.get('visitor');
    if (!served.access.canAct || session === null)
      return refusalAnswer(served, call, 403, 'Log in first.', 'Actions need the token.');
    return renderConfirmation(
      served,
      call,
      session,
      listQuery(new URL(call.req.url).searchParams),
      null,
    );
  });
  app.post('/suspend', (call) => actOnSeveral(served, call, 'suspend'));
  app.post('/resume', (call) => actOnSeveral(served, call, 'resume'));
  app.post('/read', (call) => readListAgain(served, call));
}

/** Reads all of a list at their next turns, such as those that failed for one cause. */
async function readListAgain(served: RouteContext, call: Call): Promise<Response> {
  const refused = refuseForbiddenAction(served, call);
  if (refused !== null) return refused;
  const names = selectChosenStates(served, listQuery(new URL(call.req.url).searchParams)).map(
    ({ name }) => name,
  );
  await Promise.all(names.map((name) => served.watching.readNow(name)));
  const message = `${formatCount(names.length, 'environment')} ${names.length === 1 ? 'is' : 'are'} read at the next turns.`;
  const { session } = call.get('visitor');
  if (session === null) return call.json({ message, environments: names });
  session.said = message;
  return call.redirect(localPath(call.get('form').get('back')), 303);
}

function selectChosenStates(
  { watching, clock }: RouteContext,
  query: ListQuery,
): readonly WatchState[] {
  return selectListedStates(worstFirst(watching.states()), query, clock.now()).found;
}

async function actOnSeveral(
  served: RouteContext,
  call: Call,
  action: 'suspend' | 'resume',
): Promise<Response> {
  const refused = refuseForbiddenAction(served, call);
  if (refused !== null) return refused;
  const { watching, clock } = served;
  const { session } = call.get('visitor');
  const form = call.get('form');
  const query = { ...listQuery(form), page: 1 };
  const names = selectChosenStates(served, query).map(({ name }) => name);
  if (session !== null && form.get('digest') !== partKey(names))
    return renderConfirmation(
      served,
      call,
      session,
      query,
      'Not done: the list has changed since you saw it.',
    );
  try {
    const who = resolveRequestActor(call);
    const done =
      action === 'resume'
        ? await watching.resume(names, who.by)
        : await watching
            .suspend(names, { ...parseSuspension(form, clock.now()), ...who })
            .then(() => names);
    const verb = action === 'resume' ? 'Resumed' : 'Suspended';
    const message = `${verb} ${formatCount(done.length, 'environment')}.`;
    if (session === null) return call.json({ message, environments: done });
    const main = markup`<p class="back"><a href="${listAddress(query)}">← The list</a></p>
<h1>${message}</h1>
${namesHtml(done)}`;
    return pageAnswer(served, call, { title: message, main });
  } catch (thrown) {
    const error = asSetpointError(thrown);
    if (error.code === 'internal') served.failed(error);
    return errorAnswer(
      served,
      call,
      error,
      markup`<a href="${listAddress(query)}">Back to the list</a>`,
    );
  }
}

/** Asks about the environments of now. */
function renderConfirmation(
  served: RouteContext,
  call: Call,
  session: Session,
  query: ListQuery,
  said: string | null,
): Response {
  const states = selectChosenStates(served, query);
  const names = states.map(({ name }) => name);
  const count = formatCount(states.length, 'environment');
  const resumable = states.filter(
    ({ suspended, stopped }) => suspended !== null || stopped !== null,
  );
  const hidden = markup`${formTokenHtml(session)}<input type="hidden" name="q" value="${query.text}"><input type="hidden" name="state" value="${query.state}"><input type="hidden" name="cause" value="${query.cause ?? ''}"><input type="hidden" name="digest" value="${partKey(names)}">`;
  const forms =
    states.length === 0
      ? null
      : markup`<form method="post" action="/suspend">${hidden}
${suspensionFields()}<p><button class="grave">Suspend ${count}</button> <a href="${listAddress(query)}">Cancel</a></p>
</form>
${resumable.length === 0 ? null : markup`<form method="post" action="/resume">${hidden}<p><button>Resume ${formatCount(resumable.length, 'environment')}</button></p></form>\n`}`;
  const main = markup`<p class="back"><a href="${listAddress(query)}">← The list</a></p>
<h1>Suspend or resume ${count}</h1>
${said === null ? null : markup`<p class="box warn said" role="alert">${said}</p>\n`}<section aria-label="Which and why" class="confirm fold">
<p>${session.who === '' ? 'You gave no name at the login: the journal will not record who did this.' : `The journal will record that ${session.who} did it.`} A suspended environment is not healed, and no notices are sent for it.</p>
${forms}</section>
${namesHtml(names)}`;
  return pageAnswer(served, call, { title: `Suspend ${count}`, main }, said === null ? 200 : 409);
}

function namesHtml(names: readonly string[]): Markup {
  return markup`<section aria-labelledby="which">
<h2 id="which">Which</h2>
<ul class="names">
${names.map((name) => markup`<li><a href="${environmentAddress(name)}">${name}</a></li>\n`)}</ul>
</section>
`;
}
