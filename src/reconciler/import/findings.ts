import type { Path } from '../model/path.ts';
import type { Foreign, ForeignRecord } from './foreign.ts';

/** Something of a file, and where a settings file declares it: `settings` and a path, or a block and the name of an item. */
export interface Finding {
  readonly to: Path;
  readonly value: Foreign;
  /** The keys that lead to it in its file. */
  readonly at: Path;
}

/** Something of a file that a settings file does not declare. */
export interface NotTaken {
  readonly at: Path;
  readonly reason: string;
}

/** What a file has for a settings file. */
export interface Findings {
  readonly taken: Finding[];
  readonly left: NotTaken[];
}

/** Why something is not taken. */
export const NOT_TAKEN = {
  other: 'no setting of the service',
  process: 'configures the process of the server, not its settings',
  key: 'the key of the server itself',
  editor: 'only the editor knows what it stands for',
  off: 'switched off there',
  shape: 'not of the form that it has there',
  name: 'its name may hold a secret',
  sensitive: 'may hold a secret, where a settings file takes no reference',
  unfit: 'a settings file cannot hold it',
  unit: 'seconds to some agents, milliseconds to others; the settings have seconds',
  absent: 'not there',
} as const;

/** Gathers the findings of one file. */
export class Gathering implements Findings {
  readonly taken: Finding[] = [];
  readonly left: NotTaken[] = [];

  take(to: Path, value: Foreign, at: Path): void {
    this.taken.push({ to, value, at });
  }

  leave(at: Path, reason: string): void {
    this.left.push({ at, reason });
  }

  /** Leaves every member of a map that is not known. */
  leaveOthers(record: ForeignRecord, known: ReadonlySet<string>, at: Path, reason: string): void {
    for (const key of Object.keys(record)) if (!known.has(key)) this.leave([...at, key], reason);
  }
}
