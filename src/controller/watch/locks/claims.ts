import { createHash } from 'node:crypto';

/**
 * What somebody claims: a lock, and who holds it; null is nobody. `version` changes with every claim of that lock and never comes
 * back.
 */
export interface Claim<Version> {
  readonly version: Version;
  readonly holder: string | null;
}

/**
 * What is seen of another holder. `alive`: its heartbeat, whose text changes with each beat. `missing`: it has none, or it cannot be
 * known. `ended`: it has said so, or its process is gone for certain.
 */
export type HeartbeatState =
  | { readonly kind: 'alive'; readonly text: string; readonly ttl: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'ended' };

/** Milliseconds. */
export interface Pace {
  /** How long a heartbeat stands still before others take its holder for dead. */
  readonly ttl: number;
  readonly renewEvery: number;
  /** How long after its last heartbeat a holder stops believing in its locks: less than `ttl`, by more than clocks drift. */
  readonly lostAfter: number;
}

/**
 * Where claims and heartbeats are kept. One process has one heartbeat, whatever it holds. Every function throws a SetpointError
 * (lock-failed) if the place does not answer.
 */
export interface ClaimStore<Version> {
  readonly pace: Pace;
  /** Starts the heartbeat of a holder that has never been there before, and returns its name. */
  begin(): Promise<string>;
  /** Renews it. False if it is not there any more; then it never comes back. */
  beat(holder: string): Promise<boolean>;
  /** Says that a holder holds nothing any more. */
  end(holder: string): Promise<void>;
  heartbeatOf(holder: string): Promise<HeartbeatState>;
  /**
   * Removes the heartbeat of a dead holder, so that its next beat fails. False if it has beaten since the state was seen: a beat
   * succeeds or the removal does, never both.
   */
  removeHeartbeat(holder: string, state: HeartbeatState): Promise<boolean>;
  /** The claim in force; null if nobody has claimed the lock yet. Many are read at a bounded rate. */
  read(name: string): Promise<Claim<Version> | null>;
  /** Puts a claim into the place of the one that was read. Null if that was not in force any more: somebody else was quicker. */
  claim(
    name: string,
    former: Claim<Version> | null,
    holder: string | null,
  ): Promise<Claim<Version> | null>;
  close(): Promise<void>;
}

/** How people are told who holds a lock, made of a holder's name: `HOST_PROCESS_UUID`. */
export function describeHolder(holder: string): string {
  const [, host, process] = /^(.+)_(\d+)_[\da-f-]{36}$/.exec(holder) ?? [];
  return host === undefined ? 'a controller that is not known' : `process ${process} on ${host}`;
}

/** The name of a holder that has never been there. */
export function newHolder(host: string, process: number, uuid: string): string {
  return `${host}_${process}_${uuid}`;
}

const LONGEST = 120;

/**
 * The name of a lock as the name of a file, on every file system: no two locks have the same, also when capitals do not count
 * there. What is too long for one is its digest.
 */
export function fileName(lock: string): string {
  const written = [...Buffer.from(lock, 'utf8')].map((byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z\d_-]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`;
  });
  const text = written.join('');
  return text.length <= LONGEST ? `lock-${text}` : `digest-${digest(lock)}`;
}

/** The name of a lock as the name of an object of Kubernetes: what can be read of it, and its digest. */
export function objectName(lock: string): string {
  const readable = lock
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  return `setpoint-lock-${readable === '' ? '' : `${readable}-`}${digest(lock).slice(0, 32)}`;
}

function digest(lock: string): string {
  return createHash('sha256').update(lock).digest('hex');
}
