import type { FailureDocument } from '../../model/failure.ts';
import { TOOL } from '../../model/version.ts';
import { errorAlert } from './alert.ts';
import { LONGEST_COMMENT } from './comment.ts';
import { diagnosticBlock } from './diagnostic-blocks.ts';
import { fitted } from './fitted.ts';
import { toolMarkdown } from './footer.ts';

/** What kept a command from beginning, as a comment or a summary: at most 59,000 bytes of Markdown, all values inert. */
export function failureMarkdown({ error }: FailureDocument): string {
  const blocks = [
    '## setpoint could not begin\n\n',
    errorAlert(error),
    diagnosticBlock(error.diagnostics ?? []),
    `${toolMarkdown(TOOL)}\n`,
  ];
  return fitted(blocks, LONGEST_COMMENT);
}
