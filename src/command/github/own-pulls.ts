import type { PlanDocument } from '../../reconciler/model/plan.ts';
import type { Branches, Commit, PullOfBranch } from './branches.ts';
import type { GitHub } from './client.ts';
import { driftBranch, ownCommit, type Edits } from './drift-branch.ts';
import { isMarked, createMarker } from './marker.ts';

/** The tools that make the pull requests of a run. */
export interface World {
  readonly github: GitHub;
  readonly branches: Branches;
  readonly document: PlanDocument;
  /** The branch that pull requests are to be merged into. */
  readonly base: string;
  readonly viewer: () => Promise<string>;
  readonly baseTip: () => Promise<Commit>;
}

/** The pull requests from a branch. */
export interface Pulls {
  readonly own: PullOfBranch | null;
  readonly other: PullOfBranch | null;
}

export async function openPulls({ branches, viewer }: World, name: string): Promise<Pulls> {
  const open = await branches.pulls(driftBranch(name), 'open');
  const login = open.length === 0 ? '' : await viewer();
  const marker = createMarker('drift-pull', name);
  const isOwn = ({ author, body }: PullOfBranch): boolean =>
    author === login && isMarked(body, marker);
  return { own: open.find(isOwn) ?? null, other: open.find((one) => !isOwn(one)) ?? null };
}

/** The number of our newest pull request, if a user has closed it without a merge and its edits were the same. */
export async function findPullClosedByPerson(
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
