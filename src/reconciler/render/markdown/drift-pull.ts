import { namesListed } from '../../model/wording.ts';
import { formatPath } from '../../model/path.ts';
import type { PlanDocument } from '../../model/plan.ts';
import type { EnvironmentPull } from '../../model/documents.gen.ts';
import { bulletList, fitBlocks, type CommentEntry } from './blocks.ts';
import { driftMarkdown, footer } from './comments.ts';
import { codeSpan, label, prose, shortenVisible } from './inline.ts';

/** Bytes for the drift, of the 65,536 characters of a body, and for the text about it. */
const LONGEST_DRIFT = 44_000;
const LONGEST_REST = 15_000;

/** The title of a pull request and of its commits: GitHub reads references and mentions in both, so it has none. */
export function driftPullTitle(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9._-]/g, '_').replaceAll(/(gh)-(?=\d)/gi, '$1_');
  return `Write the drift of ${plain.slice(0, 100)} into the file`;
}

/** The body of the pull request that takes the state of a service over into the files: the effect of a merge, and the alternatives. */
export function driftPullMarkdown(
  document: PlanDocument,
  { name, left, unknown, variables }: EnvironmentPull,
  files: readonly string[],
  base: string,
): string {
  const where = namesListed(files.map((file) => codeSpan(shortenVisible(file, 200))));
  const opening =
    `Another client has changed the service of ${label(name)}. These commits write what it has now into ${where}, as \`setpoint pull\` does. ` +
    'Choose one:\n\n' +
    '- **The service is right: merge this.** The file then declares what the service has, and this drift is resolved. An apply then has nothing to overwrite.\n' +
    `- **The file is right: apply it** as committed on ${codeSpan(shortenVisible(base, 200))}, with ${codeSpan(`setpoint apply -e ${shortenVisible(name, 100)}`)}. That overwrites what the service has, and the next run closes this pull request.\n` +
    '- **Neither matters:** name the path under `unmanaged` in the file.\n\n';
  const notWritten = [
    ...left.map(({ path, reason }) => [path, reason] as const),
    ...unknown.map(({ path, reason }) => [path, reason] as const),
  ];
  const blocks = [
    opening,
    bulletList(
      'Not in these commits',
      notWritten.map(([path, reason], index): CommentEntry => ({
        rank: index,
        text: () => `- ${codeSpan(shortenVisible(formatPath(path), 200))}: ${prose(reason)}\n`,
      })),
      (count) => `${count} more`,
    ),
    bulletList(
      'Variables that the file reads once this is merged: set them before an apply',
      variables.map((variable, index): CommentEntry => ({
        rank: index,
        text: () =>
          `- ${codeSpan(variable.name)}, for ${codeSpan(shortenVisible(formatPath(variable.path), 200))}\n`,
      })),
      (count) => `${count} more`,
    ),
  ];
  const after =
    'Each run updates this pull request until the file and the service are in sync, or until another author pushes to the branch. ' +
    'If the pull request of another environment edits the same file and is merged first, this one may conflict until the next run.\n';
  return `${fitBlocks(blocks, LONGEST_REST)}${driftMarkdown(document, LONGEST_DRIFT).trimEnd()}\n\n${after}`;
}

/** Explains why a run closes its pull request. */
export function formatClosingComment(
  reason: 'in-sync' | 'not-writable',
  deletesBranch: boolean,
  { created_at: at, run, tool }: PlanDocument,
): string {
  const why =
    reason === 'in-sync'
      ? `File and service are in sync again, as of ${at}.`
      : 'What differs now cannot be written into the file.';
  const branch = deletesBranch
    ? ''
    : ' The branch stays: it has commits that setpoint did not make.';
  return `${why}${branch}\n\n${footer(run, tool)}`;
}

/** Explains why a pull request is no longer updated. */
export function foreignMarkdown({ run, tool }: PlanDocument): string {
  const why =
    'The branch of this pull request has commits that setpoint did not make. setpoint no longer updates it. ' +
    'To have a new one made, close this and delete the branch.';
  return `${why}\n\n${footer(run, tool)}`;
}
