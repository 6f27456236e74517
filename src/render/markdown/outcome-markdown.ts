import type { OutcomeDocument } from '../../model/outcome.ts';
import { comment } from './comment.ts';
import { footer } from './footer.ts';
import { outcomeSection } from './outcome-section.ts';

/** What an apply did, as a comment or a summary: at most 59,000 bytes of Markdown, all values inert. */
export function outcomeMarkdown(document: OutcomeDocument): string {
  return comment(document.environments.map(outcomeSection), footer(document.run, document.tool));
}
