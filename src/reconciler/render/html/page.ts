import { createHash } from 'node:crypto';
import type { Run, Tool } from '../../model/plan.ts';
import type { Shard } from '../../model/shard.ts';
import { formatUtcMinute } from '../../model/wording.ts';
import { shardName } from '../shard-text.ts';
import { linkTarget, visible } from '../text.ts';

const SOURCE = Symbol('source');

/** A piece of a page. Only `markup` makes one: a document read from a file cannot contain any. */
export interface Markup {
  readonly [SOURCE]: string;
}

export type MarkupPart = string | number | Markup | readonly MarkupPart[] | null;

/**
 * Our own markup with values in it. A string becomes text, invisible characters escaped, between tags as well as in an attribute
 * (in double quotes, as all of ours are); nothing in it can become markup. Null is left out.
 */
export function markup(own: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return {
    [SOURCE]: own.map((text, index) => text + renderMarkupPart(parts[index] ?? null)).join(''),
  };
}

/** The HTML of a piece. */
export function markupSource(piece: Markup): string {
  return piece[SOURCE];
}

function renderMarkupPart(part: MarkupPart): string {
  if (part === null) return '';
  if (typeof part === 'string' || typeof part === 'number')
    return withEntities(visible(String(part)));
  return SOURCE in part ? part[SOURCE] : part.map(renderMarkupPart).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

function withEntities(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (char) => ENTITIES[char] ?? '');
}

/** The style of every page. Text has a contrast of at least 4.5:1 to its ground in both themes. */
export const STYLE_SHEET = markup`
:root {
  color-scheme: light dark;
  --page: #f4f6f8; --card: #fff; --edge: #dce1e8; --text: #1a212b; --soft: #56606e; --link: #0b57c4; --code: #eff2f5;
  --good: #0f6630; --good-fill: #e2f5e8; --warn: #764900; --warn-fill: #fdf0d5;
  --bad: #a91b16; --bad-fill: #fdebe9; --note: #0a5684; --note-fill: #e2f1fb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e1217; --card: #161b23; --edge: #2d3542; --text: #e3e8ef; --soft: #9ca8b8; --link: #86b8ff; --code: #212832;
    --good: #79d894; --good-fill: #12301f; --warn: #f2c064; --warn-fill: #35290f;
    --bad: #ffa29b; --bad-fill: #3e1b1b; --note: #82cbf7; --note-fill: #122f3f;
  }
}
* { box-sizing: border-box; margin: 0; padding: 0; }
html { text-size-adjust: 100%; -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 56rem;
  background: var(--page); color: var(--text); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, sans-serif;
}
h1 { font-size: 1.625rem; line-height: 1.25; }
h1::first-letter { text-transform: uppercase; }
h2 { font-size: 1.25rem; line-height: 1.4; }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
ul { list-style: none; }
a { color: var(--link); text-underline-offset: .15em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: .25rem; }
code, pre, .value { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace; font-size: .875em; }
summary { cursor: pointer; padding: .25rem 0; }
section, nav { background: var(--card); border: 1px solid var(--edge); border-radius: .75rem; padding: 1rem; margin-top: 1rem; }
nav { padding-block: .5rem; }
.counts { padding: .5rem 0; font-weight: 600; line-height: 1.9; }
nav > .soft { padding-bottom: .5rem; }
.soft { color: var(--soft); font-size: .875rem; }
.sentence { margin-top: .5rem; font-weight: 600; }
.chip { display: inline-block; padding: 0 .5rem; border-radius: .375rem; font-size: .8125rem; line-height: 1.6; font-weight: 600; vertical-align: .05em; }
.good, ins { background: var(--good-fill); color: var(--good); }
.warn { background: var(--warn-fill); color: var(--warn); }
.bad, del { background: var(--bad-fill); color: var(--bad); }
.note { background: var(--note-fill); color: var(--note); }
.plain { background: var(--code); color: var(--soft); }
.box { margin-top: .75rem; padding: .625rem .75rem; border-left: .25rem solid; border-radius: .375rem; }
.box > * { color: var(--text); }
.box:first-child { margin-top: 0; }
.box > li + li { margin-top: .5rem; }
.overview > li { padding: .5rem 0; }
.overview > li + li { border-top: 1px solid var(--edge); }
.overview .soft { display: block; }
.rows > li { padding: .75rem 0; border-top: 1px solid var(--edge); }
.rows > li:last-child { padding-bottom: .25rem; }
.rows:first-child > li:first-child { border: 0; }
.rows + .soft, .box + .rows, .box + .soft { margin-top: .75rem; }
.name { font-weight: 600; }
.values { margin: .25rem 0; }
del, ins { text-decoration: none; }
.sides > * { padding: 0 .35em; border-radius: .25rem; font-size: .8125rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
table.differences { width: 100%; border-collapse: collapse; table-layout: fixed; margin-top: .5rem; border-top: 1px solid var(--edge); font-size: .9375rem; }
.differences thead th:nth-child(n) { position: static; width: auto; background: none; padding: .5rem .75rem .5rem 0; text-align: left; color: var(--soft); font-size: .8125rem; font-weight: 550; }
.differences tbody th, .differences tbody td { vertical-align: top; text-align: left; font-weight: 400; white-space: normal; overflow: visible; overflow-wrap: anywhere; padding: .5rem .75rem .5rem 0; }
.differences tr > * { border-top: 1px solid var(--edge); }
.differences tbody tr:hover { background: none; }
.differences tbody th .soft { display: block; margin: .125rem 0 0; }
.value { display: inline-block; max-width: 100%; padding: 0 .35em; border-radius: .25rem; white-space: pre-wrap; vertical-align: top; }
.long > summary { position: relative; list-style: none; padding-left: 1.1rem; }
.long > summary::-webkit-details-marker { display: none; }
.long > summary::before { content: '▸'; position: absolute; left: 0; color: var(--soft); }
.long[open] > summary::before { content: '▾'; }
.long .value { display: block; }
.long > .value { margin: .25rem 0; }
pre { margin: .375rem 0; padding: .25rem 0; border-radius: .375rem; background: var(--code); white-space: pre-wrap; line-height: 1.5; overflow: hidden; }
pre > * { display: block; padding: 0 .75rem 0 2rem; text-indent: -1.25rem; }
.fold { margin-top: 1rem; color: var(--soft); }
.fold li { padding-left: 1.1rem; }
.rest > section { color: var(--text); }
.rest .overview > li, .rest .rows > li, .rest .box > li { padding-left: 0; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .125rem .75rem; margin: 1rem 0; }
footer { margin-top: 1.5rem; color: var(--soft); font-size: .875rem; }
footer p code { color: var(--text); }
@media (min-width: 40rem) {
  body { padding-top: 2.5rem; }
  section { padding: 1.25rem 1.5rem; }
  nav { padding: .75rem 1.5rem; }
  .rows > li { display: grid; grid-template-columns: 6rem minmax(0, 1fr); gap: .75rem; }
  .overview > li { display: grid; grid-template-columns: minmax(0, 10rem) minmax(0, 9rem) minmax(0, 1fr); gap: .75rem; align-items: baseline; }
  .overview .chip { justify-self: start; }
}
@media (max-width: 59.99rem) {
  .differences thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .differences tbody tr { display: block; padding: .4375rem 0; border-top: 1px solid var(--edge); }
  .differences tbody tr > *, .differences tbody tr + tr > * { display: block; padding: .125rem 0; border: 0; }
  .differences tbody td[data-head]::before { content: attr(data-head); display: block; color: var(--soft); font-size: .8125rem; }
}
@media print {
  :root {
    color-scheme: light; --page: #fff; --card: #fff; --edge: #bbb; --text: #000; --soft: #444; --link: #000; --code: #f2f2f2;
    --good: #0f6630; --good-fill: #eef7f0; --warn: #764900; --warn-fill: #faf3e4;
    --bad: #a91b16; --bad-fill: #fbefee; --note: #0a5684; --note-fill: #ecf4fa;
  }
  body { max-width: none; padding: 0; font-size: 10pt; }
  section, nav { border: 0; padding: 0; }
  .rows > li, .box { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
`;

interface PageParts {
  /** The command of the document; null if none ran. */
  readonly command: string | null;
  /** The shard that the document is of, if it is of one. */
  readonly shard?: Shard | null;
  readonly sections: readonly { readonly name: string }[];
  readonly heading: string;
  readonly main: Markup | null;
  readonly footer: Markup | null;
}

/** One self-contained page, light or dark as its reader has it. Nothing is loaded, and nothing runs. */
export function renderPage(parts: PageParts): string {
  const { command, shard = null, sections, heading, main, footer } = parts;
  const name = command === null ? 'setpoint' : `setpoint ${command}`;
  const tool = shard === null ? name : `${name}, ${shardName(shard)}`;
  const [only] = sections.length === 1 ? sections : [];
  return markupSource(markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${CONTENT_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${only === undefined ? heading : `${only.name}: ${heading}`} · ${tool}</title>
<style>${STYLE_SHEET}</style>
</head>
<body>
<header>
<p class="soft">${tool}</p>
<h1>${heading}</h1>
</header>
<main>
${main}</main>
<footer>
${footer}<p>Secrets are masked. This page loads nothing and runs nothing.</p>
</footer>
</body>
</html>
`);
}

/** No script, and no style but ours, which is identified by its sha256. */
const CONTENT_POLICY = markup`default-src 'none'; style-src 'sha256-${hashForPolicy(markupSource(STYLE_SHEET))}'; base-uri 'none'; form-action 'none'`;

function hashForPolicy(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

interface Provenance {
  readonly tool: Tool;
  readonly run: Run;
  /** The time at which the document was created. */
  readonly at: string;
}

/** Commit, actor, run, time and version of setpoint, for the footer. */
export function provenanceHtml({ tool, run, at }: Provenance): Markup {
  const { commit, actor, url } = run;
  return markup`<dl>
${commit === null ? null : termHtml('Commit', markup`<code>${commit}</code>`)}${
    actor === null ? null : termHtml('By', actor)
  }${url === null ? null : termHtml('Run', renderHttpsLink(url))}${termHtml('At', renderTime(at))}${termHtml(
    'With',
    `${tool.name} ${tool.version}`,
  )}</dl>
`;
}

function termHtml(term: string, value: MarkupPart): Markup {
  return markup`<dt>${term}</dt><dd>${value}</dd>\n`;
}

/** A link if the address is https without a name and password, and reads as what it leads to. */
function renderHttpsLink(text: string): MarkupPart {
  const url = linkTarget(text);
  if (url === null || visible(url.href) !== url.href) return text;
  return markup`<a href="${url.href}" rel="noreferrer noopener">${url.href}</a>`;
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** A time to the minute; any other text unchanged. */
function renderTime(text: string): MarkupPart {
  const time = new Date(ISO.test(text) ? text : Number.NaN);
  if (Number.isNaN(time.getTime())) return text;
  const iso = time.toISOString();
  return markup`<time datetime="${iso}">${formatUtcMinute(iso)}</time>`;
}
