import { join } from 'node:path';
import { SetpointError } from '../../reconciler/model/error.ts';
import type { GitBranch } from '../../reconciler/host/git-branch.ts';
import { readOptional } from '../../reconciler/host/read-text.ts';
import { writeAside } from '../../reconciler/host/write-aside.ts';

const LIMIT = 1024 * 1024;

/** The commit of a branch that was used last, and what the branch had to continue by name when it was; null if nothing was named. */
interface FollowedCommit {
  readonly commit: string;
  readonly from: string | null;
}

type Branch = Pick<GitBranch, 'shown' | 'name'>;

/** The commits of branches whose files a controller used last, in its data folder: a branch must go on from there, also after a restart. */
export class FollowedCommits {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get path(): string {
    return join(this.#folder, 'followed.json');
  }

  /** The commit of a branch; null if it was never followed. Throws file-unreadable if that is unknown. */
  of(branch: Branch): FollowedCommit | null {
    return this.#read()[branchKey(branch)] ?? null;
  }

  /** Stores that of a branch; on the disk once it resolves. Throws output-failed if it cannot be stored. */
  async keep(branch: Branch, commit: FollowedCommit): Promise<void> {
    const followed = { ...this.#read(), [branchKey(branch)]: commit };
    const text = `${JSON.stringify({ v: 1, followed }, null, 2)}\n`;
    await writeAside(this.path, text, this.#folder);
  }

  #read(): Readonly<Record<string, FollowedCommit>> {
    const text = readOptional(this.path, LIMIT);
    if (text === null) return {};
    try {
      const { v, followed } = JSON.parse(text) as {
        v: unknown;
        followed: Record<string, FollowedCommit>;
      };
      if (v !== 1 || !Object.values(followed).every(({ commit }) => typeof commit === 'string'))
        throw new TypeError('another form');
      return followed;
    } catch (cause) {
      throw new SetpointError(
        'file-unreadable',
        `${this.path} does not record the commit that was followed last.`,
        { hint: 'Remove it: then the branch is followed from its newest commit on.', cause },
      );
    }
  }
}

function branchKey({ shown, name }: Branch): string {
  return `${shown} ${name}`;
}
