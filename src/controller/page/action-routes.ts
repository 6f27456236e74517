import type { Hono } from 'hono/tiny';
import type { IncomingMessage } from 'node:http';
import { asSetpointError } from '../../reconciler/model/error.ts';
import { markup } from '../../reconciler/render/html/page.ts';
import {
  applyShown,
  loginHtml,
  planPageHtml,
  planToShow,
  parseSuspension,
  type ShownPlan,
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
import { refuseForbiddenAction, resolveRequestActor } from './may-act.ts';
import { localPath } from './local-path.ts';
import { environmentAddress } from './parts.ts';
import { severalRoutes } from './several.ts';

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
