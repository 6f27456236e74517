import type { SetpointError } from './error.ts';
import type { Path } from './path.ts';
import type { ObservedState } from './state.ts';
import type { Secret } from './secret.ts';
import type { WatchState } from './watch.ts';

/**
 * Reads the settings: of a service, or of a snapshot.
 *
 * 1. Must `observe` once for each call, and throw a SetpointError if the answer cannot be read or believed.
 * 2. Must stop when the signal fires.
 *
 * @example
 * const fixed: Observer = { observe: async () => state };
 */
export interface Observer<O extends ObservedState | null = ObservedState> {
  /** Reads the settings once. Throws a SetpointError if they cannot be read or believed. */
  observe(signal?: AbortSignal): Promise<O>;
}

/**
 * The result of a write. `stored`: the service has confirmed it. `not-applied`: the answer shows that it did not take effect; `retry` is
 * whether the same write may be tried again, `reached` whether the service received it. `ambiguous`: it may have taken effect, and only
 * another observation shows.
 */
export type WriteAnswer = { readonly kind: 'stored' } | WriteFailure;

export type WriteFailure =
  | {
      readonly kind: 'not-applied';
      readonly retry: boolean;
      readonly reached: boolean;
      readonly error: SetpointError;
    }
  | { readonly kind: 'ambiguous'; readonly error: SetpointError };

/**
 * Time. Budgets count on `monotonic`; only documents use `now`. Both in milliseconds.
 *
 * 1. Must return from `now` the milliseconds since 1970.
 * 2. Must return from `monotonic` milliseconds that never go back.
 * 3. Must have `sleep` resolve after the time, or at once when the signal fires.
 *
 * @example
 * const system: Clock = {
 *   now: () => Date.now(),
 *   monotonic: () => performance.now(),
 *   sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
 * };
 */
export interface Clock {
  /** Returns the time in milliseconds since 1970. */
  now(): number;
  /** Returns milliseconds that never go back, from any start. */
  monotonic(): number;
  /** Resolves after a number of milliseconds, or rejects when the signal fires. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The knowledge about the secret last written under a path: the same value, another one, or nothing. */
export interface Fingerprints {
  compare(path: Path, value: string): 'same' | 'different' | 'none';
}

/**
 * Fingerprints of the secrets last written to one service.
 *
 * 1. Must `forget` durably before a write is sent, and return what puts the fingerprints back.
 * 2. Must `remember` only what a service has confirmed.
 * 3. Must never store a value itself.
 *
 * @example
 * const none: FingerprintStore = {
 *   compare: () => 'none',
 *   forget: async () => async () => {},
 *   remember: async () => {},
 * };
 */
export interface FingerprintStore extends Fingerprints {
  /**
   * Drops the fingerprints at some paths and below, durably: once it resolves, a crash does not bring them back. The result puts them
   * back, for a write that surely had no effect. Throws output-failed if the file cannot be replaced.
   */
  forget(paths: readonly Path[]): Promise<() => Promise<void>>;
  /** Keeps the fingerprints of what was written, at a time in milliseconds since 1970. Throws output-failed if it cannot. */
  remember(written: readonly WrittenSecret[], at: number): Promise<void>;
}

/** The environment variables of a process. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** A value that a program gives. */
export interface SecretPath {
  /** The name of a command of SETPOINT_SECRET_COMMANDS. */
  readonly command: string;
  /** The path that the command is asked for. */
  readonly path: string;
}

/** Returns the value of a secret for a program that uses the library; null if there is none. */
export type SecretResolver = (name: string, path: string) => string | null | Promise<string | null>;

/** A secret as references and lists of the environment name it. */
export function secretName({ command, path }: SecretPath): string {
  return `${command}/${path}`;
}

/**
 * The source of the values of references.
 *
 * 1. Must return undefined from `variable` if it is not set.
 * 2. Must return a `problem` from `file`, in words without a value, if the file may not be read.
 * 3. May set `withheld` if nothing is resolved, as for a snapshot.
 * 4. May have `resolved` record each value, so that it is masked.
 * 5. May answer a `secret` that a program was asked for before.
 * 6. May have `requested`; then it is asked nothing else.
 *
 * @example
 * const source: ReferenceSource = {
 *   variable: (name) => process.env[name],
 *   file: () => ({ problem: 'no file is read here' }),
 * };
 */
export interface ReferenceSource {
  /** References are not resolved: each is a value that is not known here. */
  readonly withheld?: boolean;
  /** Called with each value that a text with references resolves to, and the text as the file writes it. */
  readonly resolved?: (value: string, ref: string) => void;
  variable(name: string): string | undefined;
  /** The text of a file, one trailing newline dropped, or why it may not be read. */
  file(path: string): { readonly text: string } | { readonly problem: string };
  /** Returns the answer of a secret command, or its problem; undefined if it was not asked. A source without it asks none. */
  secret?(secret: SecretPath): { readonly text: string } | { readonly problem: string } | undefined;
  /**
   * The value that an object of a cluster requests where this text stands; null for any other text, which is data. A source that has this
   * is asked nothing else, and no text is parsed.
   */
  readonly requested?: (text: string) => RequestedValue | null;
}

/** A key of a Secret that an object of a cluster requests for itself: of its own namespace, whatever its texts contain. */
export interface SecretRequest {
  readonly namespace: string;
  /** The origin that the run sends it to: that of the server that the object names. */
  readonly origin: string;
  /** The name of the Secret. */
  readonly name: string;
  readonly key: string;
}

/** A requested value, or the reason why it is missing. `ref` is the request in the words of messages. */
export type RequestedValue = { readonly ref: string } & (
  | { readonly text: string }
  | { readonly problem: string }
);

/**
 * Digests that show whether two values are the same, for documents that are saved: under a salt of the document's own.
 * `quick` is for literals of the committed file, `slow` for what must not be guessed.
 */
export interface Digests {
  readonly salt: string;
  readonly quick: (text: string) => string;
  readonly slow: (text: string) => Promise<string>;
}

/** A secret that was written under a path; null if it was cleared. */
export interface WrittenSecret {
  readonly path: Path;
  readonly value: Secret | null;
}

/** The traced data of an environment's part of a document: words and numbers, never a value, a path or a message. */
export interface TracedPart {
  readonly status: string;
  readonly dialect: string | null;
  readonly changes: readonly unknown[];
  readonly error: { readonly code: string } | null;
}

/** Reports work and its duration to an SDK of OpenTelemetry, with the requests that are sent meanwhile. Each calls `work` once. */
export interface Tracer {
  /** The run of a command, below the span that the variables name. `exitOf` returns the code it ends with. */
  command<T>(
    name: string,
    env: Variables,
    work: () => Promise<T>,
    exitOf: (ended: T) => number,
  ): Promise<T>;
  /** Traces a controller's turn on one environment, by the files of a commit. `state` is read before it and after. */
  turn<T>(state: () => WatchState, commit: string | null, work: () => Promise<T>): Promise<T>;
  /** One environment of a plan or an apply. */
  environment<T extends TracedPart>(
    task: 'plan' | 'apply',
    name: string,
    work: () => Promise<T>,
  ): Promise<T>;
  /** A part of that, which reads from the service of an environment. */
  read<T>(what: string, name: string, work: () => Promise<T>): Promise<T>;
  /** A part of that, which writes. */
  write<T extends { readonly kind: string } | WriteFailure>(
    what: string,
    name: string,
    work: () => Promise<T>,
  ): Promise<T>;
  /** Records how the running command failed, by a code. */
  failed(code: string): void;
  /** Records the commit of the files for the running command; null if it is not known. */
  revision(commit: string | null): void;
  /** Has the SDK send what it holds; resolves when it has, when it takes too long, or when the signal fires. */
  flush(signal: AbortSignal): Promise<void>;
}
