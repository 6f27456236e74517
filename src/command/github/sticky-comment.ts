import type { GitHub, Post } from './client.ts';
import { findDigest, isMarked, joinMarkedPost, type Meta } from './marker.ts';

/** A comment that a pull request should have. */
export interface StickyComment extends Meta {
  /** Null if it is about all environments. */
  readonly environment: string | null;
  readonly marker: string;
  readonly markdown: string;
  /** There is nothing to report: an existing comment is updated, but none is created. */
  readonly clean: boolean;
  /** One comment on all environments of its document, instead of more than MOST_COMMENTS; absent if there is one alone. */
  readonly joint?: StickyComment | undefined;
}

/** `outdated`: the pull request has another commit now. `joint`: it is in the one comment on all environments. */
export type CommentDone = 'created' | 'updated' | 'unchanged' | 'not-needed' | 'outdated' | 'joint';

/** A document on more environments has one comment: a branch can declare thousands. */
const MOST_COMMENTS = 10;

/** The pull request of a run, and the commit that it is about; null if that is not known. */
export interface CommentedPull {
  readonly number: number;
  readonly headSha: string | null;
}

/**
 * Gives a pull request each of the comments once. A comment is ours if its first line is the marker and its author is the account of the
 * token: a marker can be copied, and a token that may write can edit any comment, so GitHub would not stop us. A comment with the same
 * digest is left unchanged. If two runs have both created one, the oldest stays and the others are deleted, by the first run that sees
 * them. A run of another commit than the newest of the pull request writes nothing: an older run that is repeated would replace the
 * findings of the newer one.
 */
export async function writeComments(
  github: GitHub,
  { number: pull, headSha }: CommentedPull,
  comments: readonly StickyComment[],
): Promise<readonly CommentDone[]> {
  if (comments.length === 0) return [];
  if (headSha !== null) {
    const newest = await github.pullHead(pull);
    if (newest !== null && newest !== headSha) return comments.map(() => 'outdated');
  }
  const joint = new Set(comments.flatMap((comment) => comment.joint ?? []));
  const existing = await ownComments(github, pull, [...comments, ...joint]);
  const joined = new Set([...joint].filter((one) => usesJointComment(one, comments, existing)));
  const isJoint = ({ marker, joint: one }: StickyComment): boolean =>
    one !== undefined && joined.has(one) && !existing.some(({ body }) => isMarked(body, marker));
  const apart = new Set(comments.filter((comment) => !isJoint(comment)));
  const done = new Map<StickyComment, CommentDone>();
  for (const one of [...joined, ...apart])
    done.set(one, await writeComment(github, pull, one, existing));
  const created = [...done].filter(([, how]) => how === 'created').map(([one]) => one);
  if (created.length > 0) await removeDuplicates(github, pull, created);
  return comments.map((comment) => done.get(comment) ?? 'joint');
}

/** Reports whether a document has one comment on all its environments: it has one already, or would have too many. */
function usesJointComment(
  joint: StickyComment,
  comments: readonly StickyComment[],
  existing: readonly Post[],
): boolean {
  if (existing.some(({ body }) => isMarked(body, joint.marker))) return true;
  return comments.filter((one) => one.joint === joint && !one.clean).length > MOST_COMMENTS;
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
  if (oldest === undefined || findDigest(oldest.body) === comment.digest) return 'unchanged';
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
  return filterOwnPosts(github, candidates);
}

/** Returns the posts of the token's own account. The account is not requested if there are no posts. */
export async function filterOwnPosts(
  github: GitHub,
  posts: readonly Post[],
): Promise<readonly Post[]> {
  if (posts.length === 0) return posts;
  const viewer = await github.viewer();
  return posts.filter(({ author }) => author === viewer);
}

function commentBody(comment: StickyComment): string {
  return joinMarkedPost(comment.marker, comment, comment.markdown);
}
