import type { SetpointError } from './error.ts';
import type { Path } from './path.ts';
import type { ObservedState } from './state.ts';
import type { ValueRecord } from './value.ts';

/** Reads the service. A command that only reads is handed nothing else. */
export interface Observer {
  /** One look at the settings. Throws a SetpointError where the service cannot be read or believed. */
  observe(signal?: AbortSignal): Promise<ObservedState>;
}

/**
 * Whether a write took effect. `stored`: the service said so. `not-applied`: it surely did not; `retry` tells whether the
 * same write may be tried again. `ambiguous`: it may have, and only another look can tell.
 */
export type WriteAnswer =
  | { readonly kind: 'stored' }
  | { readonly kind: 'not-applied'; readonly retry: boolean; readonly error: SetpointError }
  | { readonly kind: 'ambiguous'; readonly error: SetpointError };

/** Writes the service. The only thing that does. */
export interface Actuator {
  /** Sends the whole record once. Never retries by itself, and never throws for what a service can do. */
  store(record: ValueRecord): Promise<WriteAnswer>;
}

/** Time. Budgets count on `monotonic`; only documents use `now`. Both in milliseconds. */
export interface Clock {
  now(): number;
  monotonic(): number;
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/**
 * What is known of the secret last written under a path: the same value, another one, or nothing. Until fingerprints are
 * kept, nothing is known of any.
 */
export interface Fingerprints {
  compare(path: Path, value: string): 'same' | 'different' | 'none';
}

/** Where the values of references come from. */
export interface ReferenceSource {
  variable(name: string): string | undefined;
  /** The text of a file, one trailing newline dropped, or why it may not be read. */
  file(path: string): { readonly text: string } | { readonly problem: string };
}
