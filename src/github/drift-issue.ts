import { partOf, type EnvironmentPlan, type PlanDocument } from '../model/plan.ts';
import { footer } from '../render/markdown/footer.ts';
import { driftMarkdown } from '../render/markdown/plan-markdown.ts';
import { visible } from '../render/visible.ts';
import type { GitHub, Post } from './client.ts';
import { isMarked, markerOf } from './marker.ts';
import { writtenBy } from './sticky-comment.ts';

export const LABEL = 'setpoint-drift';

/**
 * Brings the issues to where each target that has drifted has one open, and no other has. An open issue is brought up to date at
 * every look; back in sync it is closed with a comment. A closed one stays closed: the next drift is another story, and gets an
 * issue of its own. Of a target that could not be looked at nothing is known, and nothing is said.
 */
export async function writeDriftIssues(
  github: GitHub,
  document: PlanDocument,
  hasDrifted: (environment: EnvironmentPlan) => boolean,
): Promise<void> {
  const there = await ownIssues(github);
  for (const environment of document.environments) {
    if (environment.status === 'error') continue;
    const marker = markerOf('drift', environment.name);
    const own = there.filter(({ body }) => isMarked(body, marker));
    if (hasDrifted(environment)) await keepOpen(github, own, document, environment);
    else for (const { id } of own) await close(github, id, document);
  }
}

async function keepOpen(
  github: GitHub,
  own: readonly Post[],
  document: PlanDocument,
  environment: EnvironmentPlan,
): Promise<void> {
  const body = bodyOf(document, environment);
  const [oldest] = own;
  if (oldest === undefined) {
    const title = `Drift: ${visible(environment.name).slice(0, 200)}`;
    await github.createIssue({ title, body, label: LABEL });
  } else await github.updateIssue(oldest.id, body);
  // Two runs at a time may both have opened one: the oldest stays.
  const now = oldest === undefined ? await ownIssues(github) : own;
  const marker = markerOf('drift', environment.name);
  const [, ...others] = now.filter((issue) => isMarked(issue.body, marker));
  for (const { id } of others) await github.closeIssue(id, 'not_planned');
}

async function close(github: GitHub, issue: number, document: PlanDocument): Promise<void> {
  const { created_at: at, run, tool } = document;
  await github.createComment(issue, `Back in sync, as seen at ${at}.\n\n${footer(run, tool)}`);
  await github.closeIssue(issue, 'completed');
}

async function ownIssues(github: GitHub): Promise<readonly Post[]> {
  return writtenBy(github, await github.openIssues(LABEL));
}

function bodyOf(document: PlanDocument, environment: EnvironmentPlan): string {
  const drift = driftMarkdown(partOf(document, [environment])).trimEnd();
  const seen = `Last looked at: ${document.created_at}. This issue is closed when the service is back in sync.`;
  return `${markerOf('drift', environment.name)}\n\n${drift}\n\n${seen}\n`;
}
