import { watch, type FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asSetpointError, type SetpointError } from '../../reconciler/model/error.ts';
import { counted } from '../../reconciler/model/wording.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { SharedValues } from '../../reconciler/model/redactor.ts';
import { lockPath } from '../../reconciler/desired/schema-lock.ts';
import type { Target } from '../../reconciler/desired/target.ts';
import type { GitBranch } from '../../reconciler/host/git-branch.ts';
import { basesOf, filesOf, InvalidSettings } from '../../reconciler/operations/load.ts';
import { DEFAULT_FILE } from '../../reconciler/operations/options.ts';
import { loadSession, type SessionRequest } from '../../reconciler/operations/session.ts';
import type { FollowedCommits } from './followed-commits.ts';

/** The environments that the settings files declare; if they cannot be used, those of the last good ones. */
export interface Files {
  readonly targets: readonly Target[];
  /** The names of all that they declare, also of what is not chosen, or of other shards. */
  readonly declared: ReadonlySet<string>;
  /** The commit that they are of; null if that is not known. */
  readonly commit: string | null;
  /** The values of the references of all that they declare, and those that they came to since. */
  readonly values: SharedValues;
  /** Why the files cannot be used; null if they can. */
  readonly problem: SetpointError | null;
  /** The same in a sentence or two, with the place of the first problem; null without one. */
  readonly problemText: string | null;
}

type LoadedFiles = Omit<Files, 'problem' | 'problemText'>;

/** Where settings files come from. Throws a SetpointError if they cannot be used. */
export interface SettingsSource {
  readonly kind: 'files' | 'git';
  /** Where a browser shows a commit of them, if its id is appended; null if that is not known. */
  readonly commits: string | null;
  /** Changes when the files do; cheap to ask. */
  stamp(): Promise<string>;
  load(): Promise<LoadedFiles>;
  /** Those that a controller before this one used last, if they were kept; null if there are none. */
  loadLast(): Promise<LoadedFiles | null>;
  /** Calls `changed` when the files may have changed, as far as the system tells; what it returns ends that. */
  listen(changed: () => void): () => void;
}

/** Files that are kept up to date. One that is broken leaves the last good ones in force. */
export class CurrentFiles implements Files {
  targets: readonly Target[] = [];
  declared: ReadonlySet<string> = new Set();
  commit: string | null = null;
  values = new SharedValues();
  problem: SetpointError | null = null;
  readonly #source: SettingsSource;
  #stamp: string | null = null;
  #mostValues = 0;
  /** Whether there are any, those of now or earlier ones. */
  areTaken = false;
  /** The stamp of files that could not be used. */
  #broken: string | null = null;

  constructor(source: SettingsSource) {
    this.#source = source;
  }

  get kind(): SettingsSource['kind'] {
    return this.#source.kind;
  }

  /** Where a browser shows a commit of them, if its id is appended; null if that is not known. */
  get commits(): string | null {
    return this.#source.commits;
  }

  get problemText(): string | null {
    const { problem } = this;
    if (!(problem instanceof InvalidSettings)) return problem?.message ?? null;
    const [first, ...others] = problem.diagnostics.filter(({ severity }) => severity === 'error');
    if (first === undefined) return problem.message;
    const more = others.length === 0 ? '' : ` (and ${counted(others.length, 'more problem')})`;
    return `${first.file}:${first.line}:${first.column}: ${first.message}${more}`;
  }

  /** Reads the files again if they have changed; whether they, or what is wrong with them, are others than before. */
  async refresh(): Promise<boolean> {
    const before = this.problemText;
    let stamp: string | null = null;
    try {
      stamp = await this.#source.stamp();
      if (stamp === this.#stamp && this.values.size <= this.#mostValues) return false;
      const loaded = await this.#source.load();
      // Half of a file that is being written may be a file.
      const after = await this.#source.stamp();
      if (after !== stamp && this.#stamp !== null) return false;
      this.#stamp = after;
      this.#take(loaded);
      this.problem = null;
      return true;
    } catch (thrown) {
      this.problem = asSetpointError(thrown);
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

  #take({ targets, declared, commit, values }: LoadedFiles): void {
    this.areTaken = true;
    this.targets = targets;
    this.declared = declared;
    this.commit = commit;
    this.values = values;
    this.#mostValues = 2 * values.size + MOST_REPLACED;
  }

  /**
   * Files that are wrong in themselves are not read a third time, until one of them changes; of the first time it is not known whether
   * somebody was writing. What cannot be read, or fetched, may be right again without a change.
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

/** How long a branch is not asked again, in milliseconds. */
const ASKED_EVERY = 60_000;

/** A branch, and the commit that it must continue: the one that was used last, also before a restart, or one that is named. */
export interface Followed {
  readonly branch: GitBranch;
  readonly commits: FollowedCommits;
  /** What the branch must continue after it was rewritten on purpose. */
  readonly from?: string | undefined;
}

/**
 * The files of -f as the newest commit of a branch has them; their paths are those in the repository. A branch that was rewritten is not
 * followed: the last commit stays in force.
 */
export function branchSource(
  options: SessionRequest,
  { branch, commits, from }: Followed,
  clock: Clock,
  state: string,
): SettingsSource {
  let current: string | null = null;
  let tip: string | null = null;
  let asked: Promise<string> | null = null;
  /** When it is asked again: so long after an answer, or none, came. */
  let askAt = Number.POSITIVE_INFINITY;
  /** What the branch must continue. A commit that is named counts once: what was used since then counts later. */
  const last = (): string | null => {
    const kept = commits.of(branch);
    return from === undefined || from === kept?.from ? (kept?.commit ?? null) : from;
  };
  const ask = async (): Promise<string> => {
    const { commit } = await branch.tip();
    current ??= last();
    if (current !== null) await branch.forward(current, commit);
    tip = commit;
    return commit;
  };
  const loadOf = async (commit: string): Promise<LoadedFiles> => {
    const root = await branch.files(commit);
    const file = [options.file ?? DEFAULT_FILE].flat().map((path) => join(root, path));
    return { ...(await loadSession({ ...options, file, checkout: { root, state } })), commit };
  };
  return {
    kind: 'git',
    commits: branch.commits,
    // An answer holds until it is asked again, also that the branch cannot be followed.
    stamp: () => {
      if (asked === null || clock.monotonic() >= askAt) {
        askAt = Number.POSITIVE_INFINITY;
        asked = ask().finally(() => {
          askAt = clock.monotonic() + ASKED_EVERY;
        });
      }
      return asked;
    },
    load: async () => {
      const commit = tip ?? (await branch.tip()).commit;
      const loaded = await loadOf(commit);
      await commits.keep(branch, { commit, from: from ?? commits.of(branch)?.from ?? null });
      current = commit;
      return loaded;
    },
    loadLast: async () => {
      const kept = commits.of(branch);
      // One that was named since then must come first.
      const isOver = kept === null || (from !== undefined && from !== kept.from);
      return isOver ? null : loadOf(kept.commit);
    },
    listen: () => () => {},
  };
}

/** The files of -f, where they are. `commitOf` is their commit, or null. */
export function filesSource(
  options: SessionRequest,
  commitOf: (path: string) => Promise<string | null>,
): SettingsSource {
  const folders = [...new Set(filesOf(options).map((path) => dirname(path)))];
  /** The bases of those of -f, as the last load has found them. */
  let bases: readonly string[] = [];
  const besides = options.policy === undefined ? [] : [options.policy];
  return {
    kind: 'files',
    commits: null,
    stamp: async () => {
      // What is read later at once is asked for here beside everything else: a disk that hangs is found out by that.
      for (const folder of folders) await fileStamp(folder);
      const files = filesOf(options);
      const stamps: string[] = [];
      // One after another: of what hangs, one at a time keeps others from their disks.
      for (const path of [...files, ...files.map(lockPath), ...besides, ...bases])
        stamps.push(await fileStamp(path));
      return JSON.stringify(stamps);
    },
    load: async () => {
      bases = basesOf(options);
      const loaded = await loadSession(options);
      const [first] = loaded.targets;
      return { ...loaded, commit: first === undefined ? null : await commitOf(first.file) };
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
