import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SetpointError } from '../model/error.ts';
import type { WrittenSecret } from '../model/fingerprint.ts';
import { samePath, type Path } from '../model/path.ts';
import type { Fingerprints } from '../model/ports.ts';
import { writeAside } from './write-aside.ts';

/** One secret as it was last written: a fingerprint of it, where, and when (ISO 8601, UTC). Never the secret itself. */
interface Entry {
  readonly origin: string;
  readonly path: Path;
  readonly hmac: string;
  readonly written_at: string;
}

interface FingerprintDocument {
  readonly written_by: 'setpoint';
  readonly format_version: 1;
  /** Which key the fingerprints were made with: another key knows none of them. */
  readonly key_id: string;
  readonly entries: readonly Entry[];
}

/** Fingerprints of the secrets last written to one service. */
export interface FingerprintFile extends Fingerprints {
  /** Takes in what was written; the file is replaced as a whole. Throws output-failed where it cannot be. */
  remember(written: readonly WrittenSecret[], at: number): Promise<void>;
}

/**
 * The fingerprints of one origin in a file that several may share. A fingerprint is an HMAC-SHA-256 under `key` of origin,
 * path and value, so that alike secrets have unlike fingerprints, and nobody without the key can try values. Without a key
 * nothing is read, known or written. Throws file-unreadable where the file is not one of these.
 */
export async function fingerprintFile(
  path: string,
  key: string,
  origin: string,
): Promise<FingerprintFile> {
  if (key === '') return { compare: () => 'none', remember: () => Promise.resolve() };
  // Loaded here, because most runs keep no fingerprints.
  const { createHmac } = await import('node:crypto');
  const hmac: Hmac = (text) => createHmac('sha256', key).update(text).digest('hex');
  const known = entriesIn(path, hmac).filter((entry) => entry.origin === origin);
  return {
    compare: (at, value) => {
      const entry = known.find((one) => samePath(one.path, at));
      if (entry === undefined) return 'none';
      return entry.hmac === fingerprint(hmac, origin, at, value) ? 'same' : 'different';
    },
    remember: (written, now) => {
      const turn = lastTurn.then(() => replace(path, hmac, origin, written, now));
      lastTurn = turn.catch(() => {});
      return turn;
    },
  };
}

/** The HMAC-SHA-256 of a text under the state key, in hex. */
type Hmac = (text: string) => string;

/** Targets that are written side by side may share a file. */
let lastTurn: Promise<void> = Promise.resolve();

async function replace(
  path: string,
  hmac: Hmac,
  origin: string,
  written: readonly WrittenSecret[],
  now: number,
): Promise<void> {
  if (written.length === 0) return;
  const others = entriesIn(path, hmac).filter(
    (entry) => entry.origin !== origin || !written.some((one) => samePath(one.path, entry.path)),
  );
  const added = written.flatMap(({ path: at, value }): Entry[] => {
    if (value === null) return [];
    const made = value.compareWith((text) => fingerprint(hmac, origin, at, text));
    return [{ origin, path: at, hmac: made, written_at: new Date(now).toISOString() }];
  });
  const document: FingerprintDocument = {
    written_by: 'setpoint',
    format_version: 1,
    key_id: keyId(hmac),
    entries: [...others, ...added],
  };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await writeAside(path, `${JSON.stringify(document, null, 2)}\n`);
}

function entriesIn(path: string, hmac: Hmac): readonly Entry[] {
  const text = textOf(path);
  if (text === null) return [];
  const document = parsed(text);
  if (document === null) {
    throw new SetpointError('file-unreadable', `${path} is no file of fingerprints.`, {
      hint: 'Move it away: without it, secrets are of unknown origin until they are written again.',
    });
  }
  return document.key_id === keyId(hmac) ? document.entries : [];
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return null;
    throw new SetpointError('file-unreadable', `${path} cannot be read.`, { cause: thrown });
  }
}

function parsed(text: string): FingerprintDocument | null {
  try {
    const value = JSON.parse(text) as Partial<FingerprintDocument> | null;
    const { written_by: by, format_version: version, key_id: id, entries } = value ?? {};
    if (by !== 'setpoint' || version !== 1 || typeof id !== 'string' || !Array.isArray(entries))
      return null;
    return entries.every(isEntry) ? (value as FingerprintDocument) : null;
  } catch {
    return null;
  }
}

function isEntry(value: unknown): value is Entry {
  const { origin, path, hmac } = (value ?? {}) as Partial<Entry>;
  return (
    typeof origin === 'string' &&
    Array.isArray(path) &&
    path.every((segment) => typeof segment === 'string') &&
    typeof hmac === 'string'
  );
}

function fingerprint(hmac: Hmac, origin: string, path: Path, value: string): string {
  return hmac(JSON.stringify([origin, path, value]));
}

function keyId(hmac: Hmac): string {
  return hmac('setpoint fingerprints').slice(0, 16);
}
