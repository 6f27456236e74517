import type { EnvironmentPlan, PlanDocument } from '../../reconciler/model/plan.ts';
import { replaceEnvironments } from '../../reconciler/model/summary.ts';
import { driftMarkdown, footer } from '../../reconciler/render/markdown/comments.ts';
import { countsMarkdown } from '../../reconciler/render/markdown/summary.ts';
import { visible } from '../../reconciler/render/text.ts';
import type { GitHub, Post } from './client.ts';
import {
  findDigest,
  contentDigest,
  isMarked,
  findKeeper,
  joinMarkedPost,
  createMarker,
  withoutMeta,
} from './marker.ts';
import { filterOwnPosts } from './sticky-comment.ts';

export const LABEL = 'setpoint-drift';

/** The keeper of issues, and the environments that it keeps them for. */
export interface Keeping {
  /** A digest that identifies the keeper from run to run: the issues of others are not its own to end. */
  readonly keeper: string;
  /** Every environment of its files, whichever a run has chosen. */
  readonly declared: readonly string[];
}

/**
 * Maintains one open issue for each environment that has drifted, and none for the others. Every run updates an open issue; once the
 * environment has no drift any more, it is closed with the comment that `endOf` returns, and stays closed: the next drift gets an issue of
 * its own. One that a person closes also stays closed until something else drifts, or the same drifts again. The issue of an environment
 * that could not be read remains unchanged. With `keeping`, one of an environment that its files no longer have is closed.
 */
export async function writeDriftIssues(
  github: GitHub,
  document: PlanDocument,
  hasDrifted: (environment: EnvironmentPlan) => boolean,
  endOf: (environment: EnvironmentPlan, at: string) => string = endWords,
  keeping: Keeping | null = null,
): Promise<void> {
  const open = await filterOwnPosts(github, await github.openIssues(LABEL));
  // Issues that a run has closed have no digest any more.
  const closedByPeople = (await filterOwnPosts(github, await github.closedIssues(LABEL))).filter(
    ({ body }) => findDigest(body) !== null,
  );
  for (const environment of document.environments) {
    if (environment.status === 'error') continue;
    const marker = createMarker('drift', environment.name);
    const isOwn = ({ body }: Post): boolean => isMarked(body, marker);
    const [own, left] = [open.filter(isOwn), closedByPeople.filter(isOwn)];
    if (!hasDrifted(environment)) {
      for (const one of own)
        await closeIssue(github, one, document, endOf(environment, document.created_at));
      for (const { id, body } of left) await github.updateIssue(id, withoutMeta(body));
      continue;
    }
    const digest = driftDigest(environment);
    const isSettled = own.length === 0 && left.some(({ body }) => findDigest(body) === digest);
    if (!isSettled) await keepOpen(github, own, document, environment, keeping);
  }
  const departed = keeping === null ? [] : open.filter((post) => hasDeparted(post, keeping));
  for (const one of departed)
    await closeIssue(
      github,
      one,
      document,
      `No longer updated as of ${document.created_at}: the settings files no longer contain this environment.`,
    );
}

/** Reports whether the issue of a keeper is about an environment that its files no longer have. */
function hasDeparted({ body }: Post, { keeper, declared }: Keeping): boolean {
  const isDeclared = declared.some((name) => isMarked(body, createMarker('drift', name)));
  return findKeeper(body) === keeper && !isDeclared;
}

async function keepOpen(
  github: GitHub,
  own: readonly Post[],
  document: PlanDocument,
  environment: EnvironmentPlan,
  keeping: Keeping | null,
): Promise<void> {
  const body = issueBody(document, environment, keeping);
  const [oldest] = own;
  if (oldest === undefined) {
    const title = `Drift: ${visible(environment.name).slice(0, 200)}`;
    await github.createIssue({ title, body, label: LABEL });
  } else await github.updateIssue(oldest.id, body);
  // Two runs at the same time may both have opened one: the oldest stays.
  const now =
    oldest === undefined ? await filterOwnPosts(github, await github.openIssues(LABEL)) : own;
  const marker = createMarker('drift', environment.name);
  const [, ...others] = now.filter((issue) => isMarked(issue.body, marker));
  for (const one of others) await github.closeIssue(one.id, 'not_planned', withoutMeta(one.body));
}

async function closeIssue(
  github: GitHub,
  { id, body }: Post,
  { run, tool }: PlanDocument,
  words: string,
): Promise<void> {
  await github.createComment(id, `${words}\n\n${footer(run, tool)}`);
  await github.closeIssue(id, 'completed', withoutMeta(body));
}

function endWords({ status }: EnvironmentPlan, at: string): string {
  return status === 'in-sync'
    ? `Back in sync at ${at}.`
    : `No more drift as of ${at}. The file has edits that are not applied yet.`;
}

/** Returns a digest that is equal as long as the drift is the same. Edits of the file that wait for an apply are left out. */
function driftDigest({ changes }: EnvironmentPlan): string {
  const drifted = changes.filter((change) => change.class !== 'pending');
  return contentDigest(
    drifted.map(({ resource, path, action, before, after }) => [
      resource,
      path,
      action,
      before ?? null,
      after ?? null,
    ]),
  );
}

function issueBody(
  document: PlanDocument,
  environment: EnvironmentPlan,
  keeping: Keeping | null,
): string {
  const drift = driftMarkdown(replaceEnvironments(document, [environment])).trimEnd();
  const checked = `Last checked: ${document.created_at}. This issue closes when the service is back in sync. If you close it earlier, it reopens only on new drift.`;
  const counts = countsMarkdown(document, 'drift');
  const text = [counts, drift, checked].filter((part) => part !== '').join('\n\n');
  const { commit } = document.run;
  const meta = { digest: driftDigest(environment), commit, keeper: keeping?.keeper };
  return `${joinMarkedPost(createMarker('drift', environment.name), meta, text)}\n`;
}
