import type { EnvironmentPlan, PlanDocument } from '../../model/plan.ts';
import { counted } from '../../model/counted.ts';
import { markup } from './markup.ts';
import { page } from './page.ts';
import { driftTitle } from '../plan-text.ts';
import type { Voice } from '../sides.ts';
import { planSection } from './plan-section.ts';
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

function foundIn(changes: EnvironmentPlan['changes'], voice: Voice): string {
  if (changes.length === 0) return voice === 'plan' ? 'no changes' : 'no differences';
  if (voice === 'plan') return counted(changes.length, 'change');
  return driftTitle(changes);
}

function headingOf(environments: readonly EnvironmentPlan[], voice: Voice): string {
  const changes = environments.flatMap(({ changes }) => changes);
  const failed = environments.filter(({ status }) => status === 'error').length;
  const found = foundIn(changes, voice);
  if (environments.length === 1) return failed > 0 ? 'the service could not be read' : found;
  const rest = failed > 0 ? `, ${failed} could not be read` : '';
  return `${found} in ${counted(environments.length, 'environment')}${rest}`;
}
