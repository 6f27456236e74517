import type { Clock } from '../model/ports.ts';
import type { Dispatcher } from '../service/connect.ts';

/** What every operation takes. Nothing is read from the process: the environment is handed in. */
export interface Options {
  /** The settings file, or several: each is a target of its own. */
  readonly file?: string | readonly string[] | undefined;
  /** The settings themselves, in place of a file. */
  readonly text?: string | undefined;
  /** The environment's variables: what references name, and SETPOINT_ALLOWED_ORIGINS and the like. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The targets or environments to take, in this order; all of them where it is absent. */
  readonly targets?: readonly string[] | undefined;
  /** What named the targets, for errors, if that is not plain: a variable, an input. */
  readonly targetsFrom?: string | undefined;
  /** An address in place of the file's. */
  readonly server?: string | undefined;
  /** Milliseconds for one request; a target's settings take four times as long at most. Default: 30,000. */
  readonly timeout?: number | undefined;
  /** A JSON Schema file that what each target declares must fit, references as they are written. */
  readonly policy?: string | undefined;
  /** The file as it was last applied: with it, every change tells whether the file has moved, the service, or both. */
  readonly base?: string | undefined;
  /** Bytes a settings file may have. Default: 1 MiB; at most 16 MiB. */
  readonly maxFileSize?: number | undefined;
  /** How many targets are worked on side by side. Default: 8 for what only reads, 1 for apply. */
  readonly parallel?: number | undefined;
  /** undici's dispatcher, in place of the network. */
  readonly dispatcher?: Dispatcher | undefined;
  readonly clock?: Clock | undefined;
  /** Milliseconds that sandboxes are waited for until they run; 0 does not wait. Default: 300,000. */
  readonly wait?: number | undefined;
  /** Stops the operation: before a write at once, during one after it is verified. Reason 'SIGTERM' makes it exit 143. */
  readonly signal?: AbortSignal | undefined;
}

export interface PlanRequest extends Options {
  /** Secrets to plan a write for though nothing tells that they differ: paths, or 'all'. */
  readonly rotate?: 'all' | readonly string[] | undefined;
  /** A saved snapshot, in place of the services: nothing is sent, and no variable is looked up. */
  readonly snapshot?: string | undefined;
  /** Guards to lift for this run. */
  readonly allow?: readonly string[] | undefined;
  /** Whether the document gets the digests without which it is no approval once it is saved. Default: true. */
  readonly digests?: boolean | undefined;
  /** Milliseconds that a saved snapshot may be old. Without it, one that is older than a day is a warning. */
  readonly maxAge?: number | undefined;
}

export const DEFAULT_TIMEOUT = 30_000;
export const DEFAULT_WAIT = 300_000;
/** Targets that are looked at at a time. */
export const SIDE_BY_SIDE = 8;
export const DEFAULT_FILE = 'settings.yaml';
export const DEFAULT_FILE_SIZE = 1024 * 1024;
export const LARGEST_FILE_SIZE = 16 * 1024 * 1024;
