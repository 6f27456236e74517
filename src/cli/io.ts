import type { Readable, Writable } from 'node:stream';

/** Everything of the process that a command touches, so that a command is a function of it. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Stream;
  readonly stderr: Stream;
  /** Fires when the person or the system asks to stop; its reason is the signal's name. */
  readonly signal: AbortSignal;
  /** Fires when they ask again. */
  readonly abandon: AbortSignal;
}

export type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number };
