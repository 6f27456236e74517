import { dirname } from 'node:path';
import type { Variables } from '../model/ports.ts';
import type { CommitInfo } from '../model/watch.ts';
import { runGit } from './git-source.ts';

const LONGEST_AUTHOR = 60;
const LONGEST_SUBJECT = 72;

/** Reads the raw text of a commit, as `git cat-file commit` prints it. What its author wrote is shortened, and not inert. */
export function parseCommit(text: string): CommitInfo {
  const end = text.indexOf('\n\n');
  const head = end === -1 ? text : text.slice(0, end);
  const author = /^author (.*?) ?<[^\n]*> \d+ [+-]\d{4}$/m.exec(head)?.[1] ?? '';
  const seconds = Number(/^committer .* (\d{1,12}) [+-]\d{4}$/m.exec(head)?.[1] ?? 0);
  const [subject = ''] =
    end === -1
      ? ['']
      : text
          .slice(end + 2)
          .trimStart()
          .split('\n', 1);
  return {
    author: shortenGitText(author, LONGEST_AUTHOR),
    subject: shortenGitText(subject, LONGEST_SUBJECT),
    committedAt: new Date(seconds * 1000).toISOString(),
  };
}

/** Describes a commit of the checkout that a file is in; null if git cannot. */
export async function describeCommit(
  path: string,
  commit: string,
  env: Variables,
): Promise<CommitInfo | null> {
  const call = { folder: dirname(path), env, timeout: 10_000, limit: 1024 * 1024 };
  const answer = await runGit(['cat-file', 'commit', commit], call);
  return answer.kind === 'done' ? parseCommit(answer.output.toString()) : null;
}

function shortenGitText(text: string, longest: number): string {
  const whole = text.trim();
  if (whole.length <= longest) return whole;
  return `${whole.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
