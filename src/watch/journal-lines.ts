import type { JournalRecord, WatchStatus } from '../model/watch.ts';
import type { Remembered } from './environment.ts';

/** What a file of the journal begins with, unless it is the first: what must be known of all environments. */
export interface Checkpoint {
  readonly v: 1;
  readonly at: string;
  readonly kind: 'checkpoint';
  readonly environments: readonly Remembered[];
  readonly notices: readonly JournalRecord[];
}

export type JournalLine = JournalRecord | Checkpoint;

export function isRecordLine(line: JournalLine): line is JournalRecord {
  return line.kind !== 'checkpoint';
}

/** The lines that can be read. One that was cut off, or that another version wrote in another form, is damaged. */
export function parseLines(text: string): {
  readonly lines: readonly JournalLine[];
  readonly damaged: number;
} {
  const lines: JournalLine[] = [];
  let damaged = 0;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const parsed = parsedLine(line);
    if (parsed === null) damaged += 1;
    else lines.push(parsed);
  }
  return { lines, damaged };
}

const KINDS: ReadonlySet<unknown> = new Set([
  'checkpoint',
  'started',
  'stopped',
  'files',
  'state',
  'writing',
  'write',
  'suspended',
  'resumed',
  'healing-stopped',
  'notice',
] satisfies JournalLine['kind'][]);

function parsedLine(line: string): JournalLine | null {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return null;
    const { v, at, kind } = value as Record<string, unknown>;
    const isKnown = v === 1 && typeof at === 'string' && KINDS.has(kind);
    return isKnown ? (value as JournalLine) : null;
  } catch {
    return null;
  }
}

/** What the lines of a journal, the oldest first, say of each environment. */
export interface Restored {
  readonly environments: ReadonlyMap<string, Remembered>;
  /** What was told of the states that environments are in, the oldest first. */
  readonly notices: readonly JournalRecord[];
  /** Environments to which a write had begun, and did not end. */
  readonly inFlight: readonly string[];
}

export function restored(lines: readonly JournalLine[]): Restored {
  const environments = new Map<string, Remembered>();
  const inFlight = new Set<string>();
  let notices: JournalRecord[] = [];
  const change = (name: string, part: Partial<Remembered>): void => {
    environments.set(name, { ...(environments.get(name) ?? unknown(name)), ...part });
  };
  for (const line of lines) {
    switch (line.kind) {
      case 'checkpoint':
        environments.clear();
        for (const one of line.environments) environments.set(one.name, one);
        notices = [...line.notices];
        break;
      case 'state':
        change(line.environment, {
          found: line.status,
          since: line.at,
          digest: line.digest,
          after: line.after,
          plan: line.plan,
          lastRead: line.at,
          ...(line.status === 'in-sync' ? { lastInSync: line.at } : {}),
        });
        break;
      case 'writing': {
        const heals = environments.get(line.environment)?.heals ?? [];
        change(line.environment, {
          lastApply: line.at,
          heals: [...heals, { at: line.at, paths: line.paths }],
        });
        inFlight.add(line.environment);
        break;
      }
      case 'write':
        change(line.environment, { lastApply: line.at });
        inFlight.delete(line.environment);
        break;
      case 'healing-stopped':
        change(line.environment, {
          stopped: { at: line.at, path: line.path, reason: line.reason },
        });
        break;
      case 'resumed':
        change(line.environment, { stopped: null, heals: [] });
        break;
      case 'notice':
        notices.push(line);
        break;
      case 'started':
      case 'stopped':
      case 'files':
      case 'suspended':
        break;
    }
  }
  return { environments, notices, inFlight: [...inFlight] };
}

function unknown(name: string): Remembered {
  const found: WatchStatus = 'not-read';
  return {
    name,
    found,
    since: new Date(0).toISOString(),
    digest: '',
    after: null,
    plan: null,
    lastRead: null,
    lastInSync: null,
    lastApply: null,
    heals: [],
    stopped: null,
  };
}
