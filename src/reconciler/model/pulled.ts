import type { DialectName } from './dialect.ts';
import type { ErrorReport } from './error.ts';

/** The schema that one environment's server reported. */
export interface PulledSchema {
  readonly name: string;
  readonly origin: string | null;
  /** Null if the server could not be read. */
  readonly dialect: DialectName | null;
  readonly release: string | null;
  /** The release whose schema this setpoint has; null if servers of the dialect have no schemas. */
  readonly known: string | null;
  /** Members whose values setpoint could not judge: of another type than it knows, or under another name. */
  readonly left: readonly string[];
  readonly error: ErrorReport | null;
}

/** The update of a lock. The dialect precedes the names of members. */
export interface PulledLock {
  readonly file: string;
  /** `absent`: there was nothing to write. */
  readonly status: 'written' | 'unchanged' | 'absent';
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export interface PulledSchemas {
  readonly files: readonly PulledLock[];
  readonly environments: readonly PulledSchema[];
}

/** A line of a settings file, and how it is shown: possible secrets are masked. */
export interface ShownLine {
  /** The line with everything in it. */
  readonly text: string;
  /** The line with possible secrets masked. */
  readonly shown: string;
}

/** A file before and after an edit, line by line. */
export interface FileEdit {
  /** The path of the file. */
  readonly file: string;
  /** The lines before. */
  readonly before: readonly ShownLine[];
  /** The lines after. */
  readonly after: readonly ShownLine[];
}
