import type { PlanDocument } from '../../reconciler/model/plan.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { checkControllerRequest } from '../../reconciler/library/check-request.ts';
import type { PlanRequest } from '../../reconciler/operations/options.ts';
import { openController as open } from './open-controller.ts';
import type { ControllerNote } from './conditions.ts';
import type { Watching } from './watching.ts';

/** What a controller watches, as a plan takes it. Its signal ends `run`, after what is being written is finished. */
export type WatchRequest = Omit<
  PlanRequest,
  'text' | 'snapshot' | 'maxAge' | 'digests' | 'differences' | 'rotate' | 'maxFailures'
>;

/** The options of a controller. */
export interface ControllerRequest {
  /** What is watched: files, names of environments, variables. */
  readonly request: WatchRequest;
  /** The folder of the journal, the locks and the suspensions. */
  readonly data: string;
  /** Milliseconds between two reads of an environment that does not say. Default: 300,000. */
  readonly interval?: number | undefined;
  /** How many environments are read or healed in parallel. Default: 8. */
  readonly parallel?: number | undefined;
  /**
   * How long an environment must stay as declared after an edit before the next ones follow, in milliseconds; 0 lets the edit reach
   * all at once. Default: 60,000.
   */
  readonly soak?: number | undefined;
  /** How many of the environments reached by an edit may fail before it reaches no more: a number, or a share. Default: '10%'. */
  readonly maxFailures?: number | string | undefined;
  /** A saved plan that healing must not go beyond. */
  readonly approved?: PlanDocument | undefined;
  /** Gives up what is being written; the signal of the request lets it finish. */
  readonly abandon?: AbortSignal | undefined;
  /** Receives the problems of the controller itself, and their ends. */
  readonly report?: ((note: ControllerNote) => void) | undefined;
  /** Called again and again of an environment that waits too long for its turn. */
  readonly late?: ((environment: string) => void) | undefined;
  /** The time. Default: that of this machine. */
  readonly clock?: Clock | undefined;
}

/** A controller: it reads environments again and again, records what it finds, and heals where that is allowed. */
export interface Controller extends Watching {
  /**
   * Reads the files and the journal. What cannot be read, and may be later, is a condition. Throws a SetpointError if the files are
   * wrong, or there is no folder for the journal.
   */
  begin(): Promise<void>;
  /** Watches until the signal of the request fires; what is being written then is finished. Calls `begin` if it was not called. */
  run(): Promise<void>;
}

/** A controller over a data folder; `run` starts it. It locks environments with files in that folder. Throws a usage error for wrong options. */
export function openController(options: ControllerRequest): Controller {
  checkControllerRequest(options);
  return open(options);
}
