import { Redactor, SharedValues } from '../../reconciler/model/redactor.ts';
import type { CommitInfo } from '../../reconciler/model/watch.ts';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asSetpointError, SetpointError } from '../../reconciler/model/error.ts';
import type { Diagnostic } from '../../reconciler/model/diagnostic.ts';
import { lockPath } from '../../reconciler/desired/schema-lock.ts';
import type { Target } from '../../reconciler/desired/target.ts';
import { InvalidSettings } from '../../reconciler/operations/invalid-settings.ts';
import { listExtendedBases, listSettingsFiles } from '../../reconciler/operations/load.ts';
import { MOST_STORED } from './stored-plan.ts';
import {
  type SessionRequest,
  loadSession,
  type LoadedSession,
} from '../../reconciler/operations/session.ts';
import { PolicyViolation } from '../../reconciler/operations/policy.ts';
import { watch, type FSWatcher } from 'node:fs';
import { formatCount } from '../../reconciler/model/wording.ts';

/** The environments that the settings files declare; if they cannot be used, those of the last good ones. */
export interface Files {
  readonly targets: readonly Target[];
  /** The names of all that they declare, also of what is not chosen, or of other shards. */
  readonly declared: ReadonlySet<string>;
  /** The commit that they are of; null if that is not known. */
  readonly commit: string | null;
  /** The values of the references of all that they declare, and those that they came to since. */
  readonly values: SharedValues;
  /** The reason why the files cannot be used; null if they can. */
  readonly problem: SetpointError | null;
  /** The reason in a sentence or two, with the place of the first problem; null without one. */
  readonly problemText: string | null;
}

export interface LoadedFiles extends Omit<Files, 'problem' | 'problemText'> {
  /** The unusable files among several: their environments are not among the targets. */
  readonly broken: readonly BrokenFile[];
  /** The beginning of the paths of the files, if it differs each time. */
  readonly root: string;
  /** About the commit; null if that is not known. */
  readonly commitInfo?: CommitInfo | null;
  /** The versions that environments are declared by, by their names, if each has its own. */
  readonly versions?: ReadonlyMap<string, string>;
}

/** A file that cannot be used while others are. `text` is why; `isKept`: its environments go on as it declared them last. */
interface FileProblem {
  readonly file: string;
  readonly text: string;
  readonly isKept: boolean;
}

/** A source of settings files. Throws a SetpointError if they cannot be used. */
export interface SettingsSource {
  readonly kind: 'files' | 'git' | 'cluster';
  /** The address at which a browser shows a commit, if its id is appended; null if unknown. */
  readonly commits: string | null;
  /** Changes when the files do; cheap to ask. */
  stamp(): Promise<string>;
  load(): Promise<LoadedFiles>;
  /** Loads the files that a former controller used last, if they were stored; null if there are none. */
  loadLast(): Promise<LoadedFiles | null>;
  /** The origin of an environment, if that is known without reading what it declares. */
  originOf?(name: string): string | null;
  /** The group that an environment shares its places with first. Default: its file. */
  groupOf?(name: string): string;
  /** Characters that the values of the stored plan of an environment may have. Default: the same for all. */
  planRoom?(name: string): number;
  /** Reads of a group at a time, if that is limited. */
  mostReads?(group: string): number | null;
  /**
   * Reports whether an environment of this source is gone for good, and belongs to no other controller. Default: that cannot be
   * distinguished.
   */
  isGone?(name: string): boolean;
  /** The number of environments that are not watched, by reason. */
  readonly unwatched?: ReadonlyMap<string, number>;
  /** Receives the settings files in effect: the files next to them stay, also those of a file that is broken since. */
  use?(paths: readonly string[]): void;
  /** Calls `changed` when the files may have changed, if the system reports it; the returned function ends that. */
  listen(changed: () => void): () => void;
}

/** Files that are updated. A broken one leaves the last good ones in effect. */
export class CurrentFiles implements Files {
  targets: readonly Target[] = [];
  declared: ReadonlySet<string> = new Set();
  commit: string | null = null;
  values = new SharedValues();
  problem: SetpointError | null = null;
  /** Files that cannot be used while others are, which are the rest of what is watched. */
  broken: readonly FileProblem[] = [];
  /** The file of each environment, and the commit that it is of. */
  #places: ReadonlyMap<string, { file: string; commit: string | null }> = new Map();
  readonly #source: SettingsSource;
  #stamp: string | null = null;
  #mostValues = 0;
  /** About the commits that environments are declared by, masked. */
  commitInfos: ReadonlyMap<string, CommitInfo> = new Map();
  /** True if there are any, current or earlier. */
  areTaken = false;
  /** The stamp of files that could not be used. */
  #broken: string | null = null;

  constructor(source: SettingsSource) {
    this.#source = source;
  }

  get kind(): SettingsSource['kind'] {
    return this.#source.kind;
  }

  get commits(): string | null {
    return this.#source.commits;
  }

  get problemText(): string | null {
    return this.problem === null ? null : textOfProblem(this.problem);
  }

  /** Reports whether no file declares an environment; false while a file is not known. */
  isUndeclared(name: string): boolean {
    return this.areTaken && this.broken.every(({ isKept }) => isKept) && !this.declared.has(name);
  }

  /** The commit that an environment is declared by: one whose file is broken since goes on as of an earlier one. */
  commitOf(name: string): string | null {
    return this.#places.get(name)?.commit ?? null;
  }

  /** Returns the group that an environment shares its places with first: its namespace, or its file. */
  planRoom(name: string): number {
    return this.#source.planRoom?.(name) ?? MOST_STORED;
  }

  mostReads(group: string): number {
    return this.#source.mostReads?.(group) ?? Number.POSITIVE_INFINITY;
  }

  groupOf(name: string): string {
    return this.#source.groupOf?.(name) ?? this.#places.get(name)?.file ?? '';
  }

  /** The folder that the path of the file of an environment begins with, if that is another one for each commit; else empty. */
  rootOf({ name, file }: Pick<Target, 'name' | 'file'>): string {
    const known = this.#places.get(name)?.file ?? file;
    return file.endsWith(known) ? file.slice(0, file.length - known.length) : '';
  }

  /** Reads the files again if they have changed; whether they, or what is wrong with them, are others than before. */
  async refresh(): Promise<boolean> {
    const before = this.problemText;
    let stamp: string | null = null;
    try {
      stamp = await this.#source.stamp();
      if (stamp === this.#stamp && this.values.size <= this.#mostValues) return false;
      const loaded = await this.#source.load();
      // Half of a file that is being written may be a file. Objects of a cluster are whole, and may change all the time.
      const after = this.kind === 'cluster' ? stamp : await this.#source.stamp();
      if (after !== stamp && this.#stamp !== null) return false;
      const [first] = loaded.broken;
      const isRepeated = first !== undefined && after === this.#broken;
      this.#stamp = first === undefined ? after : await this.#stampOfBroken(stamp, first.problem);
      this.#take(loaded);
      this.problem = first?.problem ?? null;
      return !isRepeated || this.problemText !== before;
    } catch (thrown) {
      this.problem = asSetpointError(thrown);
      this.broken = [];
      this.#stamp = await this.#stampOfBroken(stamp, this.problem);
      return this.problemText !== before;
    }
  }

  /** Takes the files that a controller before this one used last. False if there are none, or they cannot be used either. */
  async takeLast(): Promise<boolean> {
    const last = await this.#source.loadLast().catch(() => null);
    // The newest ones may have come meanwhile.
    if (last !== null && !this.areTaken) this.#take(last);
    return this.areTaken;
  }

  #take(loaded: LoadedFiles): void {
    const { targets, declared, commit, commitInfo, values, broken, root, versions } = loaded;
    const places = new Map(
      targets.map(({ name, file }) => [
        name,
        { file: file.slice(root.length), commit: versions?.get(name) ?? commit },
      ]),
    );
    const files = broken.map(({ file }) => file.slice(root.length));
    const keptIn = new Set<string>();
    const kept = this.targets.filter(({ name }) => {
      const place = this.#places.get(name);
      if (place === undefined || !files.includes(place.file) || declared.has(name)) return false;
      places.set(name, place);
      keptIn.add(place.file);
      return true;
    });
    // The values that the remaining ones show are masked as before.
    if (kept.length > 0) for (const value of this.values.all()) values.add(value);
    this.areTaken = true;
    this.#places = places;
    this.targets = [...targets, ...kept];
    this.declared = new Set([...declared, ...kept.map(({ name }) => name)]);
    this.#source.use?.(this.targets.map(({ file }) => file));
    this.commit = commit;
    this.values = values;
    const used = [commit, ...[...places.values()].map((place) => place.commit)];
    this.commitInfos = keepCommitInfos(this.commitInfos, used, commitInfo, values);
    this.#mostValues = 2 * values.size + MOST_REPLACED;
    this.broken = broken.map(({ problem }, index) => {
      const file = files[index] ?? '';
      return { file, text: textOfProblem(problem), isKept: keptIn.has(file) };
    });
  }

  /**
   * Invalid files are not read a third time, until one of them changes; after the first time it is unknown whether a user was still
   * writing. Files that cannot be read, or fetched, may be right again without a change.
   */
  async #stampOfBroken(before: string | null, { code }: SetpointError): Promise<string> {
    const after = await this.#source.stamp().catch(() => null);
    const isKnown = after !== null && after === before && after === this.#broken;
    this.#broken = after;
    return isKnown && (code === 'settings-invalid' || code === 'policy-violated') ? after : '';
  }
}

/** Values that secrets had before they were rotated and that are still masked: with more, the files are read again, and those of now count. */
const MOST_REPLACED = 10_000;

/** The files of -f, where they are. `commitOf` is their commit, or null; `describe` is about it. */
export function filesSource(
  options: SessionRequest,
  commitOf: (path: string) => Promise<string | null>,
  describe: (path: string, commit: string) => Promise<CommitInfo | null> = async () => null,
): SettingsSource {
  const folders = [...new Set(listSettingsFiles(options).map((path) => dirname(path)))];
  /** The bases of those of -f, as the last load has found them. */
  let bases: readonly string[] = [];
  const besides = typeof options.policy === 'string' ? [options.policy] : [];
  return {
    kind: 'files',
    commits: null,
    stamp: async () => {
      // Files that are read later at once are requested here in the background: that reveals a disk that hangs.
      for (const folder of folders) await fileStamp(folder);
      const files = listSettingsFiles(options);
      const stamps: string[] = [];
      // One after another: of what hangs, one at a time keeps others from their disks.
      for (const path of [...files, ...files.map(lockPath), ...besides, ...bases])
        stamps.push(await fileStamp(path));
      return JSON.stringify(stamps);
    },
    load: async () => {
      bases = listExtendedBases(options);
      const loaded = await loadApart(options);
      const [first] = loaded.targets;
      const commit = first === undefined ? null : await commitOf(first.file);
      const isKnown = first !== undefined && commit !== null;
      const commitInfo = isKnown ? await describe(first.file, commit) : null;
      return { ...loaded, commit, commitInfo, root: '' };
    },
    loadLast: async () => null,
    listen: (changed) => listenTo(folders, changed),
  };
}

async function fileStamp(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (found === null) return `${path} -`;
  const { mtimeMs, ctimeMs, size, ino } = found;
  return `${path} ${mtimeMs} ${ctimeMs} ${size} ${ino}`;
}

/** Folders, because editors and mounted volumes replace files. A folder that cannot be watched is looked at by the clock alone. */
function listenTo(folders: readonly string[], changed: () => void): () => void {
  const watchers = folders.flatMap((folder): FSWatcher[] => {
    try {
      const watcher = watch(folder, { persistent: false }, changed);
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      return [];
    }
  });
  return () => {
    for (const watcher of watchers) watcher.close();
  };
}

/** A settings file that cannot be used, and why. */
interface BrokenFile {
  readonly file: string;
  readonly problem: SetpointError;
}

/** The problems of a single file. */
const OF_A_FILE: ReadonlySet<string> = new Set([
  'settings-invalid',
  'file-unreadable',
  'policy-violated',
  'key-shared',
]);

/**
 * Loads settings files so that a broken one stops only its own environments. Throws a SetpointError if none of them can be used, or if the
 * problem is not in one file alone. Problems name files without the prefix `root`.
 */
export async function loadApart(
  request: SessionRequest,
  root = '',
): Promise<LoadedSession & { readonly broken: readonly BrokenFile[] }> {
  try {
    return { ...(await loadSession(request)), broken: [] };
  } catch (thrown) {
    const whole = asSetpointError(thrown);
    const files = OF_A_FILE.has(whole.code) ? listSettingsFiles(request) : [];
    const broken = await findBrokenFiles(files, request);
    const others = files.filter((file) => broken.every((one) => one.file !== file));
    if (broken.length === 0 || others.length === 0) throw fromRoot(whole, root);
    const loaded = await loadSession({ ...request, file: others, several: true }).catch(() => null);
    if (loaded === null) throw fromRoot(whole, root);
    return {
      ...loaded,
      broken: broken.map((one) => ({ ...one, problem: fromRoot(one.problem, root) })),
    };
  }
}

/** Returns the files that cannot be used on their own, whichever of their environments are chosen. */
async function findBrokenFiles(
  files: readonly string[],
  request: SessionRequest,
): Promise<readonly BrokenFile[]> {
  const broken: BrokenFile[] = [];
  if (files.length < 2) return broken;
  const all = { targets: undefined, selector: undefined, shard: undefined, onSelected: undefined };
  for (const file of files) {
    const alone = { ...request, ...all, file: [file], several: true };
    const problem = await loadSession(alone).then(() => null, asSetpointError);
    if (problem !== null) broken.push({ file, problem });
  }
  return broken;
}

/** A problem with the paths of files as they are below a folder. */
function fromRoot(problem: SetpointError, root: string): SetpointError {
  if (root === '') return problem;
  if (problem instanceof InvalidSettings)
    return new InvalidSettings(
      problem.diagnostics.map((one) => ({ ...one, file: one.file.replace(root, '') })),
    );
  const { code, message, hint, cause } = problem;
  return new SetpointError(code, message.replaceAll(root, ''), { hint, cause });
}

/** A problem of settings in a few sentences, with the first place and the remedy. `placeOf` returns a place; empty if it has none. */
export function textOfProblem(problem: SetpointError, placeOf = formatDiagnosticPlace): string {
  const [first, ...others] =
    problem instanceof InvalidSettings || problem instanceof PolicyViolation
      ? problem.diagnostics.filter(({ severity }) => severity === 'error')
      : [];
  const more = others.length === 0 ? '' : ` (and ${formatCount(others.length, 'more problem')})`;
  const { message, hint } = first ?? problem;
  const place = first === undefined ? '' : placeOf(first);
  const before = place === '' ? '' : `${place}: `;
  return [`${before}${message}${more}`, hint].filter(Boolean).join(' ');
}

export function formatDiagnosticPlace({ file, line, column }: Diagnostic): string {
  return `${file}:${line}:${column}`;
}

type CommitInfos = ReadonlyMap<string, CommitInfo>;

/** Returns the known facts of the commits in `used`; `added` is about the first of them. The values of references are masked in it. */
export function keepCommitInfos(
  known: CommitInfos,
  used: readonly (string | null)[],
  added: CommitInfo | null | undefined,
  values: SharedValues,
): CommitInfos {
  const infos = new Map([...known].filter(([commit]) => used.includes(commit)));
  const [commit = null] = used;
  if (commit === null || added === null || added === undefined) return infos;
  const masks = new Redactor(values);
  const [author, subject] = [masks.text(added.author), masks.text(added.subject)];
  return infos.set(commit, { ...added, author, subject });
}
