import type { FailureDocument } from '../../model/failure.ts';
import { diagnosticHtml } from './diagnostic-html.ts';
import { markup } from './markup.ts';
import { errorHtml } from './notices-html.ts';
import { page } from './page.ts';
import { listHtml } from './row-html.ts';

/** Why a command could not begin, as a page of its own. */
export function failureHtml({ error }: FailureDocument): string {
  const { diagnostics = [] } = error;
  const list = diagnostics.length === 0 ? null : listHtml(diagnostics.map(diagnosticHtml));
  return page({
    command: null,
    targets: [],
    heading: 'could not begin',
    main: markup`<section aria-label="Error">
${errorHtml(error)}${list}</section>
`,
    footer: null,
  });
}
