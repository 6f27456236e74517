import type { Run, Tool } from '../../model/plan.ts';
import { linkTarget } from '../link-target.ts';
import { codeSpan, shortened } from './code-span.ts';
import { label } from './prose.ts';

/** Where something was run, and by what; the address of the run is the only link there is. */
export function footer(run: Run, tool: Tool): string {
  const parts = [
    run.commit === null ? '' : `commit ${codeSpan(shortCommit(run.commit))}`,
    runLink(run.url),
    run.actor === null ? '' : `by ${codeSpan(shortened(run.actor, 60))}`,
    toolMarkdown(tool),
  ];
  return `${parts.filter((part) => part !== '').join(' · ')}\n`;
}

export function toolMarkdown({ version }: Tool): string {
  return `setpoint ${label(version)}`;
}

function shortCommit(commit: string): string {
  return /^[0-9a-f]{7,64}$/.test(commit) ? commit.slice(0, 7) : shortened(commit, 40);
}

/** What could end the link is written in percent. */
function runLink(text: string | null): string {
  const url = text === null ? null : linkTarget(text);
  if (url === null || !/^[a-z0-9.-]+$/.test(url.hostname)) return '';
  const target = url.href.replaceAll(
    /[^A-Za-z0-9\-._~:/?#@!$+,;=%&]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return target.length > 1000 ? '' : `[run](${target.replaceAll('&', '&amp;')})`;
}
