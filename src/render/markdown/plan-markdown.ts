import type { PlanDocument } from '../../model/plan.ts';
import { comment } from './comment.ts';
import { footer } from './footer.ts';
import { planSection } from './plan-section.ts';

/** A plan as a comment on a pull request or an issue: at most 59,000 bytes of Markdown, all values inert. */
export function planMarkdown(document: PlanDocument): string {
  return markdown(document, 'plan');
}

/** The same plan in the words of a finding. */
export function driftMarkdown(document: PlanDocument): string {
  return markdown(document, 'drift');
}

function markdown(document: PlanDocument, voice: 'plan' | 'drift'): string {
  const sections = document.environments.map((environment) =>
    planSection(environment, document, voice),
  );
  return comment(sections, footer(document.run, document.tool));
}
