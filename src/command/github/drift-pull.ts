import { SetpointError, usageError } from '../../reconciler/model/error.ts';
import type { EnvironmentPlan, PlanDocument } from '../../reconciler/model/plan.ts';
import type { EnvironmentPull } from '../../reconciler/model/documents.gen.ts';
import { replaceEnvironments } from '../../reconciler/model/summary.ts';
import {
  formatClosingComment,
  driftPullMarkdown,
  driftPullTitle,
  foreignMarkdown,
} from '../../reconciler/render/markdown/drift-pull.ts';
import type { Branches, Commit, PullOfBranch } from './branches.ts';
import type { GitHub } from './client.ts';
import {
  commitEdits,
  driftBranch,
  editsOn,
  ownCommit,
  PREFIX,
  type EditedFile,
  type Edits,
} from './drift-branch.ts';
import { findDigest, contentDigest, joinMarkedPost, createMarker, isMarked } from './marker.ts';
import { writeComments } from './sticky-comment.ts';

/** An environment that was read. */
export interface ReadEnvironment {
  readonly plan: EnvironmentPlan;
  /** The edits that a pull would write; null if the environment has not drifted. */
  readonly pull: { readonly report: EnvironmentPull; readonly files: readonly EditedFile[] } | null;
}

/** The result for an environment: the number of its open pull request, and a note for the user. */
export interface DriftPull {
  readonly environment: string;
  readonly number: number | null;
  readonly note: { readonly level: 'notice' | 'warning'; readonly text: string } | null;
}

/**
 * Maintains one open pull request for each environment that has drifted, whose branch contains what a pull would write, and none for the
 * others. A pull request is ours if its first line is the marker, its author the account of the token and its branch the one of the
 * environment; a branch is ours if its last commit names us. Nothing else is touched. Branches only move forward, so a commit that another
 * client pushes meanwhile is never lost. GitHub allows one pull request from a branch, so runs at the same time end with one.
 */
export async function* writeDriftPulls(
  github: GitHub,
  branches: Branches,
  document: PlanDocument,
  base: string,
  environments: readonly ReadEnvironment[],
): AsyncGenerator<DriftPull> {
  const world: World = {
    github,
    branches,
    document,
    base,
    viewer: memoizeCall(() => github.viewer()),
    baseTip: memoizeCall(async () => {
      const tip = await branches.tip(base);
      if (tip === null)
        throw usageError(`GitHub has no branch ${base}.`, 'Run drift on a branch that exists.');
      return branches.commit(tip);
    }),
  };
  const existing = await branches.beginningWith(PREFIX);
  for (const environment of environments) {
    const { name } = environment.plan;
    const nothing = !existing.has(driftBranch(name));
    if (environment.pull === null && nothing) continue;
    yield await (environment.pull === null
      ? finish(world, environment, 'in-sync')
      : keepPull(world, environment, environment.pull));
  }
}

async function keepPull(
  world: World,
  environment: ReadEnvironment,
  { report, files }: NonNullable<ReadEnvironment['pull']>,
): Promise<DriftPull> {
  const { name } = environment.plan;
  const { branches, base, viewer } = world;
  const note = (level: 'notice' | 'warning', text: string, number: number | null = null) =>
    ({ environment: name, number, note: { level, text } }) as const;
  if (report.error !== null) return note('warning', `${report.error.message} ${report.error.hint}`);
  if (files.length === 0) {
    const finished = await finish(world, environment, 'not-writable');
    const why =
      report.left.length === 0
        ? 'pull finds nothing to write into the file'
        : 'nothing of what differs can be written into the file';
    return finished.note === null
      ? note('notice', `No pull request was opened: ${why}.`)
      : finished;
  }
  const branch = driftBranch(name);
  const { own, other } = await openPulls(world, name);
  const number = own?.number ?? null;
  if (other !== null) {
    const text = `#${other.number} from the branch ${branch} is not setpoint's. It was left unchanged.`;
    return note('warning', text);
  }
  if (own !== null && own.base !== base) {
    const text = `#${own.number} is for the branch ${own.base}, and this run for ${base}. It was left unchanged.`;
    return note('notice', text, number);
  }
  const edits = await editsOn(branches, await world.baseTip(), base, files);
  if (typeof edits === 'string') return note('warning', edits, number);
  const declined =
    own === null ? await findPullClosedByPerson(world, name, edits, await viewer()) : null;
  if (declined !== null) {
    const text = `#${declined} with the same edits was closed, and is not opened again. Reopen it if you want it.`;
    return note('notice', text);
  }
  const body = pullRequestBody(world, environment.plan, report, edits);
  const pushed = await push(world, name, edits, own !== null);
  if (pushed === 'foreign') {
    if (own !== null) await commentOnce(world, own.number, name, edits);
    const text = `The branch ${branch} has commits that setpoint did not make. It was left unchanged.`;
    return note('warning', text, number);
  }
  if (own !== null) {
    if (findDigest(own.body) !== findDigest(body)) await branches.updatePull(own.number, { body });
    return { environment: name, number: own.number, note: null };
  }
  return { environment: name, number: await openDriftPull(world, name, body), note: null };
}

/** Brings the branch to the edits. Reads it again if another client moved it meanwhile. */
async function push(
  { branches }: World,
  name: string,
  edits: Edits,
  reviewed: boolean,
): Promise<'done' | 'foreign'> {
  const branch = driftBranch(name);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const sha = await branches.tip(branch);
    if (sha === null) {
      const commit = await commitEdits(branches, edits, driftPullTitle(name), null);
      if (await branches.createBranch(branch, commit)) return 'done';
      continue;
    }
    const own = ownCommit(await branches.commit(sha));
    // A merged change is on the base: the branch can begin there again.
    const merged = !reviewed && (await branches.contains(edits.base.sha, sha));
    if (own === null && !merged) return 'foreign';
    if (own?.edits === edits.digest && !merged) return 'done';
    const head = own === null || merged ? null : { sha, own };
    const commit = await commitEdits(branches, edits, driftPullTitle(name), head);
    if (await branches.moveBranch(branch, sha, commit)) return 'done';
  }
  throw new SetpointError('contended', `The branch ${branch} was moved again and again.`, {
    hint: 'Run it again; let one run at a time work on an environment.',
  });
}

const ATTEMPTS = 3;

/** Opens the pull request. If GitHub refuses it or its answer is lost, the one that there is now is it. */
async function openDriftPull(world: World, name: string, body: string): Promise<number> {
  const { branches, base } = world;
  const pull = { title: driftPullTitle(name), body, head: driftBranch(name), base };
  try {
    return await branches.createPull(pull);
  } catch (thrown) {
    const { own } = await openPulls(world, name);
    if (own === null) throw thrown;
    return own.number;
  }
}

/** Closes the pull request of an environment that needs none, and deletes its branch if no other user has a commit on it. */
async function finish(
  world: World,
  { plan: { name } }: ReadEnvironment,
  reason: 'in-sync' | 'not-writable',
): Promise<DriftPull> {
  const { github, branches, document } = world;
  const branch = driftBranch(name);
  const sha = await branches.tip(branch);
  if (sha === null) return { environment: name, number: null, note: null };
  const isOurs = ownCommit(await branches.commit(sha)) !== null;
  const base = isOurs ? null : await branches.tip(world.base);
  const isFree = isOurs || (base !== null && (await branches.contains(base, sha)));
  const { own, other } = await openPulls(world, name);
  if (own !== null && own.base !== world.base)
    return { environment: name, number: own.number, note: null };
  if (own !== null) {
    await github.createComment(own.number, formatClosingComment(reason, isFree, document));
    // Its first line no longer is the marker: one that a user closed still has it.
    const [, ...rest] = own.body.split(/\r?\n/);
    const body = [createMarker('closed-drift-pull', name), ...rest].join('\n');
    await branches.updatePull(own.number, { state: 'closed', body });
  }
  if (isFree && other === null) await branches.deleteBranch(branch, sha);
  return { environment: name, number: null, note: null };
}

function pullRequestBody(
  { document, base }: World,
  plan: EnvironmentPlan,
  report: EnvironmentPull,
  edits: Edits,
): string {
  const files = edits.files.map(({ path }) => path);
  const markdown = driftPullMarkdown(replaceEnvironments(document, [plan]), report, files, base);
  const digest = contentDigest([
    { ...plan, observed_at: null, digests: null },
    report,
    edits.digest,
  ]);
  return joinMarkedPost(
    createMarker('drift-pull', plan.name),
    { digest, commit: document.run.commit },
    markdown,
  );
}

/** Reports once on the pull request that its branch is left to those who push to it. */
async function commentOnce({ github, document }: World, pull: number, name: string, edits: Edits) {
  const marker = createMarker('foreign-commits', name);
  const markdown = foreignMarkdown(document);
  const sticky = {
    environment: name,
    marker,
    digest: edits.digest,
    commit: null,
    markdown,
    clean: false,
  };
  await writeComments(github, { number: pull, headSha: null }, [sticky]);
}

function memoizeCall<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}

/** The tools that make the pull requests of a run. */
interface World {
  readonly github: GitHub;
  readonly branches: Branches;
  readonly document: PlanDocument;
  /** The branch that pull requests are to be merged into. */
  readonly base: string;
  readonly viewer: () => Promise<string>;
  readonly baseTip: () => Promise<Commit>;
}

/** The pull requests from a branch. */
interface Pulls {
  readonly own: PullOfBranch | null;
  readonly other: PullOfBranch | null;
}

async function openPulls({ branches, viewer }: World, name: string): Promise<Pulls> {
  const open = await branches.pulls(driftBranch(name), 'open');
  const login = open.length === 0 ? '' : await viewer();
  const marker = createMarker('drift-pull', name);
  const isOwn = ({ author, body }: PullOfBranch): boolean =>
    author === login && isMarked(body, marker);
  return { own: open.find(isOwn) ?? null, other: open.find((one) => !isOwn(one)) ?? null };
}

/** The number of our newest pull request, if a user has closed it without a merge and its edits were the same. */
async function findPullClosedByPerson(
  { branches }: World,
  name: string,
  edits: Edits,
  login: string,
): Promise<number | null> {
  const marker = createMarker('drift-pull', name);
  const closed = await branches.pulls(driftBranch(name), 'closed');
  const newest = closed
    .filter(({ author }) => author === login)
    .toSorted((one, other) => other.number - one.number)[0];
  if (newest === undefined || newest.merged || !isMarked(newest.body, marker)) return null;
  const own = ownCommit(await branches.commit(newest.headSha));
  return own?.edits === edits.digest ? newest.number : null;
}
