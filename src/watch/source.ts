import { watch, type FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asSetpointError, type SetpointError } from '../model/error.ts';
import type { Target } from '../desired/target.ts';
import { filesOf } from '../operations/load.ts';
import type { Options } from '../operations/options.ts';
import { loadSession } from '../operations/session.ts';

/** The environments that the files of now declare, or those of the last files that could be used. */
export interface Files {
  readonly targets: readonly Target[];
  /** The commit that they are of; null if that is not known. */
  readonly commit: string | null;
  /** Why the files of now are not used; null if they are. */
  readonly problem: SetpointError | null;
}

/** Where settings files come from. Throws a SetpointError if they cannot be used. */
export interface Source {
  /** Changes when the files do; cheap to ask. */
  stamp(): Promise<string>;
  load(): Promise<Pick<Files, 'targets' | 'commit'>>;
  /** Calls `changed` when the files may have changed, as far as the system tells; what it returns ends that. */
  listen(changed: () => void): () => void;
}

/** Files that are kept up to date. One that is broken leaves the last good ones in force. */
export class CurrentFiles implements Files {
  targets: readonly Target[] = [];
  commit: string | null = null;
  problem: SetpointError | null = null;
  readonly #source: Source;
  #stamp: string | null = null;

  constructor(source: Source) {
    this.#source = source;
  }

  /** Reads the files again if they have changed; whether they, or what is wrong with them, are others than before. */
  async refresh(): Promise<boolean> {
    const before = this.problem?.message ?? null;
    try {
      const stamp = await this.#source.stamp();
      if (stamp === this.#stamp) return false;
      const { targets, commit } = await this.#source.load();
      this.#stamp = stamp;
      this.targets = targets;
      this.commit = commit;
      this.problem = null;
      return true;
    } catch (thrown) {
      this.problem = asSetpointError(thrown);
      return this.problem.message !== before;
    }
  }
}

/** The files of -f, where they are. `commitOf` is their commit, or null. */
export function filesSource(
  options: Options,
  commitOf: (path: string) => Promise<string | null>,
): Source {
  /** Files besides those of -f that the last load read: bases and locks. */
  let others: readonly string[] = [];
  return {
    stamp: async () => {
      const named = [
        ...filesOf(options),
        ...(options.policy === undefined ? [] : [options.policy]),
      ];
      return JSON.stringify(await Promise.all([...named, ...others].map(stampOf)));
    },
    load: async () => {
      const targets = await loadSession(options);
      const [first] = targets;
      others = [...new Set(targets.flatMap(({ base }) => base?.file.path ?? []))];
      return { targets, commit: first === undefined ? null : await commitOf(first.file) };
    },
    listen: (changed) =>
      listenTo([...new Set(filesOf(options).map((path) => dirname(path)))], changed),
  };
}

async function stampOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  return found === null ? `${path} -` : `${path} ${found.mtimeMs} ${found.size} ${found.ino}`;
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
