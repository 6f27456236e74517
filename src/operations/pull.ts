import { SetpointError } from '../model/error.ts';
import { formatPath, parsePath, samePath, type Path } from '../model/path.ts';
import { FORMAT_VERSION, type ErrorReport } from '../model/plan.ts';
import type {
  EnvironmentPull,
  FileEdit,
  PullDocument,
  PulledFile,
  ShownLine,
} from '../model/pulled.ts';
import type { ObservedState } from '../model/state.ts';
import { didYouMean } from '../model/suggest.ts';
import { TOOL } from '../model/version.ts';
import type { LoadedFile } from '../desired/target.ts';
import { maskedLines } from '../edit/masked-lines.ts';
import { adoptable, type PullTools } from '../edit/pulled-target.ts';
import { uncommittedChanges } from '../host/git-status.ts';
import { checkWritable } from '../host/write-aside.ts';
import { writeFiles } from '../host/write-files.ts';
import { interruption } from '../reconcile/interruption.ts';
import { inParallel } from '../reconcile/in-parallel.ts';
import { settingsObserver } from '../service/settings.ts';
import { editableFiles, fileLimit, textsOf } from './editable-files.ts';
import { observeTarget } from './open-target.ts';
import { PARALLEL_READS, type Options } from './options.ts';
import { prepareTargets, shownOrigin, type Prepared } from './prepare.ts';
import { hiddenIn, pullTools } from './pull-tools.ts';
import { pullEdits, type Looked, type PullEdits } from './pull-edits.ts';
import { pulledReport } from './pulled-report.ts';
import { redacting, type Running } from './redacting.ts';
import { selectTargets } from './select.ts';

export interface PullRequest extends Options {
  /** What is not managed and is to be taken in: paths as the plan lists them, or all. Secrets become references. */
  readonly adopt?: 'all' | readonly string[] | undefined;
  /** Write nothing. */
  readonly check?: boolean | undefined;
  /** Edit files that have changes which are not committed. */
  readonly force?: boolean | undefined;
  /** Shown each file's edit before it is written. */
  readonly onEdit?: ((edit: FileEdit) => Promise<void>) | undefined;
}

/**
 * Brings what the services have into the settings files, in place: every value into the block it came from, references and
 * secrets untouched, everything else byte for byte as it was. Reads the services only. The edited files are read back,
 * checked, and planned against the same looks before anything is written. With `text` nothing is written. Throws a
 * SetpointError where nothing could be looked at, or where the files cannot be written.
 */
export function pull(request: PullRequest): Promise<PullDocument> {
  return redacting(request, pulled);
}

async function pulled(request: Running<PullRequest>): Promise<PullDocument> {
  const files = editableFiles(request);
  const prepared = prepareTargets(selectTargets(request), request);
  const writes = request.check !== true && request.text === undefined;
  if (writes) for (const path of textsOf(files).keys()) checkWritable(path);
  const looks = await inParallel(prepared, request.parallel ?? PARALLEL_READS, (target) =>
    lookOf(target, request),
  );
  const stopped = interruption(request.signal);
  if (stopped !== null) throw stopped;
  if (looks.some(({ observed }) => observed === null))
    return documentOf(prepared.map(failed(looks)), unchanged(files));
  const tools = pullTools(
    request,
    prepared.map(({ target }) => target.name),
  );
  const hidden = prepared.flatMap(hiddenIn);
  const looked = looks.flatMap(({ observed, prepared: { target } }): Looked[] =>
    observed === null ? [] : [{ target, observed, wish: { adopt: [], hidden, overlay: false } }],
  );
  const adopt = parseAdoption(request.adopt, looked, tools);
  const read = { serverGiven: request.server !== undefined, several: files.length > 1 };
  const asked = looked.map((one) => ({ ...one, wish: { ...one.wish, adopt } }));
  const edits = pullEdits(files, read, asked, tools);
  await show(files, edits, request);
  if (writes) await write(files, edits, request);
  return documentOf(
    prepared.map((one) => pulledReport(one.target.name, shownOrigin(one), edits, tools, writes)),
    statuses(files, edits, writes),
  );
}

/** One look, or why there is none. */
interface Look {
  readonly prepared: Prepared;
  readonly observed: ObservedState | null;
  readonly error: ErrorReport | null;
}

function lookOf(prepared: Prepared, options: Options): Promise<Look> {
  return observeTarget<Look>(prepared, options, {
    open: async ({ connection, limits }) => {
      const observed = await settingsObserver(connection, limits).observe(options.signal);
      return { prepared, observed, error: null };
    },
    failed: (error) => ({ prepared, observed: null, error }),
  });
}

/** What `--adopt` names. A path of something that no service has, or that is managed, is a usage error. */
function parseAdoption(
  adopt: PullRequest['adopt'],
  looked: readonly Looked[],
  tools: PullTools,
): 'all' | readonly Path[] {
  if (adopt === undefined) return [];
  if (adopt === 'all' || adopt.includes('all')) return 'all';
  const known = looked.flatMap(({ target, observed }) => adoptable(target, observed, tools));
  const names = [...new Set(known.map(formatPath))];
  return adopt.map((text) => {
    const path = parsePath(text);
    if (path !== null && known.some((other) => samePath(other, path))) return path;
    const there = names.length === 0 ? 'There is none.' : `Available: ${names.join(', ')}.`;
    throw new SetpointError(
      'usage',
      '--adopt takes what the service has and the file does not manage, or all.',
      {
        hint: didYouMean(text, names) || there,
      },
    );
  });
}

async function show(
  files: readonly LoadedFile[],
  { texts }: PullEdits,
  { onEdit, resolved }: Running<PullRequest>,
): Promise<void> {
  const lines = (text: string): ShownLine[] =>
    maskedLines(text).map((line) => ({ ...line, shown: resolved.all.text(line.shown) }));
  for (const [file, before] of textsOf(files)) {
    const after = texts.get(file);
    if (after !== undefined) await onEdit?.({ file, before: lines(before), after: lines(after) });
  }
}

async function write(
  files: readonly LoadedFile[],
  { texts }: PullEdits,
  request: PullRequest,
): Promise<void> {
  const before = textsOf(files);
  for (const path of request.force === true ? [] : texts.keys()) {
    const changes = await uncommittedChanges(path, request.env);
    if (changes === 'changed') {
      throw new SetpointError('file-dirty', `${path} has changes that are not committed.`, {
        hint: 'Commit them, so that what is pulled can be told from them, or pull with --force.',
      });
    }
    if (changes === 'unknown') {
      throw new SetpointError('file-dirty', `git does not say whether ${path} has changes.`, {
        hint: 'Try git status beside it; or pull with --force.',
      });
    }
  }
  const changes = [...texts].map(([path, text]) => ({
    path,
    before: before.get(path) ?? '',
    text,
  }));
  await writeFiles(changes, fileLimit(request));
}

function failed(looks: readonly Look[]): (prepared: Prepared) => EnvironmentPull {
  return (prepared) => {
    const { error = null } = looks.find((look) => look.prepared === prepared) ?? {};
    return {
      name: prepared.target.name,
      origin: shownOrigin(prepared),
      status: error === null ? 'skipped' : 'error',
      pulled: [],
      left: [],
      unknown: [],
      variables: [],
      error,
    };
  };
}

function unchanged(files: readonly LoadedFile[]): PulledFile[] {
  return [...textsOf(files).keys()].map((file) => ({ file, status: 'unchanged' }));
}

function statuses(
  files: readonly LoadedFile[],
  { texts }: PullEdits,
  writes: boolean,
): PulledFile[] {
  return [...textsOf(files).keys()].map((file) => ({
    file,
    status: !texts.has(file) ? 'unchanged' : writes ? 'written' : 'differs',
  }));
}

function documentOf(
  environments: readonly EnvironmentPull[],
  files: readonly PulledFile[],
): PullDocument {
  return { format_version: FORMAT_VERSION, kind: 'pull', tool: TOOL, files, environments };
}
