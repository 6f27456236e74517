import { join } from 'node:path';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { SessionRequest } from '../../reconciler/operations/session.ts';
import { commitOf } from '../../reconciler/host/git-status.ts';
import { Controller } from './controller.ts';
import { Journal, JOURNAL_LIMITS, type JournalLimits } from './journal/journal.ts';
import { CurrentFiles, filesSource, type Source } from './source.ts';
import { startOfSystem } from './locks/process-identity.ts';
import { SuspensionFile } from './suspension-file.ts';
import type { WatchOptions } from './watch-options.ts';

export interface ControllerRequest extends Pick<
  WatchOptions,
  'interval' | 'parallel' | 'approved' | 'abandon' | 'report' | 'locks'
> {
  readonly request: SessionRequest;
  /** The folder of the journal, the locks and the suspensions. */
  readonly data: string;
  readonly clock: Clock;
  /** A number from 0 to 1. Default: Math.random. */
  readonly random?: (() => number) | undefined;
  /** Default: the files of the request, where they are. */
  readonly source?: Source | undefined;
  readonly limits?: JournalLimits | undefined;
  /** Default: the one of the data folder. */
  readonly journal?: Journal | undefined;
  /** Default: as this machine tells it. */
  readonly boot?: (() => Promise<string | null>) | undefined;
}

/** A controller over a data folder; `run` starts it. */
export function openController(options: ControllerRequest): Controller {
  const { request, data, clock, limits = JOURNAL_LIMITS, random = Math.random } = options;
  const source = options.source ?? filesSource(request, (path) => commitOf(path, request.env));
  return new Controller({
    ...options,
    random,
    boot: options.boot ?? startOfSystem,
    source,
    files: new CurrentFiles(source),
    journal: options.journal ?? new Journal(data, () => clock.now(), limits),
    suspensions: new SuspensionFile(data),
  });
}

/** Where the locks of a data folder are. */
export function lockFolder(data: string): string {
  return join(data, 'locks');
}
