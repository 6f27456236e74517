import type { EnvironmentOutcome, OutcomeDocument } from '../../model/outcome.ts';
import { markup } from './markup.ts';
import { OUTCOME_VERDICTS, outcomeSection } from './outcome-section.ts';
import { page } from './page.ts';
import { provenanceHtml } from './provenance-html.ts';
import { overviewHtml, sectionHtml } from './section-html.ts';

/** What an apply did, as a page of its own. */
export function outcomeHtml({ environments, finished_at, tool, run }: OutcomeDocument): string {
  const sections = environments.map(outcomeSection);
  return page({
    command: 'apply',
    targets: environments,
    heading: headingOf(environments),
    main: markup`${overviewHtml(sections)}${sections.map(sectionHtml)}`,
    footer: provenanceHtml({ tool, run, at: finished_at }),
  });
}

function headingOf(environments: readonly EnvironmentOutcome[]): string {
  const [only] = environments;
  if (environments.length === 1 && only !== undefined) return OUTCOME_VERDICTS[only.status].words;
  const good = environments.filter(({ error }) => error === null).length;
  return `${good} of ${environments.length} environments applied`;
}
