import { basename, join, posix, relative } from 'node:path';
import { lockPath } from '../../reconciler/desired/schema-lock.ts';
import type { GitBranch } from '../../reconciler/host/git-branch.ts';
import { asSetpointError, usageError } from '../../reconciler/model/error.ts';
import { isGlobMatch } from '../../reconciler/model/matcher.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { listExtendedBases, listReferencedFiles } from '../../reconciler/operations/load.ts';
import { DEFAULT_FILES, defaultFiles } from '../../reconciler/operations/settings-files.ts';
import type { SessionRequest } from '../../reconciler/operations/session.ts';
import type { FollowedCommits } from './followed-commits.ts';
import { loadApart, type LoadedFiles, type SettingsSource } from './source.ts';

/** The interval between two requests for a branch, in milliseconds. */
const ASKED_EVERY = 60_000;

/** A branch, and the commit that it must continue: the one that was used last, also before a restart, or one that is named. */
interface BranchPosition {
  readonly branch: GitBranch;
  readonly commits: FollowedCommits;
  /** The commit that the branch must continue after it was rewritten on purpose. */
  readonly from?: string | undefined;
}

/**
 * The files of -f in the newest commit of a branch; their paths are those in the repository. A branch that was rewritten is not followed:
 * the last commit stays in effect.
 */
export function branchSource(
  options: SessionRequest,
  { branch, commits, from }: BranchPosition,
  clock: Clock,
  state: string,
): SettingsSource {
  let current: string | null = null;
  let tip: string | null = null;
  let asked: Promise<string> | null = null;
  let used: readonly string[] = [];
  /** The time of the next request: a fixed interval after the last answer or failure. */
  let askAt = Number.POSITIVE_INFINITY;
  /** Reports whether the user names a commit that was not used yet. Commits used since then take precedence. */
  const isNamed = (): boolean => from !== undefined && from !== commits.of(branch)?.from;
  const assertForward = async (to: string): Promise<void> => {
    const named = current === null && isNamed() ? (from ?? null) : null;
    current ??= named ?? commits.of(branch)?.commit ?? null;
    if (current === null) return;
    if (named === null) return branch.forward(current, to);
    current = null;
    await assertNamedCommit(branch, named, to);
    current = named;
  };
  const ask = async (): Promise<string> => {
    const { commit } = await branch.tip();
    await assertForward(commit);
    tip = commit;
    return commit;
  };
  return {
    kind: 'git',
    commits: branch.commits,
    // An answer is valid until the next request, also that the branch cannot be followed.
    stamp: () => {
      if (asked === null || clock.monotonic() >= askAt) {
        askAt = Number.POSITIVE_INFINITY;
        asked = ask().finally(() => {
          askAt = clock.monotonic() + ASKED_EVERY;
        });
      }
      return asked;
    },
    load: async () => {
      const commit = tip ?? (await branch.tip()).commit;
      const loaded = await loadCommit(options, { branch, commit, used, state });
      await commits.keep(branch, { commit, from: from ?? commits.of(branch)?.from ?? null });
      current = commit;
      return loaded;
    },
    loadLast: async () => {
      const last = commits.of(branch);
      if (last === null) return null;
      // One that is named since then comes first: what it does not lead to is not trusted any more.
      if (from !== undefined && isNamed()) await branch.forward(from, last.commit);
      return loadCommit(options, { branch, commit: last.commit, used, state });
    },
    use: (paths) => {
      used = paths;
    },
    listen: () => () => {},
  };
}

/** Throws a usage error if a branch does not continue the commit that the user named. */
async function assertNamedCommit(branch: GitBranch, named: string, to: string): Promise<void> {
  try {
    await branch.forward(named, to);
  } catch (thrown) {
    const { code, message } = asSetpointError(thrown);
    if (code !== 'branch-rewritten') throw thrown;
    throw usageError(
      message,
      'Name a commit of the branch, as git log shows it: --ref BRANCH:COMMIT.',
    );
  }
}

/** Loads the settings files of a commit, their bases, and the files that they refer to. */
async function loadCommit(
  options: SessionRequest,
  source: {
    readonly branch: GitBranch;
    readonly commit: string;
    readonly used: readonly string[];
    readonly state: string;
  },
): Promise<LoadedFiles> {
  const { branch, commit, used, state } = source;
  const named = [options.file ?? DEFAULT_FILES].flat();
  const root = await branch.files(commit, { needs: createPathFilter(named), used });
  const inRoot = (path: string): string => relative(root, path);
  const file = [options.file ?? defaultFiles(root)].flat().map((path) => join(root, path));
  const request = { ...options, file, checkout: { from: 'branch', root, state } } as const;
  const needed = { needs: createPathMatcher(listBaseFiles(request).map(inRoot)), used };
  await branch.files(commit, needed);
  const loaded = await loadApart(request, join(root, '/'));
  const referenced = listReferencedFiles(loaded.targets, options).map(inRoot);
  if (referenced.length > 0)
    await branch.files(commit, { needs: createPathMatcher(referenced), used });
  const commitInfo = await branch.describe(commit);
  return { ...loaded, commit, commitInfo, root: join(root, '/') };
}

/** Returns a filter for paths of the repository that -f, or its default, needs: a settings file or the schema lock in its folder. */
function createPathFilter(named: readonly string[]): (path: string) => boolean {
  const patterns = named.flatMap((path) => [path, lockPath(path)]).map(ordinary);
  return (path) =>
    patterns.some(
      (pattern) =>
        pattern === path ||
        (posix.dirname(pattern) === posix.dirname(path) &&
          isGlobMatch(basename(path), [posix.basename(pattern)])),
    );
}

/** The bases of the settings files; none if these cannot be found. Their loader receives that error. */
function listBaseFiles(request: SessionRequest): readonly string[] {
  try {
    return listExtendedBases(request);
  } catch {
    return [];
  }
}

function createPathMatcher(paths: readonly string[]): (path: string) => boolean {
  const wanted = new Set(paths.map(ordinary));
  return (path) => wanted.has(path);
}

/** A path as git has it. */
function ordinary(path: string): string {
  return posix.normalize(path.replaceAll('\\', '/')).replace(/^(?:\.?\/)+/, '');
}
