import type { ValidationDocument } from '../../model/validation.ts';
import { TOOL } from '../../model/version.ts';
import { LONGEST_COMMENT } from './comment.ts';
import { diagnosticBlock } from './diagnostic-blocks.ts';
import { fitted } from './fitted.ts';
import { toolMarkdown } from './footer.ts';
import { counted } from '../../model/counted.ts';

/** What `validate` found, as a comment or a summary: at most 59,000 bytes of Markdown, all values inert. */
export function validationMarkdown({ diagnostics }: ValidationDocument): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const counts = [
    errors === 0 ? '' : counted(errors, 'error'),
    warnings === 0 ? '' : counted(warnings, 'warning'),
  ].filter((part) => part !== '');
  const title = `## Validation — ${counts.join(', ') || 'no problems'}\n\n`;
  return fitted([title, diagnosticBlock(diagnostics), `${toolMarkdown(TOOL)}\n`], LONGEST_COMMENT);
}
