import { SetpointError, type ErrorReport } from '../model/error.ts';
import { formatPath, parsePath, samePath, type Path } from '../model/path.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { EnvironmentPull, PullDocument, PulledFile } from '../model/documents.gen.ts';
import type { FileEdit, ShownLine } from '../model/pulled.ts';
import { didYouMean } from '../model/wording.ts';
import { TOOL } from '../model/version.ts';
import type { LoadedFile, Target } from '../desired/target.ts';
import { checkUncommittedChanges } from '../host/git-source.ts';
import { checkWritable } from '../host/write-aside.ts';
import { writeFiles, type FileChange } from '../host/write-files.ts';
import { pullEdits, mapFileTexts, type ObservedTarget, type PullEdits } from '../pull/edits.ts';
import { maskFileLines } from '../pull/masked-lines.ts';
import { pullReport } from '../pull/pull-report.ts';
import { adoptable, secretsToHide, type ObservedService } from '../pull/pull-target.ts';
import { inParallel } from '../reconcile/in-order.ts';
import { findInterruption } from '../reconcile/interruption.ts';
import { settingsObserver } from '../service/settings.ts';
import { fileLimit } from './load.ts';
import { observeTarget } from './open-target.ts';
import type { Options, PullRequest } from './options.ts';
import { parallelReads } from './parallel.ts';
import { prepareTargets, secretsOfOthers, formatOrigin, type PreparedTarget } from './prepare.ts';
import { readCollections } from './read-collections.ts';
import { redacting, createMaskingSource, type Running } from './redacting.ts';
import { selectLoaded } from './select.ts';

/** A pull of the command line. */
export interface PullRun extends PullRequest {
  /** Receives the environments as the files declare them after the pull, before anything is written. */
  readonly onPulled?: ((targets: readonly Target[]) => void) | undefined;
}

/**
 * Imports what the services have into the settings files, in place: every value into the block it came from, references and
 * secrets untouched, everything else byte for byte as it was. Reads the services only. The edited files are read back, checked,
 * and planned against the same observations before anything is written. With `text` nothing is written. Throws a SetpointError if
 * a file or a name is not valid, or if a file cannot be written.
 */
export function pull(request: PullRun): Promise<PullDocument> {
  return redacting(request, pullAll);
}

async function pullAll(request: Running<PullRun>): Promise<PullDocument> {
  const { files, targets, declared } = selectLoaded(request);
  const prepared = await prepareTargets({ targets, declared }, request);
  const adopt = parseAdoption(request.adopt);
  const writes = request.check !== true && request.text === undefined;
  if (writes) for (const path of mapFileTexts(files).keys()) checkWritable(path);
  const observations = await inParallel(
    prepared,
    parallelReads(request, prepared.length),
    (target) => observeForPull(target, request, adopt),
  );
  const stopped = findInterruption(request.signal);
  if (stopped !== null) throw stopped;
  if (observations.some(({ service }) => service === null))
    return createPullDocument(observations.map(notPulled), createUnchangedFiles(files));
  const source = createMaskingSource(
    targets.map(({ name }) => name),
    request,
  );
  const hidden = [
    ...prepared.flatMap(secretsToHide),
    ...secretsOfOthers(declared, targets, request),
  ];
  const observed = observations.flatMap(({ service, prepared: { target } }) =>
    service === null ? [] : [{ target, ...service }],
  );
  const options = { adopt: resolveAdoptPaths(adopt, observed, source), hidden, ownLayer: false };
  const edits = pullEdits(
    files,
    { serverGiven: request.server !== undefined, several: files.length > 1 },
    observed.map((one) => ({ ...one, options })),
    source,
  );
  request.onPulled?.(targets.flatMap(({ name }) => edits.edited.get(name) ?? []));
  await show(files, edits, request);
  if (writes) await writePulledFiles(files, edits, request);
  return createPullDocument(
    prepared.map((one) => pullReport(one.target.name, formatOrigin(one), edits, source, writes)),
    statuses(files, edits, writes),
  );
}

/** The state of a target's service, or the reason that it is unknown. */
export interface Observation {
  readonly prepared: PreparedTarget;
  readonly service: ObservedService | null;
  readonly error: ErrorReport | null;
}

/** Reads what a pull compares with the file, and what it is to adopt. */
export function observeForPull(
  prepared: PreparedTarget,
  options: Running<Options>,
  adopt: 'all' | readonly AdoptedPath[] = [],
): Promise<Observation> {
  const { signal } = options;
  const isWanted = (block: string): boolean =>
    adopt === 'all' || adopt.some(({ path }) => path?.[0] === block);
  return observeTarget<Observation>(prepared, options, {
    open: async ({ connection, limits, reader }) => {
      const observed = await settingsObserver(connection, limits).observe(signal);
      const { desired } = prepared;
      const collections = await readCollections({ reader, observed, desired, isWanted, signal });
      return { prepared, service: { observed, collections }, error: null };
    },
    failed: (error) => ({ prepared, service: null, error }),
  });
}

/** A path that `--adopt` names, in its written form. */
interface AdoptedPath {
  readonly text: string;
  readonly path: Path | null;
}

function parseAdoption(adopt: PullRequest['adopt']): 'all' | readonly AdoptedPath[] {
  if (adopt === undefined) return [];
  if (adopt === 'all' || adopt.includes('all')) return 'all';
  return adopt.map((text) => ({ text, path: parsePath(text) }));
}

/** The paths to adopt. One that no service has, or that is managed, is a usage error. */
function resolveAdoptPaths(
  adopt: 'all' | readonly AdoptedPath[],
  observed: readonly Omit<ObservedTarget, 'options'>[],
  source: ReferenceSource,
): 'all' | readonly Path[] {
  if (adopt === 'all') return 'all';
  const known = observed.flatMap(({ target, ...one }) => adoptable(target, one, source));
  const names = [...new Set(known.map(formatPath))];
  return adopt.map(({ text, path }) => {
    if (path !== null && known.some((other) => samePath(other, path))) return path;
    const available =
      names.length === 0
        ? 'The file manages all that the service has.'
        : `Available: ${names.join(', ')}.`;
    throw new SetpointError(
      'usage',
      '--adopt needs a path that the service has and the file does not manage, or all.',
      { hint: didYouMean(text, names) || available },
    );
  });
}

async function show(
  files: readonly LoadedFile[],
  { texts }: PullEdits,
  { onEdit, resolved }: Running<PullRequest>,
): Promise<void> {
  for (const [path, before] of mapFileTexts(files)) {
    const text = texts.get(path);
    if (text !== undefined) await onEdit?.(redactEdit({ path, before, text }, resolved));
  }
}

/** An edit as it may be shown: what may be a secret is masked, and so is every value of a reference. */
export function redactEdit(
  { path, before, text }: FileChange,
  resolved: Running<Options>['resolved'],
): FileEdit {
  const lines = (whole: string): ShownLine[] =>
    maskFileLines(whole).map((line) => ({ ...line, shown: resolved.all.text(line.shown) }));
  return { file: path, before: lines(before ?? ''), after: lines(text) };
}

async function writePulledFiles(
  files: readonly LoadedFile[],
  { texts }: PullEdits,
  request: PullRequest,
): Promise<void> {
  const before = mapFileTexts(files);
  for (const path of request.force === true ? [] : texts.keys()) {
    const changes = await checkUncommittedChanges(path, request.env);
    if (changes === 'changed') {
      throw new SetpointError('file-changed', `${path} has uncommitted changes.`, {
        hint: 'Commit them first, so that a diff shows what was pulled, or use --force.',
      });
    }
    if (changes === 'unknown') {
      throw new SetpointError(
        'file-changed',
        `git did not report whether ${path} has uncommitted changes.`,
        {
          hint: 'Run git status in its folder to see why, or use --force.',
        },
      );
    }
  }
  const changes = [...texts].map(([path, text]) => ({
    path,
    before: before.get(path) ?? '',
    text,
  }));
  await writeFiles(changes, fileLimit(request));
}

/** The part of a target when nothing is pulled because the service of one could not be read. */
export function notPulled({ prepared, error }: Observation): EnvironmentPull {
  return {
    name: prepared.target.name,
    origin: formatOrigin(prepared),
    status: error === null ? 'skipped' : 'error',
    pulled: [],
    left: [],
    unknown: [],
    variables: [],
    error,
  };
}

function createUnchangedFiles(files: readonly LoadedFile[]): PulledFile[] {
  return [...mapFileTexts(files).keys()].map((file) => ({ file, status: 'unchanged' }));
}

function statuses(
  files: readonly LoadedFile[],
  { texts }: PullEdits,
  writes: boolean,
): PulledFile[] {
  return [...mapFileTexts(files).keys()].map((file) => ({
    file,
    status: !texts.has(file) ? 'unchanged' : writes ? 'written' : 'differs',
  }));
}

function createPullDocument(
  environments: readonly EnvironmentPull[],
  files: readonly PulledFile[],
): PullDocument {
  return { format_version: FORMAT_VERSION, kind: 'pull', tool: TOOL, files, environments };
}
