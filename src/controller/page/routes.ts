import { Hono } from 'hono/tiny';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { asSetpointError } from '../../reconciler/model/error.ts';
import type { EnvironmentWatched } from '../../reconciler/model/documents.gen.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { actionRoutes } from './action-routes.ts';
import { actionsHtml } from './actions.ts';
import {
  answerMissingEnvironment,
  pageAnswer,
  refusalAnswer,
  wantsPage,
  type Binding,
  type Call,
  type RouteContext,
} from './answers.ts';
import { createWatchedDocument, createWatchedReport, wholeReport } from './api.ts';
import { ASSETS } from './frame.ts';
import { badgeSvg } from './state-label.ts';
import { environmentAddress, isAlive, computeViewVersion, type LiveView } from './page-parts.ts';
import { runbookHtml } from './runbook.ts';
import { environmentHtml, environmentView } from './environment-page.ts';
import { renderListView, listView, sortStates } from './list-page.ts';
import { listAddress, listQuery, matching } from './listing.ts';
import { EVENT_HEADERS, type ViewSource } from './streams.ts';
import { SAFE_HEADERS, type Session } from './access.ts';

/** The number of history records that the API shows. */
const RECORDS = 50;

/** All routes of the page. Those that need no login come first; all others are behind the checks. */
export function routes(served: RouteContext): Hono<Binding> {
  const { access, failed } = served;
  const app = safeApp();
  app.onError((thrown, call) => {
    failed(asSetpointError(thrown));
    const hint = 'This is a defect of setpoint; its log has more.';
    return refusalAnswer(served, call, 500, 'Something went wrong.', hint);
  });
  app.notFound((call) => refusalAnswer(served, call, 404, 'Page not found.', 'Check the address.'));

  healthRoutes(app, served);
  refuseForeignHostNames(app, access);
  app.use(async (call, next) => {
    const { method } = call.req;
    if (method !== 'GET' && method !== 'HEAD' && method !== 'POST')
      return call.text('Only GET, HEAD and POST.\n', 405, { Allow: 'GET, HEAD, POST' });
    return next();
  });
  app.get('/assets/:name', (call) => {
    const name = call.req.param('name');
    const found = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
    if (found === undefined) return call.notFound();
    return call.body(found.text, 200, {
      'Content-Type': found.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
    });
  });
  app.use(async (call, next) => {
    const visitor = access.visitor(call.env.incoming);
    if (visitor.kind !== 'refused') {
      call.set('visitor', visitor);
      return next();
    }
    const { wait } = visitor;
    if (wait === 0) return call.json({ error: 'The token is not the right one.' }, 401, CHALLENGE);
    return call.json({ error: 'Too many wrong tokens.' }, 429, { 'Retry-After': String(wait) });
  });
  actionRoutes(app, served);
  app.use(async (call, next) => {
    if (!access.readingTakesLogin || call.get('visitor').kind !== 'anybody') return next();
    const { pathname, search } = new URL(call.req.url);
    if (wantsPage(call))
      return call.redirect(`/login?next=${encodeURIComponent(pathname + search)}`, 303);
    return call.json({ error: 'Send the token: Authorization: Bearer TOKEN.' }, 401, CHALLENGE);
  });
  pageRoutes(app, served);
  dataRoutes(app, served);
  return app;
}

/** The routes of a port for probes: health, and metrics if there are any. */
export function probeRoutes(
  served: Pick<RouteContext, 'watching' | 'clock' | 'access' | 'metrics' | 'failed'>,
): Hono<Binding> {
  const app = safeApp();
  app.onError((thrown, call) => {
    served.failed(asSetpointError(thrown));
    return call.text('Something went wrong. The log has more.\n', 500);
  });
  app.notFound((call) => call.text('Not found.\n', 404));
  healthRoutes(app, served);
  refuseForeignHostNames(app, served.access);
  metricsRoute(app, served);
  return app;
}

function safeApp(): Hono<Binding> {
  const app = new Hono<Binding>();
  app.use(async (call, next) => {
    await next();
    for (const [name, value] of Object.entries(SAFE_HEADERS))
      if (!call.res.headers.has(name)) call.res.headers.set(name, value);
  });
  return app;
}

function healthRoutes(
  app: Hono<Binding>,
  { watching, clock }: Pick<RouteContext, 'watching' | 'clock'>,
): void {
  app.get('/healthz', (call) => {
    const alive = isAlive(watching, clock.now());
    return call.text(
      alive ? 'ok\n' : 'the loop has not turned for three intervals\n',
      alive ? 200 : 503,
    );
  });
  // This endpoint always succeeds: otherwise the cluster would remove the page, which shows the problems of the controller.
  app.get('/readyz', (call) => call.text('ok\n'));
}

/** Refuses requests for a name that this port does not have. */
function refuseForeignHostNames(app: Hono<Binding>, access: RouteContext['access']): void {
  app.use(async (call, next) => {
    if (!access.isAnswered(call.env.incoming.headers.host))
      return call.text(
        'This name is not served here. Ask for localhost, or add the address of a proxy: --listen ADDRESS=URL.\n',
        421,
      );
    return next();
  });
}

function metricsRoute(app: Hono<Binding>, { metrics }: Pick<RouteContext, 'metrics'>): void {
  app.get('/metrics', async (call) => {
    if (metrics === null) return call.notFound();
    const accept = call.req.header('accept') ?? '';
    const { type, text } = await metrics({
      inOpenMetrics: accept.includes('application/openmetrics-text'),
      perEnvironment: call.req.query('environments') !== 'false',
    });
    return call.body(text, 200, { 'Content-Type': type, Vary: 'Accept' });
  });
}

const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="setpoint"' };

function pageRoutes(app: Hono<Binding>, served: RouteContext): void {
  const { watching, access, clock, boot, streams } = served;

  app.get('/', (call) => {
    const query = listQuery(new URL(call.req.url).searchParams);
    const session = actingSession(served, call);
    const view = listView(watching, sortStates(watching), query, clock.now(), session !== null);
    const live = addLiveVersion(`/events${listAddress(query).slice(1)}`, view, boot);
    const main = renderListView(view, query, session, takeSaid(call));
    return pageAnswer(served, call, { title: 'Environments', main, live });
  });

  app.get('/runbooks/:name', (call) => {
    const page = runbookHtml(call.req.param('name'));
    if (page !== null) return pageAnswer(served, call, page);
    return refusalAnswer(served, call, 404, 'No alert has this name.', 'Check the address.');
  });

  app.get('/environments/:name', async (call) => {
    const state = findRequestedState(served, call);
    if (state === undefined) return answerMissingEnvironment(served, call);
    const view = await loadLiveView(served, state);
    const said = takeSaid(call);
    const session = actingSession(served, call);
    const actions = session === null ? null : actionsHtml(state, session);
    const events = `/events?environment=${environmentAddress(state.name).split('/').at(-1) ?? ''}`;
    return pageAnswer(served, call, {
      title: state.name,
      main: environmentHtml(view, { said, actions }),
      live: addLiveVersion(events, view, boot),
    });
  });

  app.get('/events', async (call) => {
    if (call.req.method === 'HEAD') return call.body(null, 200, EVENT_HEADERS);
    const { searchParams } = new URL(call.req.url);
    const known = call.req.header('last-event-id') ?? searchParams.get('version') ?? '';
    const visitor = call.get('visitor');
    const source = parseViewSource(served, searchParams, actingSession(served, call) !== null);
    const reader = {
      name: access.identifyReader(visitor, call.env.incoming),
      isAllowed: () => access.isStill(visitor),
    };
    await streams.open(source, call.env.outgoing, known, reader);
    return RESPONSE_ALREADY_SENT;
  });
}

function dataRoutes(app: Hono<Binding>, served: RouteContext): void {
  const { watching, clock } = served;
  const reported = (state: WatchState): EnvironmentWatched =>
    createWatchedReport(state, watching.conditions.list(), clock.now());

  app.get('/api/environments', (call) => {
    const query = listQuery(new URL(call.req.url).searchParams);
    const found = matching(sortStates(watching).states, query, clock.now());
    return call.json(createWatchedDocument(watching, found.map(reported), clock.now()));
  });

  app.get('/api/environments/:name', async (call) => {
    const state = findRequestedState(served, call);
    if (state === undefined) return answerMissingEnvironment(served, call);
    const history = (await watching.history(state.name)).slice(0, RECORDS);
    const report = wholeReport(reported(state), state, history);
    return call.json(createWatchedDocument(watching, [report], clock.now()));
  });

  app.get('/badge/:file', (call) => {
    const file = call.req.param('file');
    const state = file.endsWith('.svg') ? watching.state(file.slice(0, -4)) : undefined;
    if (state === undefined) return answerMissingEnvironment(served, call);
    return call.body(badgeSvg(state), 200, { 'Content-Type': 'image/svg+xml' });
  });

  metricsRoute(app, served);
}

/** The session of a reader who may act; null for others. */
function actingSession({ access }: RouteContext, call: Call): Session | null {
  return access.canAct ? call.get('visitor').session : null;
}

/** Takes the result of the last action of a session, which a page shows once. */
function takeSaid(call: Call): string | null {
  const { session } = call.get('visitor');
  const said = session?.said ?? null;
  if (session !== null) session.said = null;
  return said;
}

function findRequestedState({ watching }: RouteContext, call: Call): WatchState | undefined {
  return watching.state(call.req.param('name') ?? '');
}

function addLiveVersion(
  events: string,
  view: LiveView,
  boot: string,
): { readonly events: string; readonly version: string } {
  return { events, version: computeViewVersion(view, boot) };
}

async function loadLiveView(
  { watching, clock }: RouteContext,
  state: WatchState,
): Promise<LiveView> {
  const records = await watching.history(state.name);
  return environmentView(watching, state, records, clock.now());
}

/** Returns the source of a stream: an environment, or the list for a query. */
function parseViewSource(
  served: RouteContext,
  parameters: URLSearchParams,
  canAct: boolean,
): ViewSource {
  const { watching, clock } = served;
  const name = parameters.get('environment');
  if (name !== null)
    return {
      key: `environment ${name}`,
      view: async () => {
        const state = watching.state(name);
        return state === undefined ? null : loadLiveView(served, state);
      },
    };
  const query = listQuery(parameters);
  return {
    key: `list ${canAct} ${listAddress(query)}`,
    view: async () => listView(watching, sortStates(watching), query, clock.now(), canAct),
  };
}
