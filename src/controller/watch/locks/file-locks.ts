import { mkdir, open, readdir, readFile, rename, rm, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { SetpointError, systemCode } from '../../../reconciler/model/error.ts';
import type { Clock } from '../../../reconciler/model/ports.ts';
import { claimLocks } from './claim-locks.ts';
import {
  fileName,
  newHolder,
  type Claim,
  type ClaimStore,
  type Pace,
  type HeartbeatState,
  type OwnTime,
} from './presence.ts';
import type { Locks } from './locks.ts';
import { makeFolder } from '../../../reconciler/host/write-aside.ts';

const PACE: Pace = { ttl: 30_000, renewEvery: 5_000, lostAfter: 20_000 };

/**
 * Locks in a folder of this machine, or of a volume that several machines share and that creates a file for one of them only
 * (O_EXCL): all common file systems, NFS from version 3 on.
 */
export function fileLocks(
  folder: string,
  clock: Clock,
  { pace = PACE, time }: { readonly pace?: Pace; readonly time?: OwnTime } = {},
): Locks {
  return claimLocks(new ClaimFiles(folder, pace), clock, time);
}

/**
 * `holders/NAME` is a heartbeat, rewritten in place. `claims/LOCK/N` is the claim of generation N, and the highest is in effect: files are
 * only added at the top and removed below it, so that each generation has one holder. Only a process that could not finish a claim removes
 * it at the top, and then does not hold it.
 */
export class ClaimFiles implements ClaimStore<number> {
  readonly pace: Pace;
  readonly #holders: string;
  readonly #claims: string;
  readonly #folder: string;
  #self: ProcessIdentity | null = null;
  #holder = '';
  #beats = 0;

  constructor(folder: string, pace: Pace) {
    this.pace = pace;
    this.#folder = folder;
    this.#holders = join(folder, 'holders');
    this.#claims = join(folder, 'claims');
  }

  async begin(): Promise<string> {
    return this.#asking(async () => {
      this.#self = await ownProcess();
      const host = hostname().replaceAll(/[^A-Za-z\d.-]/g, '-');
      const holder = newHolder(host, process.pid, crypto.randomUUID());
      await makeFolder(this.#holders);
      await makeFolder(this.#claims);
      await createWhole(join(this.#holders, holder), this.#heartbeat('alive'));
      this.#holder = holder;
      return holder;
    });
  }

  beat(holder: string): Promise<boolean> {
    return this.#asking(async () => {
      const path = join(this.#holders, holder);
      const isWritten = await ignoreMissingLock(writeAtStart(path, 'r+', this.#heartbeat('alive')));
      // A removal in between has moved the file, and reads what was written or finds it there again.
      return (
        isWritten !== null && (await ignoreMissingLock(writeAtStart(path, 'r', null))) !== null
      );
    });
  }

  async end(holder: string): Promise<void> {
    await this.#asking(() =>
      ignoreMissingLock(writeAtStart(join(this.#holders, holder), 'r+', this.#heartbeat('ended'))),
    );
  }

  heartbeatOf(holder: string): Promise<HeartbeatState> {
    return this.#asking(async () => {
      const text = await ignoreMissingLock(readFile(join(this.#holders, holder), 'utf8'));
      if (text === null) return { kind: 'missing' };
      const { state, ttl, process } = parseHeartbeatText(text) ?? {};
      if (state === 'ended' || (process !== undefined && (await isGone(process)))) {
        return { kind: 'ended' };
      }
      return { kind: 'alive', text, ttl: ttl ?? this.pace.ttl };
    });
  }

  removeHeartbeat(holder: string, state: HeartbeatState): Promise<boolean> {
    return this.#asking(async () => {
      const path = join(this.#holders, holder);
      const aside = `${path}.${crypto.randomUUID()}`;
      if ((await ignoreMissingLock(rename(path, aside))) === null) return true;
      if (state.kind === 'alive' && (await readFile(aside, 'utf8')) !== state.text) {
        await rename(aside, path);
        return false;
      }
      await rm(aside, { force: true });
      return true;
    });
  }

  read(name: string): Promise<Claim<number> | null> {
    return this.#asking(async () => {
      for (;;) {
        const version = await this.#highest(name);
        if (version === 0) return null;
        const text = await ignoreMissingLock(readFile(this.#claimPath(name, version), 'utf8'));
        // Removed under a higher one that has been added since.
        if (text === null) continue;
        // Its writer may have died: it is judged as an unknown holder.
        return { version, holder: parseHolderText(text, `${fileName(name)}#${version}`) };
      }
    });
  }

  claim(
    name: string,
    former: Claim<number> | null,
    holder: string | null,
  ): Promise<Claim<number> | null> {
    return this.#asking(async () => {
      const version = (former?.version ?? 0) + 1;
      const text = `${JSON.stringify({ holder, at: new Date().toISOString() })}\n`;
      if (former === null)
        await ignoreMissingFile(mkdir(join(this.#claims, fileName(name)), { mode: 0o700 }));
      const path = this.#claimPath(name, version);
      // A release that could not be finished frees the lock all the same, once it was looked at for long enough.
      const made = holder === null ? writeAtStart(path, 'wx', text) : createWhole(path, text);
      const isMade = await ignoreMissingFile(made);
      if (isMade === null) return null;
      const generations = await this.#generations(name);
      if (Math.max(0, ...generations) !== version) return null;
      for (const one of generations)
        if (one < version) await rm(this.#claimPath(name, one), { force: true });
      return { version, holder };
    });
  }

  /**
   * Releases a claim, and removes its files if no other process uses the locks: one that has read a claim adds the next generation, which
   * must not begin again meanwhile.
   */
  async remove(name: string, claim: Claim<number>): Promise<void> {
    await this.claim(name, claim, null);
    await this.#asking(async () => {
      if (await this.#hasOthers()) return;
      const aside = join(this.#claims, `gone-${crypto.randomUUID()}`);
      await ignoreMissingLock(rename(join(this.#claims, fileName(name)), aside));
      await rm(aside, { recursive: true, force: true });
    });
  }

  /** Reports whether another process may use the locks. */
  async #hasOthers(): Promise<boolean> {
    for (const one of (await ignoreMissingLock(readdir(this.#holders))) ?? [])
      if (one !== this.#holder && (await this.heartbeatOf(one)).kind === 'alive') return true;
    return false;
  }

  async list(): Promise<readonly []> {
    return [];
  }

  async close(): Promise<void> {}

  #claimPath(name: string, version: number): string {
    return join(this.#claims, fileName(name), String(version));
  }

  async #generations(name: string): Promise<number[]> {
    const names = await ignoreMissingLock(readdir(join(this.#claims, fileName(name))));
    return (names ?? []).filter((one) => /^\d+$/.test(one)).map(Number);
  }

  async #highest(name: string): Promise<number> {
    return Math.max(0, ...(await this.#generations(name)));
  }

  /** Formats a heartbeat, always of the same length, so that it is replaced in place, without room on the disk. */
  #heartbeat(state: Heartbeat['state']): string {
    this.#beats += 1;
    const beat = String(this.#beats).padStart(16, '0');
    return `${JSON.stringify({ state, beat, ttl: this.pace.ttl, process: this.#self })}\n`;
  }

  async #asking<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      throw createLockFolderError(this.#folder, thrown);
    }
  }
}

interface Heartbeat {
  readonly state: 'alive' | 'ended';
  readonly beat: string;
  readonly ttl: number;
  readonly process: ProcessIdentity;
}

/** Null for one that is being written: its text counts all the same, because it changes. */
function parseHeartbeatText(text: string): Heartbeat | null {
  try {
    return JSON.parse(text) as Heartbeat;
  } catch {
    return null;
  }
}

const HOLDER = /^[\w-][\w.-]*$/;

function parseHolderText(text: string, unfinished: string): string | null {
  try {
    const { holder } = JSON.parse(text) as { readonly holder: unknown };
    // Any other name would lead to another file, which a removal deletes.
    return holder === null || (typeof holder === 'string' && HOLDER.test(holder))
      ? holder
      : unfinished;
  } catch {
    return unfinished;
  }
}

/** Opens a file, writes at its beginning, and closes it, which is what a shared volume waits for. */
async function writeAtStart(path: string, flags: string, text: string | null): Promise<true> {
  const file = await open(path, flags, 0o600);
  try {
    if (text !== null) await file.writeFile(text);
  } finally {
    await file.close();
  }
  return true;
}

/** Writes a new file completely or, if there is no room for it, not at all. */
async function createWhole(path: string, text: string): Promise<true> {
  try {
    return await writeAtStart(path, 'wx', text);
  } catch (thrown) {
    if (systemCode(thrown) !== 'EEXIST') await rm(path, { force: true }).catch(() => {});
    throw thrown;
  }
}

function ignoreMissingLock<T>(work: Promise<T>): Promise<T | null> {
  return unless('ENOENT', work);
}

function ignoreMissingFile<T>(work: Promise<T>): Promise<T | null> {
  return unless('EEXIST', work);
}

async function unless<T>(expected: string, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (thrown) {
    if (systemCode(thrown) === expected) return null;
    throw thrown;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'it is read-only',
  EACCES: 'its permissions do not allow it',
  EPERM: 'its permissions do not allow it',
  ENOENT: 'it was removed',
  ENOTDIR: 'it is not a folder',
  EIO: 'the disk does not work',
  ESTALE: 'the shared volume has lost it',
};

function createLockFolderError(folder: string, thrown: unknown): SetpointError {
  const code = systemCode(thrown);
  const reason = REASONS[code] ?? (code === '' ? 'it does not work' : code);
  return new SetpointError('lock-failed', `The locks in ${folder} cannot be used: ${reason}.`, {
    hint: 'Give --data a folder that this user may write and that has room; nothing is written without a lock.',
    cause: thrown,
  });
}

/**
 * Identifies this process for others on this machine. A process is the same only on the same host, since the same start of its system, in
 * the same namespace of process ids; null if the system does not provide this (other systems than Linux).
 */
interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** The start in ticks since the system started: process ids are used again. */
  readonly started: string | null;
  readonly boot: string | null;
  readonly namespace: string | null;
}

async function ownProcess(): Promise<ProcessIdentity> {
  return {
    host: hostname(),
    pid: process.pid,
    started: (await readProcessStat('self'))?.started ?? null,
    boot: await startOfSystem(),
    namespace: await unlessUnreadable(readlink('/proc/self/ns/pid')),
  };
}

/** An id of the start of this system; null if it does not provide one. */
export function startOfSystem(): Promise<string | null> {
  return unlessUnreadable(
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((id) => id.trim()),
  );
}

/** Reports whether a process has ended for certain; false if this cannot be determined from here. */
async function isGone({ host, pid, started, boot, namespace }: ProcessIdentity): Promise<boolean> {
  const own = await ownProcess();
  const isNear = host === own.host && boot === own.boot && namespace === own.namespace;
  if (!isNear || boot === null || namespace === null || started === null) return false;
  // /proc may hide the processes of other users; a signal of number 0 does not.
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    return systemCode(thrown) === 'ESRCH';
  }
  const stat = await readProcessStat(pid);
  return stat !== null && (stat.started !== started || 'ZX'.includes(stat.state));
}

/** The third field of a process's line, and the twenty-second. The name before them may hold anything. */
async function readProcessStat(
  pid: number | 'self',
): Promise<{ state: string; started: string } | null> {
  const line = await unlessUnreadable(readFile(`/proc/${pid}/stat`, 'utf8'));
  if (line === null) return null;
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', started: fields[19] ?? '' };
}

function unlessUnreadable(work: Promise<string>): Promise<string | null> {
  return work.catch(() => null);
}
