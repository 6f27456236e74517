import { dirname, isAbsolute, join, normalize, relative, resolve } from 'node:path';
import { parseEmbeddedAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { asSetpointError, SetpointError } from '../model/error.ts';
import { diagnostic } from '../desired/place-diagnostic.ts';
import { sourceFile, member, readNodeText } from '../desired/node.ts';
import {
  parseBaseReferences,
  laterTarget,
  readTargets,
  type BaseReference,
  type LoadedSettings,
  type LoadedFile,
  type ReadOptions,
  type Target,
} from '../desired/target.ts';
import { freeMemory } from '../host/this-process.ts';
import {
  pathExists,
  isPathUnder,
  isInsideFolder,
  readText,
  readOptional,
} from '../host/read-text.ts';
import { defaultFiles, filesAt } from './settings-files.ts';
import { DEFAULT_FILE, DEFAULT_FILE_SIZE, LARGEST_FILE_SIZE, type Options } from './options.ts';
import { lockPath, readLock } from '../desired/schema-lock.ts';
import { NATIVE_PARTS } from '../model/field.ts';
import type { SchemaLock } from '../model/native-schema.ts';
import { isPem, TLS_FILES } from '../desired/blocks/server.ts';
import { lookUp, lookUpAll } from '../desired/lookup.ts';
import { mayHoldReference } from '../desired/references.ts';
import { listCheckedPaths } from '../host/reference-source.ts';
import type { Running } from './redacting.ts';

/** Reads every file and all targets in them. If a diagnostic is an error, there are no targets. Throws if a file cannot be read. */
export function loadTargets(options: LockOptions): LoadedSettings {
  const paths = listSettingsFiles(options);
  const read = {
    serverGiven: options.server !== undefined,
    several: options.several ?? paths.length > 1,
    between: freeMemory,
  };
  const loaded = paths.map((path) => loadFile(path, options));
  const files = loaded.flatMap((one) => ('diagnostics' in one ? [] : [one]));
  const length = files.reduce(
    (sum, { text, bases }) => sum + bases.reduce((of, base) => of + base.text.length, text.length),
    0,
  );
  const readOne =
    files.length > 1 && length > LONG ? againWhenReached(read) : createTargetReader(read);
  const parts = loaded.map((one) =>
    'diagnostics' in one ? { targets: [], ...one } : readOne(one),
  );
  const diagnostics = parts.flatMap((part) => part.diagnostics);
  if (diagnostics.some(({ severity }) => severity === 'error'))
    return { files, targets: [], diagnostics };
  return { files, targets: parts.flatMap((part) => part.targets), diagnostics };
}

/** The number of characters of several files from which on their parsed form is not stored. */
const LONG = 1024 * 1024;

type ParsedTargets = ReturnType<typeof readTargets>;

function createTargetReader(read: ReadOptions): (file: LoadedFile) => ParsedTargets {
  return (file) => readTargets(file, read);
}

/**
 * Targets that are parsed again from the same text when they are reached: the targets of one file are in memory at a time, so that a run
 * over many files takes no more memory than one over a single file. If the order of a run goes back and forth between files, they stay in
 * memory after all: that costs less than the time.
 */
function againWhenReached(read: ReadOptions): (file: LoadedFile) => ParsedTargets {
  const kept = new Map<LoadedFile, readonly Target[]>();
  const times = new Map<LoadedFile, number>();
  let dropped = 0;
  const drop = ({ text }: LoadedFile): void => {
    dropped += text.length;
    if (dropped < MOST_DROPPED) return;
    dropped = 0;
    freeMemory();
  };
  const targetsOf = (file: LoadedFile): readonly Target[] => {
    const known = kept.get(file);
    if (known !== undefined) return known;
    const count = (times.get(file) ?? 0) + 1;
    times.set(file, count);
    if (count <= MOST_TIMES) {
      const others = [...kept.keys()];
      kept.clear();
      for (const other of others) drop(other);
    }
    const { targets } = readTargets(file, read);
    kept.set(file, targets);
    return targets;
  };
  let before: LoadedFile | null = null;
  return (file) => {
    if (before !== null) drop(before);
    before = file;
    const { targets, ...parsed } = readTargets(file, read);
    const later = targets.map((target, index) =>
      laterTarget(target, () => targetsOf(file)[index] as Target),
    );
    return { ...parsed, targets: later };
  };
}

/** The number of parses before a file is cached. A run reads its targets to choose, to check, and to process them. */
const MOST_TIMES = 5;

/** Characters of files whose parsed form may wait to be collected. */
const MOST_DROPPED = 512 * 1024;

/**
 * The paths of the settings files: see defaultFiles if none is named. A folder stands for its settings files, and a pattern for the files that match it, sorted by
 * their paths, without those that others of them extend. Throws if there is none.
 */
export function listSettingsFiles(
  options: Pick<Options, 'file' | 'text' | 'maxFileSize'>,
): readonly string[] {
  const { file, text } = options;
  const unnamed = (): readonly string[] =>
    text === undefined ? withoutBases(defaultFiles(), options) : [DEFAULT_FILE];
  const paths = [file ?? unnamed()].flat().flatMap((path) => {
    const found = filesAt(path);
    return found.length > 1 ? withoutBases(found, options) : found;
  });
  return [...new Set(paths)];
}

/** A base is not a separate settings file where it lies among those that extend it. */
function withoutBases(
  paths: readonly string[],
  options: Pick<Options, 'maxFileSize'>,
): readonly string[] {
  if (paths.length < 2) return paths;
  const bases = new Set(
    paths.flatMap((path) =>
      readBaseReferences(path, options).map((base) => normalize(resolveBasePath(path, base))),
    ),
  );
  const own = paths.filter((path) => !bases.has(normalize(path)));
  return own.length === 0 ? paths : own;
}

type Unreadable = { readonly diagnostics: readonly Diagnostic[] };

/** A settings file with its bases. One outside the working directory is refused before it is opened. */
function loadFile(path: string, options: LockOptions): LoadedFile | Unreadable {
  const text = options.text ?? readSettingsFile(path, options);
  if (typeof text !== 'string') return text;
  const bases: { path: string; text: string }[] = [];
  for (const base of parseBaseReferences(path, text)) {
    const read = loadBase(path, base, options);
    if ('diagnostics' in read) return read;
    if (bases.some((one) => one.path === read.path))
      return { diagnostics: [base.diagnose('This base is named twice.', 'Remove one of them.')] };
    bases.push(read);
  }
  const texts = [text, ...bases.map((base) => base.text)];
  return { path, text, bases, ...lockFor(path, texts, options) };
}

function loadBase(
  path: string,
  base: BaseReference,
  options: LockOptions,
): LoadedFile['bases'][number] | Unreadable {
  const basePath = resolveBasePath(path, base);
  if (isAbsolute(base.path) || !isInsideFolder(basePath, options.checkout?.root ?? '.')) {
    const message = 'No such file under the working directory.';
    const hint =
      "Write the base's path relative to this file. It must be under the working directory.";
    return { diagnostics: [base.diagnose(message, hint)] };
  }
  try {
    const text = readSettingsFile(basePath, options);
    return typeof text === 'string' ? { path: toRelativePath(basePath), text } : text;
  } catch (thrown) {
    const { message, hint } = asSetpointError(thrown);
    return { diagnostics: [base.diagnose(message, hint)] };
  }
}

/** The bases that the settings files name, if these can be read; such a path may not exist. */
export function listExtendedBases(options: Options): readonly string[] {
  return listSettingsFiles(options).flatMap((path) =>
    readBaseReferences(path, options).map((base) => resolveBasePath(path, base)),
  );
}

/** None also if the file cannot be read: its loader reports the reason. */
function readBaseReferences(
  path: string,
  options: Pick<Options, 'maxFileSize'>,
): readonly BaseReference[] {
  try {
    const read = readText(path, fileLimit(options));
    return 'text' in read ? parseBaseReferences(path, read.text) : [];
  } catch {
    return [];
  }
}

function resolveBasePath(path: string, base: BaseReference): string {
  return isAbsolute(base.path) ? base.path : join(dirname(path), base.path);
}

function toRelativePath(path: string): string {
  const inner = relative('.', path);
  return inner.startsWith('..') ? path : inner;
}

function readSettingsFile(path: string, options: Options): string | Unreadable {
  const limit = fileLimit(options);
  requireFile(path, options);
  if (leadsOutside(path, options)) {
    throw new SetpointError('file-unreadable', `${path} is a link to a file elsewhere.`, {
      hint: 'In a pipeline, settings files lie in the working directory: commit the file itself.',
    });
  }
  const read = readText(path, limit);
  if ('text' in read) return read.text;
  const [message, hint] =
    read.problem === 'not-utf8'
      ? ['The file is not UTF-8 text.', 'Save it as UTF-8.']
      : [
          `The file is larger than ${limit} bytes.`,
          'Raise the limit with --max-file-size, up to 16 MiB.',
        ];
  return {
    diagnostics: [diagnostic(sourceFile(path, ''), 0, { code: 'unreadable', message, hint })],
  };
}

/** Reports whether a branch may have replaced a file with a link to a file of the machine, whose keys would be shown. */
function leadsOutside(path: string, { env, checkout }: Options): boolean {
  const root = resolve(checkout?.root ?? '.');
  const isOfBranch =
    (env['CI'] ?? '') !== '' || (checkout !== undefined && checkout.from !== 'cluster');
  return (
    isOfBranch &&
    isPathUnder(resolve(path), root) &&
    pathExists(path) &&
    !isInsideFolder(path, root)
  );
}

/** Bytes that a settings file may have. */
export function fileLimit({ maxFileSize }: Pick<Options, 'maxFileSize'>): number {
  return Math.min(maxFileSize ?? DEFAULT_FILE_SIZE, LARGEST_FILE_SIZE);
}

const CREATE_OR_NAME = 'Create one with `setpoint init --server URL`, or name one with -f.';

/** Reports whether no settings file exists: none was named, and no file has a default name. */
export function hasNoFile({ file, text }: Options): boolean {
  if (file !== undefined || text !== undefined) return false;
  return !defaultFiles().some((path) => pathExists(path));
}

/**
 * The options of a command that can do without a settings file: if there is none, `--server` stands for a file that declares
 * nothing, with the environment `default`. Throws if neither a file nor an address is given.
 */
export function fileOrServer<O extends Options>(options: O): O {
  if (!hasNoFile(options)) return options;
  if (options.server !== undefined) return { ...options, text: 'version: 1\n' };
  throw new SetpointError('file-unreadable', `No ${DEFAULT_FILE} in this folder.`, {
    hint: `${CREATE_OR_NAME} Without a file, name the service with --server URL.`,
  });
}

/** Throws if no file is named and the default one does not exist. */
function requireFile(path: string, options: Options): void {
  if (path !== DEFAULT_FILE || !hasNoFile(options)) return;
  throw new SetpointError('file-unreadable', `No ${DEFAULT_FILE} in this folder.`, {
    hint: CREATE_OR_NAME,
  });
}

/** A file that cannot be read, reported at its first character. */
export function createUnreadableDiagnostic(
  path: string,
  message: string,
  hint: string,
): Diagnostic {
  return diagnostic(sourceFile(path, ''), 0, { code: 'unreadable', message, hint });
}

/** Options with the lock to read settings with, instead of the file next to them. */
export interface LockOptions extends Options {
  readonly lock?: SchemaLock;
}

export const LARGEST_LOCK = 1024 * 1024;

/**
 * The lock of a settings file, if the texts of it and its base may declare native parts. Throws file-unreadable if it cannot be
 * read.
 */
function lockFor(
  path: string,
  texts: readonly string[],
  { lock }: LockOptions,
): { readonly lock?: SchemaLock } {
  if (lock !== undefined) return { lock };
  if (!texts.some(mayHaveNativeParts)) return {};
  const text = textOfLock(path);
  return text === null ? {} : { lock: readLock(lockPath(path), text) };
}

/** Null if there is no lock. */
export function textOfLock(file: string): string | null {
  try {
    return readOptional(lockPath(file), LARGEST_LOCK);
  } catch (thrown) {
    if (!(thrown instanceof SetpointError)) throw thrown;
    throw new SetpointError('file-unreadable', thrown.message, {
      hint: 'Remove what is there, and run setpoint schema pull to write a schema lock.',
      cause: thrown,
    });
  }
}

/** An escape in a double-quoted key may spell the name of a part as well. */
function mayHaveNativeParts(text: string): boolean {
  return /\\[xuU]/.test(text) || [...NATIVE_PARTS].some((part) => text.includes(part));
}

/** The files that are read whenever targets are planned or applied, in addition to their settings. */
export function filesRead(targets: Iterable<Target>, options: Options): ReadonlySet<string> {
  const { env } = options;
  const files = new Set<string>();
  const references = {
    variable: () => undefined,
    file: (path: string) => {
      files.add(path);
      return { problem: '' };
    },
  };
  for (const { server, settings } of targets)
    for (const part of [server, settings]) lookUpAll(part, references, undefined);
  if (files.size > 0) for (const path of listCheckedPaths(env)) files.add(path);
  for (const target of targets) {
    for (const key of TLS_FILES) {
      const path = readNodeText(member(target.server, key)) ?? '';
      if (path !== '' && !mayHoldReference(path)) files.add(resolve(dirname(target.file), path));
    }
    if ((env['SETPOINT_STATE_KEY'] ?? '') !== '' && options.state !== null)
      files.add(fingerprintPath(target, options));
  }
  return files;
}

/** The additional files that settings name: certificates and their keys, and the stores of embedded services. */
export function listReferencedFiles(
  targets: Iterable<Target>,
  { env }: Options,
): readonly string[] {
  const source = { variable: (name: string) => env[name], file: () => ({ problem: '' }) };
  const paths = new Set<string>();
  for (const { file, server } of targets)
    for (const key of [...TLS_FILES, 'url']) {
      const found = lookUp(readNodeText(member(server, key)) ?? '', source);
      if ('problem' in found || found.text === '' || isPem(found.text)) continue;
      const path = key === 'url' ? parseEmbeddedAddress(found.text)?.path : found.text;
      if (path !== undefined && path !== '') paths.add(resolve(dirname(file), path));
    }
  return [...paths];
}

/** Throws if the disk of a file that is to be read does not answer. */
export function assertAnswers(path: string, { silent }: Pick<Running<Options>, 'silent'>): void {
  if (!silent.has(path)) return;
  throw new SetpointError('timed-out', `${path} does not answer.`, {
    hint: 'Check the disk that it is on.',
  });
}

/** Returns the place of fingerprints of a target's secrets: next to the settings, unless they are of a commit. */
export function fingerprintPath(
  { file }: Pick<Target, 'file'>,
  { checkout, state }: Pick<Options, 'checkout' | 'state'>,
): string {
  return resolve(state ?? checkout?.state ?? dirname(file), '.setpoint/fingerprints.json');
}
