import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { systemCode } from '../../../reconciler/model/error.ts';

/**
 * Which process this is, as far as another one on this machine can look it up. A process is the same only on the same host, since the
 * same start of its system, in the same namespace of process ids; null if the system does not tell (other systems than Linux).
 */
export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** When it started, in ticks since the system did: process ids are used again. */
  readonly started: string | null;
  readonly boot: string | null;
  readonly namespace: string | null;
}

export async function ownProcess(): Promise<ProcessIdentity> {
  return {
    host: hostname(),
    pid: process.pid,
    started: (await statOf('self'))?.started ?? null,
    boot: await startOfSystem(),
    namespace: await unlessUnreadable(readlink('/proc/self/ns/pid')),
  };
}

/** An id of the start of this system; null if it does not tell. */
export function startOfSystem(): Promise<string | null> {
  return unlessUnreadable(
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((id) => id.trim()),
  );
}

/** Whether a process has ended for certain; false whenever it cannot be told from here. */
export async function isGone({
  host,
  pid,
  started,
  boot,
  namespace,
}: ProcessIdentity): Promise<boolean> {
  const own = await ownProcess();
  const isNear = host === own.host && boot === own.boot && namespace === own.namespace;
  if (!isNear || boot === null || namespace === null || started === null) return false;
  // /proc may hide the processes of other users; a signal of number 0 does not.
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    return systemCode(thrown) === 'ESRCH';
  }
  const stat = await statOf(pid);
  return stat !== null && (stat.started !== started || 'ZX'.includes(stat.state));
}

/** The third field of a process's line, and the twenty-second. The name before them may hold anything. */
async function statOf(pid: number | 'self'): Promise<{ state: string; started: string } | null> {
  const line = await unlessUnreadable(readFile(`/proc/${pid}/stat`, 'utf8'));
  if (line === null) return null;
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', started: fields[19] ?? '' };
}

function unlessUnreadable(work: Promise<string>): Promise<string | null> {
  return work.catch(() => null);
}
