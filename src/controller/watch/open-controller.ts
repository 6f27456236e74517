import { join } from 'node:path';
import type { Clock } from '../../reconciler/model/ports.ts';
import { findFileCommit } from '../../reconciler/host/git-source.ts';
import { describeCommit } from '../../reconciler/host/git-commit.ts';
import { SharedSecrets } from '../../reconciler/host/shared-secrets.ts';
import { SYSTEM_CLOCK } from '../../reconciler/host/this-process.ts';
import type { SessionRequest } from '../../reconciler/operations/session.ts';
import { Controller } from './controller.ts';
import { Journal, JOURNAL_LIMITS, type JournalLimits } from './journal/journal.ts';
import { fileLocks, startOfSystem } from './locks/file-locks.ts';
import { CurrentFiles, filesSource, type SettingsSource } from './source.ts';
import { SuspensionFile } from './suspension-file.ts';
import type { WatchOptions } from './watch-options.ts';

/** Milliseconds between two reads of an environment without its own interval. */
export const INTERVAL = 300_000;

type Given =
  | 'interval'
  | 'late'
  | 'parallel'
  | 'approved'
  | 'abandon'
  | 'report'
  | 'locks'
  | 'soak'
  | 'maxFailures';

/**
 * The options of a controller. `interval` is the milliseconds between two reads of an environment without its own, `parallel` how many are
 * read or healed at a time, `approved` a saved plan that healing must not go beyond; `abandon` gives up writes under way, and `report`
 * receives the problems of the controller itself.
 */
export interface ControllerRequest extends Readonly<{
  [Name in Given]?: WatchOptions[Name] | undefined;
}> {
  /** The subject to watch: files, names of environments, variables. Its signal ends `run` when the write under way is finished. */
  readonly request: SessionRequest;
  /** The folder of the journal, the locks and the suspensions. */
  readonly data: string;
  /** Default: this machine's. */
  readonly clock?: Clock | undefined;
  /** A number from 0 to 1. Default: Math.random. */
  readonly random?: (() => number) | undefined;
  /** Default: the files of the request, where they are. */
  readonly source?: SettingsSource | undefined;
  /** The limits on the size of the journal. Default: those of `setpoint watch`. */
  readonly limits?: JournalLimits | undefined;
  /** Default: the one of the data folder. */
  readonly journal?: Journal | undefined;
  /** Default: the value of this machine. */
  readonly boot?: (() => Promise<string | null>) | undefined;
}

/**
 * A controller over a data folder; `run` starts it. By default it reads every 5 minutes and 8 environments at a time, and locks with files.
 */
export function openController(options: ControllerRequest): Controller {
  const { data, clock = SYSTEM_CLOCK, limits = JOURNAL_LIMITS, interval = INTERVAL } = options;
  const { env, signal, resolveSecret } = options.request;
  const request = {
    sharedSecrets: new SharedSecrets(env, clock, interval, signal, resolveSecret),
    ...options.request,
  };
  const source =
    options.source ??
    filesSource(
      request,
      (path) => findFileCommit(path, request.env),
      (path, commit) => describeCommit(path, commit, request.env),
    );
  return new Controller({
    ...options,
    request,
    clock,
    interval,
    parallel: options.parallel ?? 8,
    abandon: options.abandon ?? new AbortController().signal,
    report: options.report ?? (() => {}),
    locks: options.locks ?? fileLocks(lockFolder(data), clock),
    random: options.random ?? Math.random,
    boot: options.boot ?? startOfSystem,
    source,
    files: new CurrentFiles(source),
    journal: options.journal ?? new Journal(data, () => clock.now(), limits),
    suspensions: new SuspensionFile(data),
  });
}

/** Returns the folder of the locks in a data folder. */
export function lockFolder(data: string): string {
  return join(data, 'locks');
}
