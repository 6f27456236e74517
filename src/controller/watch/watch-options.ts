import type { PlanDocument } from '../../reconciler/model/plan.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { SessionRequest } from '../../reconciler/operations/session.ts';
import type { ControllerNote } from './conditions.ts';
import type { Journal } from './journal/journal.ts';
import type { Locks } from './locks/locks.ts';
import type { CurrentFiles, SettingsSource } from './source.ts';
import type { SuspensionFile } from './suspension-file.ts';

/** How a controller watches, and what it works with. */
export interface WatchOptions {
  /** How environments are read; its files and names are those of `files`. */
  readonly request: SessionRequest;
  readonly source: SettingsSource;
  readonly files: CurrentFiles;
  readonly journal: Journal;
  readonly suspensions: SuspensionFile;
  readonly locks: Locks;
  readonly clock: Clock;
  /** Which start of the machine this is; the monotonic clock counts from it. Null if it does not tell. */
  readonly boot: () => Promise<string | null>;
  /** A number from 0 to 1. */
  readonly random: () => number;
  /** Milliseconds between two reads of an environment that does not say. */
  readonly interval: number;
  /** How many environments are read or healed at a time. */
  readonly parallel: number;
  /** How long an environment must stay as declared after an edit before the next ones follow, in milliseconds; 0 lets it reach all at once. Default: a minute. */
  readonly soak?: number | undefined;
  /** How many of the environments reached by an edit may fail before it reaches no more: a number, or a share. Default: 10%. */
  readonly maxFailures?: number | string | undefined;
  readonly approved?: PlanDocument | undefined;
  /** Gives up what is being written; the signal of the request lets it finish. */
  readonly abandon: AbortSignal;
  /** Told again and again of an environment that waits too long for its turn. */
  readonly late?: ((name: string) => void) | undefined;
  /** What is wrong with the controller itself, and what is right again. */
  readonly report: (line: ControllerNote) => void;
}
