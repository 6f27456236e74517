import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { errorReport, type SetpointError } from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { withoutStop } from '../../reconciler/model/wording.ts';
import { errorHtml } from '../../reconciler/render/html/section.ts';
import { markup, type MarkupPart } from '../../reconciler/render/html/page.ts';
import type { Watching } from '../watch/watching.ts';
import type { Access, Visitor } from './access.ts';
import { renderPageFrame, noticeHtml, type FrameParts } from './frame.ts';
import type { Streams } from './streams.ts';

/** The context that every route needs. */
export interface RouteContext {
  readonly watching: Watching;
  readonly access: Access;
  readonly clock: Clock;
  readonly streams: Streams;
  /** The id of this start: a version of another start means nothing. */
  readonly boot: string;
  readonly metrics:
    | ((form: {
        readonly inOpenMetrics: boolean;
        readonly perEnvironment: boolean;
      }) => Promise<{ readonly type: string; readonly text: string }>)
    | null;
  /** Receives every defect that a request has met; the reader sees only that there was one. */
  readonly failed: (error: SetpointError) => void;
}

export interface Binding {
  readonly Bindings: HttpBindings;
  /** `form` is what a POST has sent. */
  readonly Variables: { readonly visitor: Visitor; readonly form: URLSearchParams };
}
export type Call = Context<Binding>;

type Status = 200 | 400 | 401 | 403 | 404 | 405 | 409 | 413 | 421 | 429 | 500 | 502 | 503;

/** Answers with a page. */
export function pageAnswer(
  { access, clock }: Pick<RouteContext, 'access' | 'clock'>,
  call: Call,
  parts: Pick<FrameParts, 'title' | 'main'> & Partial<Pick<FrameParts, 'live'>>,
  status: Status = 200,
): Response {
  const url = new URL(call.req.url);
  const text = renderPageFrame({
    live: null,
    ...parts,
    now: clock.now(),
    session: call.get('visitor')?.session ?? null,
    canLogIn: access.canLogIn,
    here: call.req.method === 'GET' ? url.pathname + url.search : '/',
  });
  return call.html(text, status);
}

/** Refuses a request, as a page for people and as a line for tools. */
export function refusalAnswer(
  served: Pick<RouteContext, 'access' | 'clock'>,
  call: Call,
  status: Status,
  title: string,
  ...sentences: readonly string[]
): Response {
  if (!wantsPage(call)) return call.json({ error: [title, ...sentences].join(' ') }, status);
  const heading = withoutStop(title);
  const main = noticeHtml(heading, ...sentences);
  return pageAnswer(served, call, { title: heading, main }, status);
}

export function answerMissingEnvironment(
  served: Pick<RouteContext, 'access' | 'clock'>,
  call: Call,
): Response {
  const hint = 'It may have left the settings file.';
  return refusalAnswer(served, call, 404, 'No environment has this name.', hint);
}

/** Answers with what went wrong, and what to do. */
export function errorAnswer(
  served: Pick<RouteContext, 'access' | 'clock'>,
  call: Call,
  error: SetpointError,
  back: MarkupPart,
): Response {
  const status = error.code === 'internal' ? 500 : error.code === 'usage' ? 400 : 409;
  if (!wantsPage(call)) return call.json({ error: errorReport(error) }, status);
  const main = markup`<h1>That did not work</h1>
<section aria-label="Error">
${errorHtml(errorReport(error))}<p>${back}</p>
</section>
`;
  return pageAnswer(served, call, { title: 'That did not work', main }, status);
}

/** Reports whether the client is a browser, by its Accept header. */
export function wantsPage(call: Call): boolean {
  return (call.req.header('accept') ?? '').includes('text/html');
}
