import { createHash } from 'node:crypto';
import type { Run, Tool } from '../../model/plan.ts';
import type { Shard } from '../../model/shard.ts';
import { shardName } from '../shard-text.ts';
import { linkTarget, visible } from '../text.ts';
import { markup, markupSource, type Markup, type MarkupPart } from './markup.ts';
import { STYLE_SHEET } from './style-sheet.ts';

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
export function page(parts: PageParts): string {
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
const CONTENT_POLICY = markup`default-src 'none'; style-src 'sha256-${sha256(markupSource(STYLE_SHEET))}'; base-uri 'none'; form-action 'none'`;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

interface Provenance {
  readonly tool: Tool;
  readonly run: Run;
  /** When the document was made. */
  readonly at: string;
}

/** Commit, actor, run, time and version of setpoint, for the footer. */
export function provenanceHtml({ tool, run, at }: Provenance): Markup {
  const { commit, actor, url } = run;
  return markup`<dl>
${commit === null ? null : termHtml('Commit', markup`<code>${commit}</code>`)}${
    actor === null ? null : termHtml('By', actor)
  }${url === null ? null : termHtml('Run', linkHtml(url))}${termHtml('At', timeHtml(at))}${termHtml(
    'With',
    `${tool.name} ${tool.version}`,
  )}</dl>
`;
}

function termHtml(term: string, value: MarkupPart): Markup {
  return markup`<dt>${term}</dt><dd>${value}</dd>\n`;
}

/** A link if the address is https without a name and password, and reads as what it leads to. */
function linkHtml(text: string): MarkupPart {
  const url = linkTarget(text);
  if (url === null || visible(url.href) !== url.href) return text;
  return markup`<a href="${url.href}" rel="noreferrer noopener">${url.href}</a>`;
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** A time to the minute; any other text as it is. */
function timeHtml(text: string): MarkupPart {
  const time = new Date(ISO.test(text) ? text : Number.NaN);
  if (Number.isNaN(time.getTime())) return text;
  const iso = time.toISOString();
  return markup`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
