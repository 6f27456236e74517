import type { Hono } from 'hono/tiny';
import type { IncomingMessage } from 'node:http';
import { asSetpointError } from '../../reconciler/model/error.ts';
import { markup, type Markup } from '../../reconciler/render/html/page.ts';
import {
  applyShown,
  loginHtml,
  planPageHtml,
  planToShow,
  parseSuspension,
  type ShownPlan,
  suspensionFields,
} from './actions.ts';
import {
  errorAnswer,
  answerMissingEnvironment,
  pageAnswer,
  refusalAnswer,
  wantsPage,
  type Binding,
  type Call,
  type RouteContext,
} from './answers.ts';
import { nameGiven } from '../watch/watching.ts';
import { environmentAddress, partKey } from './page-parts.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { formatCount } from '../../reconciler/model/wording.ts';
import type { Session } from './access.ts';
import { formTokenHtml } from './frame.ts';
import {
  listAddress,
  selectListedStates,
  listQuery,
  worstFirst,
  type ListQuery,
} from './listing.ts';
import { timingSafeEqual } from 'node:crypto';

const LARGEST_FORM = 16 * 1024;

/** Adds the routes that change something: login, logout and actions. Each needs a request from our own page, or a tool's token. */
export function actionRoutes(app: Hono<Binding>, served: RouteContext): void {
  const { access, clock, streams } = served;
  app.get('/login', (call) => {
    if (!access.canLogIn) return call.notFound();
    const next = localPath(new URL(call.req.url).searchParams.get('next'));
    return pageAnswer(served, call, { title: 'Log in', main: loginHtml(next, null) });
  });
  app.post('*', async (call, next) => {
    const isTool = call.get('visitor').kind === 'tool';
    const { origin, 'sec-fetch-site': site } = call.env.incoming.headers;
    const isSilent = origin === undefined && site === undefined;
    if ((isTool && isSilent) || access.isSameOrigin(call.env.incoming)) {
      const form = await readPostedForm(call.env.incoming);
      if (form === null)
        return call.text('The request is too large.\n', 413, { Connection: 'close' });
      call.set('form', form);
      return next();
    }
    const hint = 'Go to the page itself and try again there.';
    return refusalAnswer(served, call, 403, 'The request comes from another site.', hint);
  });
  app.post('/login', async (call) => {
    if (!access.canLogIn) return call.notFound();
    const form = call.get('form');
    const next = localPath(form.get('next'));
    const { incoming } = call.env;
    const refused = access.checkToken(form.get('token') ?? '', incoming);
    if (refused === null) {
      try {
        const session = access.sessions.start(clock.now(), nameGiven(form.get('name')));
        call.header('Set-Cookie', access.setCookie(session, incoming));
        return call.redirect(next, 303);
      } catch (thrown) {
        const main = loginHtml(next, asSetpointError(thrown).message);
        return pageAnswer(served, call, { title: 'Log in', main }, 400);
      }
    }
    const { wait } = refused;
    if (wait > 0) call.header('Retry-After', String(wait));
    const said =
      wait > 0
        ? `Too many wrong tokens. Try again in ${wait} s.`
        : 'This is not the token. Check SETPOINT_WATCH_TOKEN, or its file, of the controller.';
    const parts = { title: 'Log in', main: loginHtml(next, said) };
    return pageAnswer(served, call, parts, wait > 0 ? 429 : 401);
  });
  app.post('/logout', async (call) => {
    const { session } = call.get('visitor');
    if (session !== null) access.sessions.end(session.id);
    streams.review();
    call.header('Set-Cookie', access.setCookie(null, call.env.incoming));
    return call.redirect('/', 303);
  });
  app.post('/environments/:name/:action', (call) => act(served, call));
  severalRoutes(app, served);
}

/** The body of a request as a form; null if it is too large. Anything other than a form counts as one without members. */
async function readPostedForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    if (size > LARGEST_FORM) return null;
    chunks.push(chunk as Buffer);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

async function act(served: RouteContext, call: Call): Promise<Response> {
  const { watching } = served;
  const refused = refuseForbiddenAction(served, call);
  if (refused !== null) return refused;
  const form = call.get('form');
  const name = call.req.param('name') ?? '';
  if (watching.state(name) === undefined) return answerMissingEnvironment(served, call);
  const back = markup`<a href="${environmentAddress(name)}">Back to ${name}</a>`;
  try {
    return await done(served, call, name, form);
  } catch (thrown) {
    const error = asSetpointError(thrown);
    if (error.code === 'internal') served.failed(error);
    return errorAnswer(served, call, error, back);
  }
}

async function done(
  served: RouteContext,
  call: Call,
  name: string,
  form: URLSearchParams,
): Promise<Response> {
  const { watching, clock } = served;
  switch (call.req.param('action')) {
    case 'read': {
      const wait = Math.ceil((await watching.readNow(name)) / 1_000);
      const held = `${name} is read in ${wait} s: its policy allows no earlier read.`;
      return redirectWithSentence(
        call,
        name,
        wait > 1 ? held : `${name} is read at the next turn.`,
      );
    }
    case 'suspend': {
      const { reason, until } = parseSuspension(form, clock.now());
      await watching.suspend([name], { reason, until, ...resolveRequestActor(call) });
      return redirectWithSentence(call, name, 'It is suspended.');
    }
    case 'resume':
      return redirectWithSentence(
        call,
        name,
        (await watching.resume([name], resolveRequestActor(call).by)).length > 0
          ? 'It is watched again.'
          : 'It is not suspended; nothing to resume.',
      );
    case 'plan':
      return planAnswer(served, call, await planToShow(watching, name), null);
    case 'apply': {
      const applied = await applyShown(
        watching,
        name,
        form.get('digest') ?? '',
        resolveRequestActor(call).by,
      );
      if (typeof applied === 'string') return redirectWithSentence(call, name, applied);
      const why = 'Not applied: the plan has changed since you saw it. This is the current plan.';
      return planAnswer(served, call, applied, why);
    }
    default:
      return call.notFound();
  }
}

/** Leads back to the environment's page, or to the list that the form names, which shows the sentence once; answers a tool at once. */
function redirectWithSentence(call: Call, name: string, sentence: string): Response {
  const { session } = call.get('visitor');
  if (session === null) return call.json({ message: sentence });
  session.said = sentence;
  const back = call.get('form').get('back');
  return call.redirect(back === null ? environmentAddress(name) : localPath(back), 303);
}

function planAnswer(
  served: RouteContext,
  call: Call,
  { plan, digest }: ShownPlan,
  why: string | null,
): Response {
  const { session } = call.get('visitor');
  const status = why === null ? 200 : 409;
  if (!wantsPage(call) || session === null)
    return call.json({ message: why, digest, plan }, status);
  const main = planPageHtml(plan.name, plan, {
    at: new Date(served.clock.now()).toISOString(),
    confirm: digest === null ? null : { session, digest },
    said: why,
  });
  return pageAnswer(served, call, { title: `Plan of ${plan.name}`, main }, status);
}

/** Suspends and resumes all environments of a list. People are first shown which they are, and act on those alone. */
function severalRoutes(app: Hono<Binding>, served: RouteContext): void {
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

/** Refuses an action to whom it is not allowed; null if it is. */
function refuseForbiddenAction(served: RouteContext, call: Call): Response | null {
  const { kind, session } = call.get('visitor');
  const refuse = (status: 401 | 403, title: string, hint: string): Response =>
    refusalAnswer(served, call, status, title, hint);
  if (!served.access.canAct)
    return refuse(403, 'Actions are off.', 'Start setpoint watch with --allow-actions.');
  if (kind === 'anybody') return refuse(401, 'Log in first.', 'Actions need the token.');
  const form = call.get('form');
  if (session !== null && !hasSameBytes(form.get('form_token') ?? '', session.formToken))
    return refuse(403, 'The form is not of this session.', 'Load the page again.');
  return null;
}

/** Returns the actor for the journal: the name of the session, or the name that a tool sends. Throws a usage error. */
function resolveRequestActor(call: Call): { readonly by?: string } {
  const { session } = call.get('visitor');
  const name = session === null ? nameGiven(call.get('form').get('by')) : session.who;
  return name === '' ? {} : { by: name };
}

function hasSameBytes(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A path of this page; the list for anything else. It is read twice: once without its dots, a path may begin with the name of a host. */
function localPath(text: string | null): string {
  const path = parseLocalPath(text ?? '/');
  const isOurs = path !== null && parseLocalPath(path) === path && !/^\/login(?:[/?]|$)/.test(path);
  return isOurs ? path : '/';
}

/** The path and query of an address as a browser reads it here; null if it leads elsewhere. */
function parseLocalPath(text: string): string | null {
  const base = 'http://here.invalid';
  const url = URL.canParse(text, base) ? new URL(text, base) : null;
  return url?.origin === base ? url.pathname + url.search : null;
}
