import { VERSION } from '../../reconciler/model/version.ts';
import {
  markup,
  markupSource,
  type Markup,
  type MarkupPart,
  STYLE_SHEET,
} from '../../reconciler/render/html/page.ts';
import type { Session } from './access.ts';
import { secondText } from './times.ts';
import { createHash } from 'node:crypto';
import { SCRIPT } from './script.ts';
import { PAGE_STYLE } from './style.ts';

export interface FrameParts {
  readonly title: string;
  readonly main: MarkupPart;
  /** The address of the page's events, and the version of its content; null if nothing on the page is live. */
  readonly live: { readonly events: string; readonly version: string } | null;
  readonly now: number;
  readonly session: Session | null;
  /** True if the controller has a token. */
  readonly canLogIn: boolean;
  /** The address to return to after login. */
  readonly here: string;
}

/** A whole page: landmarks, a link past the head, and who is logged in. Without scripts it shows the time when it was made. */
export function renderPageFrame({ title, main, live, now, ...who }: FrameParts): string {
  const iso = new Date(now).toISOString();
  const events =
    live === null ? null : markup` data-events="${live.events}" data-version="${live.version}"`;
  return markupSource(markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · setpoint watch</title>
<link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${asset('page.css')}">
<script src="${asset('page.js')}" defer></script>
</head>
<body data-now="${iso}"${events}>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="brand"><a href="/">setpoint <span>watch</span></a></p>
<p class="soft" id="live">${live === null ? null : markup`as of ${secondText(iso).slice(11)}`}</p>
${whoHtml(who)}</header>
<main id="main" tabindex="-1">
${main}</main>
<footer>
<p>Secrets are masked. Times are UTC. setpoint ${VERSION}</p>
</footer>
<p class="unseen" id="announce" role="status"></p>
</body>
</html>
`);
}

function whoHtml({
  session,
  canLogIn,
  here,
}: Pick<FrameParts, 'session' | 'canLogIn' | 'here'>): Markup | null {
  if (session !== null)
    return markup`<form method="post" action="/logout">${formTokenHtml(session)}<button class="quiet">Log out</button></form>
`;
  return canLogIn && here !== '/login'
    ? markup`<p><a href="/login?next=${encodeURIComponent(here)}">Log in</a></p>\n`
    : null;
}

/** Renders the proof that this page made a form for this session. */
export function formTokenHtml(session: Session): Markup {
  return markup`<input type="hidden" name="form_token" value="${session.formToken}">`;
}

/** A page with one message, and the next step. */
export function noticeHtml(title: string, ...sentences: readonly MarkupPart[]): Markup {
  return markup`<h1>${title}</h1>
<section aria-label="Message">
${sentences.map((sentence) => markup`<p>${sentence}</p>\n`)}<p><a href="/">All environments</a></p>
</section>
`;
}

interface Asset {
  readonly type: string;
  readonly text: string;
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b57c4"/><path d="M5 21h6l5-11 5 11h6" fill="none" stroke="#fff" stroke-width="3" stroke-linejoin="round" stroke-linecap="round"/></svg>`;

/** The files that pages load, by their names. They hold nothing of any environment. */
export const ASSETS: Readonly<Record<string, Asset>> = {
  'page.css': { type: 'text/css; charset=utf-8', text: markupSource(STYLE_SHEET) + PAGE_STYLE },
  'page.js': { type: 'text/javascript; charset=utf-8', text: SCRIPT },
  'icon.svg': { type: 'image/svg+xml', text: ICON },
};

/** The address of a file; another version of it has another. */
export function asset(name: keyof typeof ASSETS): string {
  return `/assets/${name}?v=${VERSIONS[name] ?? ''}`;
}

const VERSIONS = Object.fromEntries(
  Object.entries(ASSETS).map(([name, { text }]) => [
    name,
    createHash('sha256').update(text).digest('base64url').slice(0, 12),
  ]),
);
