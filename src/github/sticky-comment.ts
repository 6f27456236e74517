import type { GitHub, Post } from './client.ts';
import { digestIn, isMarked, marked, type Meta } from './marker.ts';

/** What is to stand on a pull request. */
export interface StickyComment extends Meta {
  /** Null where it is about all targets. */
  readonly target: string | null;
  readonly marker: string;
  readonly markdown: string;
  /** Nothing is left to be said: a comment that is there says so, and none is made for it. */
  readonly clean: boolean;
}

export type Written = 'created' | 'updated' | 'unchanged' | 'not-needed';

/**
 * Brings the comments of a pull request to where each of `wanted` stands there once. A comment is ours where its first line is
 * the marker and its author is the account of the token: a marker can be copied, and a token that may write may edit anybody's
 * comment, so that GitHub refusing to is no answer. One that says the same already is left as it is. Where two runs have both
 * made one, the oldest is kept and our others are deleted, by whichever run sees them.
 */
export async function writeComments(
  github: GitHub,
  pull: number,
  wanted: readonly StickyComment[],
): Promise<readonly Written[]> {
  const there = await ownComments(github, pull, wanted);
  const done: Written[] = [];
  for (const comment of wanted) done.push(await write(github, pull, comment, there));
  const created = wanted.filter((_, index) => done[index] === 'created');
  if (created.length > 0) await settle(github, pull, created);
  return done;
}

async function write(
  github: GitHub,
  pull: number,
  comment: StickyComment,
  there: readonly Post[],
): Promise<Written> {
  const own = there.filter(({ body }) => isMarked(body, comment.marker));
  if (own.length > 0) return bring(github, comment, own);
  if (comment.clean) return 'not-needed';
  await github.createComment(pull, bodyOf(comment));
  return 'created';
}

/** Looks once more: another run may have made the same comments meanwhile. */
async function settle(
  github: GitHub,
  pull: number,
  created: readonly StickyComment[],
): Promise<void> {
  const there = await ownComments(github, pull, created);
  for (const comment of created) {
    const own = there.filter(({ body }) => isMarked(body, comment.marker));
    if (own.length > 1) await bring(github, comment, own);
  }
}

/** Keeps the oldest, brings it up to date, and deletes the others. */
async function bring(
  github: GitHub,
  comment: StickyComment,
  [oldest, ...others]: readonly Post[],
): Promise<Written> {
  for (const { id } of others) await github.deleteComment(id);
  if (oldest === undefined || digestIn(oldest.body) === comment.digest) return 'unchanged';
  await github.updateComment(oldest.id, bodyOf(comment));
  return 'updated';
}

async function ownComments(
  github: GitHub,
  pull: number,
  wanted: readonly StickyComment[],
): Promise<readonly Post[]> {
  const all = await github.comments(pull);
  const candidates = all.filter(({ body }) => wanted.some(({ marker }) => isMarked(body, marker)));
  return writtenBy(github, candidates);
}

/** Those of the token's own account; nobody is asked for it where there are none. */
export async function writtenBy(github: GitHub, posts: readonly Post[]): Promise<readonly Post[]> {
  if (posts.length === 0) return posts;
  const viewer = await github.viewer();
  return posts.filter(({ author }) => author === viewer);
}

function bodyOf(comment: StickyComment): string {
  return marked(comment.marker, comment, comment.markdown);
}
