import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import { partOf } from '../model/summary.ts';
import { driftMarkdown, footer } from '../render/markdown/comments.ts';
import { countsMarkdown } from '../render/markdown/summary.ts';
import { visible } from '../render/visible.ts';
import type { GitHub, Post } from './client.ts';
import { isMarked, markerOf } from './marker.ts';
import { writtenBy } from './sticky-comment.ts';

export const LABEL = 'setpoint-drift';

/**
 * Keeps one open issue for each environment that has drifted, and none for the others. Every run updates an open issue; once the
 * environment is back in sync, it is closed with a comment, and stays closed: the next drift gets an issue of its own. The issue
 * of an environment that could not be read is left as it is.
 */
export async function writeDriftIssues(
  github: GitHub,
  document: PlanDocument,
  hasDrifted: (environment: EnvironmentPlan) => boolean,
): Promise<void> {
  const existing = await ownIssues(github);
  for (const environment of document.environments) {
    if (environment.status === 'error') continue;
    const marker = markerOf('drift', environment.name);
    const own = existing.filter(({ body }) => isMarked(body, marker));
    if (hasDrifted(environment)) await keepOpen(github, own, document, environment);
    else for (const { id } of own) await closeIssue(github, id, document);
  }
}

async function keepOpen(
  github: GitHub,
  own: readonly Post[],
  document: PlanDocument,
  environment: EnvironmentPlan,
): Promise<void> {
  const body = issueBody(document, environment);
  const [oldest] = own;
  if (oldest === undefined) {
    const title = `Drift: ${visible(environment.name).slice(0, 200)}`;
    await github.createIssue({ title, body, label: LABEL });
  } else await github.updateIssue(oldest.id, body);
  // Two runs at the same time may both have opened one: the oldest stays.
  const now = oldest === undefined ? await ownIssues(github) : own;
  const marker = markerOf('drift', environment.name);
  const [, ...others] = now.filter((issue) => isMarked(issue.body, marker));
  for (const { id } of others) await github.closeIssue(id, 'not_planned');
}

async function closeIssue(github: GitHub, issue: number, document: PlanDocument): Promise<void> {
  const { created_at: at, run, tool } = document;
  await github.createComment(issue, `Back in sync at ${at}.\n\n${footer(run, tool)}`);
  await github.closeIssue(issue, 'completed');
}

async function ownIssues(github: GitHub): Promise<readonly Post[]> {
  return writtenBy(github, await github.openIssues(LABEL));
}

function issueBody(document: PlanDocument, environment: EnvironmentPlan): string {
  const drift = driftMarkdown(partOf(document, [environment])).trimEnd();
  const checked = `Last checked: ${document.created_at}. This issue is closed when the service is back in sync.`;
  const counts = countsMarkdown(document, 'drift');
  const parts = [markerOf('drift', environment.name), counts, drift, checked];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}
