import { usageError } from '../../../reconciler/model/error.ts';
import { readJobAccess, parseEventPullRequest } from '../../github/job.ts';
import { gitHub } from '../../github/client.ts';
import { createStickyComments } from '../../github/comments-of.ts';
import { writeComments, type CommentDone } from '../../github/sticky-comment.ts';
import { readText } from '../../../reconciler/host/read-text.ts';
import { SYSTEM_CLOCK } from '../../../reconciler/host/this-process.ts';
import { readSaved } from '../../../reconciler/operations/saved-document.ts';
import { visible } from '../../../reconciler/render/text.ts';
import type { Flags } from '../command-table.ts';
import { writeText, type Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';

const KINDS = ['plan', 'outcome', 'validation'] as const;
const DONE: Readonly<Record<CommentDone, string>> = {
  created: 'commented',
  updated: 'comment updated',
  unchanged: 'comment unchanged',
  'not-needed': 'no comment needed',
  outdated: 'comment unchanged: the pull request has a newer commit',
  joint: 'in the comment on all environments',
};

/** `setpoint comment`: posts saved documents on a pull request. Each environment has one comment, which later runs update. */
export async function commentCommand(
  flags: Flags<'comment'>,
  io: Io,
  ...paths: readonly string[]
): Promise<number> {
  try {
    const access = readJobAccess(io.env, io.env['GITHUB_TOKEN'] ?? '');
    const event = readEventPullRequest(io.env);
    const pull = parsePullNumber(flags.pr ?? String(event?.number ?? ''));
    const commit = event?.headSha ?? io.env['GITHUB_SHA'] ?? null;
    const documents = await Promise.all(paths.map((path) => readSaved(path, KINDS)));
    const comments = documents.flatMap((document) => createStickyComments(document, commit));
    const headSha = event?.number === pull ? event.headSha : null;
    const github = gitHub(access, SYSTEM_CLOCK);
    const written = await writeComments(github, { number: pull, headSha }, comments);
    const lines = written.map((done, index) =>
      doneText(comments[index]?.environment ?? null, done),
    );
    if (flags.quiet !== true) await writeText(io.stdout, lines.join(''));
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

function readEventPullRequest(env: Io['env']): ReturnType<typeof parseEventPullRequest> {
  const path = env['GITHUB_EVENT_PATH'] ?? '';
  const read = path === '' ? { text: '' } : readText(path, 32 * 1024 * 1024);
  return 'text' in read ? parseEventPullRequest(read.text) : null;
}

function parsePullNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError('Which pull request?', 'Pass --pr NUMBER.');
}

function doneText(target: string | null, written: CommentDone): string {
  return `${target === null ? '' : `${visible(target)}: `}${DONE[written]}\n`;
}
