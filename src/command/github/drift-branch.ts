import { createHash } from 'node:crypto';
import type { Branches, Commit, CommittedFile } from './branches.ts';
import { contentDigest } from './marker.ts';

/** The prefix of all our branches. */
export const PREFIX = 'setpoint-drift/';

/** A file as the checkout has it, and as a pull would write it. `path` is from the root of the repository; null outside of it. */
export interface EditedFile {
  readonly path: string | null;
  /** For people. */
  readonly name: string;
  readonly before: string;
  readonly text: string;
}

/** The edits of an environment, on the base that they belong to. */
export interface Edits {
  /** Equal if the same files of the base get the same text. */
  readonly digest: string;
  readonly base: Commit;
  readonly files: readonly CommittedFile[];
}

/** The branch for an environment. A name that git does not allow in a branch is cleaned, with a digest in which no two are equal. */
export function driftBranch(environment: string): string {
  const plain = /^[A-Za-z0-9][\w-]*(?:\.[\w-]+)*$/.test(environment) && environment.length <= 100;
  if (plain && !/\.lock$/i.test(environment)) return PREFIX + environment;
  const cleaned = environment.replaceAll(/[^A-Za-z0-9-]+/g, '-').slice(0, 60);
  const digest = createHash('sha256').update(environment).digest('hex').slice(0, 16);
  return `${PREFIX}${cleaned}+${digest}`;
}

/**
 * Returns the edits as a commit on the base would contain them, or a sentence with the reason why that is not possible. The checkout and
 * the base must have the same content of a file: else the edits would undo later commits.
 */
export async function editsOn(
  branches: Branches,
  base: Commit,
  baseName: string,
  edited: readonly EditedFile[],
): Promise<Edits | string> {
  const files: (CommittedFile & { readonly before: string })[] = [];
  for (const { path, name, before, text } of edited) {
    const entry = path === null ? null : await branches.entry(base.tree, path);
    if (path === null || entry === null) return `${name} is not in the branch ${baseName}.`;
    const { mode } = entry;
    if (mode !== '100644' && mode !== '100755')
      return `${name} is not a regular file in the branch ${baseName}.`;
    const form = [asIs, normalizeTextLineEnds].find((one) => isBlob(one(before), entry.sha));
    if (form === undefined) {
      return `${name} differs between this checkout and the branch ${baseName}. If the branch has moved on, the next run uses its new file.`;
    }
    files.push({ path, mode, text: form(text), before: entry.sha });
  }
  return { digest: contentDigest(files), base, files };
}

function asIs(text: string): string {
  return text;
}

/** Text with the line ends that git stores when a checkout changes them. */
function normalizeTextLineEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Reports whether a text has this id of git. */
function isBlob(text: string, id: string): boolean {
  const bytes = Buffer.from(text);
  const hash = createHash(id.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex') === id;
}

/** The data that one of our commits records about itself. */
export interface OwnCommit {
  readonly edits: string;
  readonly base: string;
}

const TRAILER = /^Setpoint-Drift: ([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)$/;

/**
 * Returns the input that a commit of ours was made from; null for any other commit. Ours names its own tree, so an amended, merged or
 * additional commit does not count as ours: only our own work is ever replaced.
 */
export function ownCommit({ message, tree }: Commit): OwnCommit | null {
  const [, edits, base, own] = TRAILER.exec(message.trimEnd().split('\n').at(-1) ?? '') ?? [];
  return edits === undefined || base === undefined || own !== tree ? null : { edits, base };
}

/** Commits the edits. Continues `head`, and brings what is new on the base with it; without a head it starts from the base. */
export async function commitEdits(
  branches: Branches,
  { digest, base, files }: Edits,
  title: string,
  head: { readonly sha: string; readonly own: OwnCommit } | null,
): Promise<string> {
  const tree = await branches.createTree(base.tree, files);
  const message = `${title}\n\nWritten by setpoint, which found the drift.\n\nSetpoint-Drift: ${digest} ${base.sha} ${tree}\n`;
  const behind = head !== null && head.own.base !== base.sha;
  const parents = [
    ...(head === null ? [] : [head.sha]),
    ...(head === null || behind ? [base.sha] : []),
  ];
  return branches.createCommit({ message, tree, parents });
}
