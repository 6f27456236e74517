import type { GitHub, Post } from './client.ts';
import { digestIn, isMarked, marked, type Meta } from './marker.ts';

/** A comment that a pull request should have. */
export interface StickyComment extends Meta {
  /** Null if it is about all environments. */
  readonly environment: string | null;
  readonly marker: string;
  readonly markdown: string;
  /** There is nothing to report: an existing comment is updated, but none is created. */
  readonly clean: boolean;
}

export type CommentDone = 'created' | 'updated' | 'unchanged' | 'not-needed';

/**
 * Makes a pull request have each of the comments once. A comment is ours if its first line is the marker and its author is the
 * account of the token: a marker can be copied, and a token that may write can edit anybody's comment, so GitHub would not stop
 * us. A comment with the same digest is left as it is. If two runs have both created one, the oldest is kept and the others are
 * deleted, by whichever run sees them.
 */
export async function writeComments(
  github: GitHub,
  pull: number,
  comments: readonly StickyComment[],
): Promise<readonly CommentDone[]> {
  const existing = await ownComments(github, pull, comments);
  const done: CommentDone[] = [];
  for (const comment of comments) done.push(await writeComment(github, pull, comment, existing));
  const created = comments.filter((_, index) => done[index] === 'created');
  if (created.length > 0) await removeDuplicates(github, pull, created);
  return done;
}

async function writeComment(
  github: GitHub,
  pull: number,
  comment: StickyComment,
  existing: readonly Post[],
): Promise<CommentDone> {
  const own = existing.filter(({ body }) => isMarked(body, comment.marker));
  if (own.length > 0) return updateComment(github, comment, own);
  if (comment.clean) return 'not-needed';
  await github.createComment(pull, commentBody(comment));
  return 'created';
}

/** Reads the comments again: another run may have created the same ones meanwhile. */
async function removeDuplicates(
  github: GitHub,
  pull: number,
  created: readonly StickyComment[],
): Promise<void> {
  const existing = await ownComments(github, pull, created);
  for (const comment of created) {
    const own = existing.filter(({ body }) => isMarked(body, comment.marker));
    if (own.length > 1) await updateComment(github, comment, own);
  }
}

/** Keeps and updates the oldest, and deletes the others. */
async function updateComment(
  github: GitHub,
  comment: StickyComment,
  [oldest, ...others]: readonly Post[],
): Promise<CommentDone> {
  for (const { id } of others) await github.deleteComment(id);
  if (oldest === undefined || digestIn(oldest.body) === comment.digest) return 'unchanged';
  await github.updateComment(oldest.id, commentBody(comment));
  return 'updated';
}

async function ownComments(
  github: GitHub,
  pull: number,
  comments: readonly StickyComment[],
): Promise<readonly Post[]> {
  const all = await github.comments(pull);
  const candidates = all.filter(({ body }) =>
    comments.some(({ marker }) => isMarked(body, marker)),
  );
  return writtenBy(github, candidates);
}

/** Those of the token's own account, which is not requested if there are no posts. */
export async function writtenBy(github: GitHub, posts: readonly Post[]): Promise<readonly Post[]> {
  if (posts.length === 0) return posts;
  const viewer = await github.viewer();
  return posts.filter(({ author }) => author === viewer);
}

function commentBody(comment: StickyComment): string {
  return marked(comment.marker, comment, comment.markdown);
}
