import type { EnvironmentPlan, PlanDocument } from '../../model/plan.ts';
import { counted } from '../../model/counted.ts';
import { markup } from './markup.ts';
import { page } from './page.ts';
import { planSection, type Voice } from './plan-section.ts';
import { provenanceHtml } from './provenance-html.ts';
import { remedyHtml } from './remedy-html.ts';
import { overviewHtml, sectionHtml } from './section-html.ts';

/** A plan as a page of its own. */
export function planHtml(document: PlanDocument): string {
  return lookHtml(document, 'plan');
}

/** The same plan in the words of a finding. */
export function driftHtml(document: PlanDocument): string {
  return lookHtml(document, 'drift');
}

function lookHtml(document: PlanDocument, voice: Voice): string {
  const { environments, created_at, tool, run } = document;
  const sections = environments.map((environment) => planSection(environment, document, voice));
  return page({
    command: voice,
    targets: environments,
    heading: headingOf(environments, voice),
    main: markup`${overviewHtml(sections)}${sections.map(sectionHtml)}`,
    footer: markup`${remedyHtml(environments, voice)}${provenanceHtml({ tool, run, at: created_at })}`,
  });
}

function headingOf(environments: readonly EnvironmentPlan[], voice: Voice): string {
  const changes = environments.flatMap(({ changes }) => changes).length;
  const failed = environments.filter(({ status }) => status === 'error').length;
  const noun = voice === 'plan' ? 'change' : 'difference';
  const found = changes === 0 ? `no ${noun}s` : counted(changes, noun);
  if (environments.length === 1) return failed > 0 ? 'could not be looked at' : found;
  const rest = failed > 0 ? `, ${failed} could not be looked at` : '';
  return `${found} in ${counted(environments.length, 'target')}${rest}`;
}
