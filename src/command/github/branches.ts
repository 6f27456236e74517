import { SetpointError } from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { openRepository, type Repository } from './client.ts';
import { gitHubError, isNotFoundError } from './github-error.ts';
import type { Access } from './job.ts';

/** A commit, by the ids of what it consists of. */
export interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly message: string;
}

/** The entry that a path leads to in a tree: `blob` with the mode 120000 is a link. */
export interface TreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
}

/** A file of a new commit, with its whole text. */
export interface CommittedFile {
  readonly path: string;
  readonly mode: '100644' | '100755';
  readonly text: string;
}

export interface PullOfBranch {
  readonly number: number;
  /** Null if the account is gone. */
  readonly author: string | null;
  readonly body: string;
  readonly base: string;
  readonly headSha: string;
  readonly merged: boolean;
}

/** Branches, commits and pull requests of the repository. Every failure is a SetpointError. Nothing is ever forced. */
export interface Branches {
  /** The commits of the branches whose names begin so, by name. */
  beginningWith(prefix: string): Promise<ReadonlyMap<string, string>>;
  /** The commit of a branch; null if there is no such branch. */
  tip(branch: string): Promise<string | null>;
  commit(sha: string): Promise<Commit>;
  /** Returns the entry at a path; null if there is nothing. Links are not followed. */
  entry(tree: string, path: string): Promise<TreeEntry | null>;
  /** A tree with some files of another text. */
  createTree(base: string, files: readonly CommittedFile[]): Promise<string>;
  createCommit(commit: {
    readonly message: string;
    readonly tree: string;
    readonly parents: readonly string[];
  }): Promise<string>;
  /** False if another client has created it first. */
  createBranch(branch: string, sha: string): Promise<boolean>;
  /** False if the branch is not where it was, or the commit does not continue it. */
  moveBranch(branch: string, from: string, to: string): Promise<boolean>;
  /** Reports whether the history of a commit contains another one. */
  contains(commit: string, other: string): Promise<boolean>;
  /** Deletes a branch if it is at a commit. */
  deleteBranch(branch: string, from: string): Promise<void>;
  /** The pull requests from a branch of this repository, the newest first. Of the closed ones, the newest 100. */
  pulls(branch: string, state: 'open' | 'closed'): Promise<readonly PullOfBranch[]>;
  createPull(pull: {
    readonly title: string;
    readonly body: string;
    readonly head: string;
    readonly base: string;
  }): Promise<number>;
  updatePull(pull: number, change: { readonly body: string; state?: 'closed' }): Promise<void>;
}

export function createBranchesClient(access: Access, clock: Pick<Clock, 'sleep'>): Branches {
  const repository = openRepository(access, clock);
  return { ...accessRefs(repository), ...accessObjects(repository), ...accessPulls(repository) };
}

type RefAccess = Pick<
  Branches,
  'tip' | 'beginningWith' | 'createBranch' | 'moveBranch' | 'deleteBranch'
>;

function accessRefs({ octokit, repo }: Repository): RefAccess {
  const tip = async (branch: string): Promise<string | null> => {
    const route = 'GET /repos/{owner}/{repo}/git/ref/{ref}';
    const found = await octokit.request(route, { ...repo, ref: `heads/${branch}` }).catch(ifGone);
    return found === null ? null : sha(found.data.object.sha);
  };
  /** A request whose answer was lost, or that was refused: what is there now shows which. */
  const checkMoved = (branch: string, from: string | null, to: string, sent: Promise<unknown>) =>
    sent.then(
      () => true,
      async (thrown: unknown) => {
        const now = await tip(branch);
        if (now === from) throw thrown;
        return now === to;
      },
    );
  return {
    tip,
    beginningWith: async (prefix) => {
      const route = 'GET /repos/{owner}/{repo}/git/matching-refs/{ref}';
      const { data } = await octokit.request(route, { ...repo, ref: `heads/${prefix}` });
      if (!Array.isArray(data)) throw notGitHub();
      const tips = data.map(({ ref, object }): [string, string] => [
        requireText(ref).replace(/^refs\/heads\//, ''),
        sha(object.sha),
      ]);
      return new Map(tips);
    },
    createBranch: (branch, to) => {
      const route = 'POST /repos/{owner}/{repo}/git/refs';
      const ref = { ref: `refs/heads/${branch}`, sha: to };
      return checkMoved(branch, null, to, octokit.request(route, { ...repo, ...ref }));
    },
    moveBranch: (branch, from, to) => {
      const route = 'PATCH /repos/{owner}/{repo}/git/refs/{ref}';
      const ref = { ref: `heads/${branch}`, sha: to, force: false };
      return checkMoved(branch, from, to, octokit.request(route, { ...repo, ...ref }));
    },
    // REST deletes any commit that is there; this mutation names the expected one.
    deleteBranch: async (branch, from) => {
      const ref = {
        name: `refs/heads/${branch}`,
        beforeOid: from,
        afterOid: '0'.repeat(from.length),
      };
      const deleted = octokit
        .graphql<{ repository: { id: string } }>(REPOSITORY, repo)
        .then(({ repository: { id } }) =>
          octokit.graphql(DELETE_REF, { repositoryId: id, refUpdates: [ref] }),
        );
      await deleted.catch(async (thrown: unknown) => {
        if ((await tip(branch)) === from) throw gitHubError(thrown);
      });
    },
  };
}

function accessObjects({
  octokit,
  repo,
}: Repository): Pick<Branches, 'commit' | 'entry' | 'createTree' | 'createCommit' | 'contains'> {
  return {
    commit: async (commit) => {
      const route = 'GET /repos/{owner}/{repo}/git/commits/{commit_sha}';
      const { data } = await octokit.request(route, { ...repo, commit_sha: commit });
      return { sha: sha(data.sha), tree: sha(data.tree.sha), message: requireText(data.message) };
    },
    entry: async (tree, path) => {
      let found: TreeEntry = { mode: '040000', type: 'tree', sha: tree };
      for (const name of path.split('/')) {
        if (found.type !== 'tree') return null;
        const route = 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}';
        const { data } = await octokit.request(route, { ...repo, tree_sha: found.sha });
        const entry = data.tree.find((one) => one.path === name);
        if (entry === undefined) return null;
        found = {
          mode: requireText(entry.mode),
          type: requireText(entry.type),
          sha: sha(entry.sha),
        };
      }
      return found;
    },
    createTree: async (base, files) => {
      const route = 'POST /repos/{owner}/{repo}/git/trees';
      const tree = files.map(({ path, mode, text: content }) => ({
        path,
        mode,
        type: 'blob' as const,
        content,
      }));
      const { data } = await octokit.request(route, { ...repo, base_tree: base, tree });
      return sha(data.sha);
    },
    createCommit: async ({ message, tree, parents }) => {
      const route = 'POST /repos/{owner}/{repo}/git/commits';
      const commit = { message, tree, parents: [...parents] };
      return sha((await octokit.request(route, { ...repo, ...commit })).data.sha);
    },
    contains: async (commit, other) => {
      if (commit === other) return true;
      const route = 'GET /repos/{owner}/{repo}/compare/{basehead}';
      const range = { basehead: `${commit}...${other}`, per_page: 1 };
      const { data } = await octokit.request(route, { ...repo, ...range });
      return data.status === 'behind' || data.status === 'identical';
    },
  };
}

function accessPulls({
  octokit,
  repo,
}: Repository): Pick<Branches, 'pulls' | 'createPull' | 'updatePull'> {
  return {
    pulls: async (branch, state) => {
      const route = 'GET /repos/{owner}/{repo}/pulls';
      const head = `${repo.owner}:${branch}`;
      const { data } = await octokit.request(route, { ...repo, head, state, per_page: 100 });
      if (!Array.isArray(data)) throw notGitHub();
      const here = data.filter(
        ({ head: from }) =>
          from.ref === branch && from.repo?.full_name === `${repo.owner}/${repo.repo}`,
      );
      return here.map(({ number, user, body, base, head: from, merged_at: merged }) => ({
        number,
        author: user?.login ?? null,
        body: body ?? '',
        base: requireText(base.ref),
        headSha: sha(from.sha),
        merged: merged !== null,
      }));
    },
    createPull: async (pull) => {
      const route = 'POST /repos/{owner}/{repo}/pulls';
      const { data } = await octokit.request(route, { ...repo, ...pull });
      return data.number;
    },
    updatePull: async (pull, change) => {
      const route = 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}';
      await octokit.request(route, { ...repo, pull_number: pull, ...change });
    },
  };
}

const REPOSITORY =
  'query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { id } }';
const DELETE_REF =
  'mutation ($repositoryId: ID!, $refUpdates: [RefUpdate!]!) { updateRefs(input: { repositoryId: $repositoryId, refUpdates: $refUpdates }) { clientMutationId } }';

function ifGone(thrown: unknown): null {
  if (isNotFoundError(thrown)) return null;
  throw thrown;
}

function sha(value: unknown): string {
  if (typeof value === 'string' && /^[0-9a-f]{40,64}$/.test(value)) return value;
  throw notGitHub();
}

function requireText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw notGitHub();
}

function notGitHub(): SetpointError {
  return new SetpointError(
    'bad-response',
    'GitHub answered with something other than its API describes.',
  );
}
