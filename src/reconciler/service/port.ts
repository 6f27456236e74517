import { SetpointError } from '../model/error.ts';
import type { EnvironmentObserved } from '../model/documents.gen.ts';
import type { WriteFailure } from '../model/ports.ts';
import type { Connection } from './connect.ts';
import type { TimeLimits } from './request.ts';

/** What the reader of a resource is made of. */
export interface Reading {
  readonly connection: Connection;
  /** Until when all that is read for the settings may take. */
  readonly limits: TimeLimits;
  /** Whether secrets that the service shows on request are asked for, to be compared. */
  readonly reveals?: boolean;
  /** What every read goes through. `what` it reads, in a word or two; `aside` if its time does not count towards the limits. */
  readonly read: <T>(what: string, work: () => Promise<T>, time?: 'aside') => Promise<T>;
}

/** What the writer of a resource is made of. */
export interface Writing {
  readonly connection: Connection;
  readonly limits: TimeLimits;
  /** What every request that writes goes through: it is sent only if nothing more may keep it from that. `what` it does, in a word or two. */
  readonly send: <A extends { readonly kind: string }>(
    what: string,
    work: () => Promise<A>,
  ) => Promise<A | WriteFailure>;
}

/** What `get` saved of a service, and when, as ISO 8601. */
export interface Saved {
  readonly environment: EnvironmentObserved;
  readonly at: string;
}

/** How a resource is read: of a service, or of what was saved of one. */
export interface ReaderOf<R> {
  readonly open: (reading: Reading) => R;
  readonly saved: (saved: Saved) => R;
}

/** How a resource is written. A command that only reads makes no writer. */
export type WriterOf<W> = (writing: Writing) => W;

/** A list that a snapshot does not contain is not taken for an empty one. */
export function notInSnapshot(message: string, hint?: string): SetpointError {
  return new SetpointError('not-in-snapshot', message, hint === undefined ? {} : { hint });
}
