import type { ValidationDocument } from '../../model/validation.ts';
import { counted } from '../../model/counted.ts';
import { diagnosticHtml } from './diagnostic-html.ts';
import { markup } from './markup.ts';
import { page } from './page.ts';
import { listHtml } from './row-html.ts';

/** What validate found, as a page of its own. */
export function validationHtml({ valid, diagnostics }: ValidationDocument): string {
  const count = diagnostics.length === 0 ? '' : `: ${counted(diagnostics.length, 'problem')}`;
  const list = markup`<section aria-label="Problems">
${listHtml(diagnostics.map(diagnosticHtml))}</section>
`;
  return page({
    command: 'validate',
    targets: [],
    heading: `${valid ? 'valid' : 'not valid'}${count}`,
    main: diagnostics.length === 0 ? null : list,
    footer: null,
  });
}
