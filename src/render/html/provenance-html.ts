import type { Run, Tool } from '../../model/plan.ts';
import { linkTarget } from '../link-target.ts';
import { visible } from '../visible.ts';
import { markup, type Markup, type Part } from './markup.ts';

interface Provenance {
  readonly tool: Tool;
  readonly run: Run;
  /** When the document was made. */
  readonly at: string;
}

/** Where a document comes from. */
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

function termHtml(term: string, value: Part): Markup {
  return markup`<dt>${term}</dt><dd>${value}</dd>\n`;
}

/** A link where the address is https without a name and password, and reads as where it leads. */
function linkHtml(text: string): Part {
  const url = linkTarget(text);
  if (url === null || visible(url.href) !== url.href) return text;
  return markup`<a href="${url.href}" rel="noreferrer noopener">${url.href}</a>`;
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** A time to the minute; what is none stands as it is. */
function timeHtml(text: string): Part {
  const time = new Date(ISO.test(text) ? text : Number.NaN);
  if (Number.isNaN(time.getTime())) return text;
  const iso = time.toISOString();
  return markup`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
