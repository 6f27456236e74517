import { SetpointError } from '../model/error.ts';
import type { EnvironmentObserved } from '../model/documents.gen.ts';
import type { WriteFailure } from '../model/ports.ts';
import type { Connection } from './connect.ts';
import type { TimeLimits } from './request.ts';

/** The input of the reader of a resource. */
export interface Reading {
  readonly connection: Connection;
  /** Until when all that is read for the settings may take. */
  readonly limits: TimeLimits;
  /** True if secrets that the service shows on request are requested for comparison. */
  readonly reveals?: boolean;
  /** Wraps every read. `what` it reads, in a word or two; `aside` if its time does not count towards the limits. */
  readonly read: <T>(what: string, work: () => Promise<T>, time?: 'aside') => Promise<T>;
}

/** The input of the writer of a resource. */
export interface Writing {
  readonly connection: Connection;
  readonly limits: TimeLimits;
  /** Wraps every request that writes: it is sent only if no check prevents it. `what` it does, in a word or two. */
  readonly send: <A extends { readonly kind: string }>(
    what: string,
    work: () => Promise<A>,
  ) => Promise<A | WriteFailure>;
}

/** The answers that `get` saved of a service, and the time, as ISO 8601. */
export interface SavedAnswers {
  readonly environment: EnvironmentObserved;
  readonly at: string;
}

/**
 * The reader of a resource: from a service, or from a saved document.
 *
 * 1. Must pass every request of `open` through `reading.read`.
 * 2. Must have `saved` answer the same from a document, or throw `notInSnapshot`.
 *
 * @example
 * export const SPECS: ResourceReader<SpecReader> = {
 *   open: ({ connection, read }) => ({ list: () => read('specs', () => listSpecs(connection)) }),
 *   saved: ({ environment }) => ({ list: async () => environment.specs }),
 * };
 */
export interface ResourceReader<R> {
  readonly open: (reading: Reading) => R;
  readonly saved: (saved: SavedAnswers) => R;
}

/** The writer of a resource. A command that only reads creates none. */
export type ResourceWriter<W> = (writing: Writing) => W;

/** A list that a snapshot does not contain is not taken for an empty one. */
export function notInSnapshot(message: string, hint?: string): SetpointError {
  return new SetpointError('not-in-snapshot', message, hint === undefined ? {} : { hint });
}
