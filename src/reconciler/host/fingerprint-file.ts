import { dirname } from 'node:path';
import { SetpointError } from '../model/error.ts';
import type { WrittenSecret, FingerprintStore } from '../model/ports.ts';
import { isWithin, samePath, type Path } from '../model/path.ts';
import { readOptional } from './read-text.ts';
import { makeFolder, writeAside, writePlace } from './write-aside.ts';

/** Bytes; a fingerprint takes about two hundred. */
const LIMIT = 8 * 1024 * 1024;

/**
 * A fingerprint of the secret last written at a path, and when (ISO 8601, UTC); never the secret itself. `origin` is for
 * people; `address` is a fingerprint too, because the address may have come from a reference.
 */
export interface FingerprintEntry {
  readonly origin: string;
  readonly address: string;
  readonly path: Path;
  readonly hmac: string;
  readonly written_at: string;
}

export interface FingerprintDocument {
  readonly written_by: 'setpoint';
  readonly format_version: 2;
  /** Identifies the key of the fingerprints: under another key, none of them is known. */
  readonly key_id: string;
  readonly entries: readonly FingerprintEntry[];
}

/** The service of some fingerprints: `address` includes the path prefix, references resolved; `origin` may be shown. */
export interface FingerprintedService {
  readonly origin: string;
  readonly address: string;
}

/** The place of fingerprints, of one service or of several. */
export interface FingerprintPlace {
  /** A value that differs after each known change of the files. */
  version(): unknown;
  /** Null if there are none. Throws file-unreadable if something else is there; `leniently`, that counts as none. */
  read(leniently?: boolean): FingerprintDocument | null;
  /** Replaces what is there, durably. Throws a SetpointError if it cannot. */
  replace(document: FingerprintDocument): Promise<void>;
}

/** A file of fingerprints. */
export function filePlace(path: string): FingerprintPlace {
  return {
    // Another environment of this run may be the same service, and have written it since.
    version: () => replaced,
    read: (leniently = false) =>
      leniently ? validDocument(readOptional(path, LIMIT) ?? '') : readFingerprintFile(path),
    replace: (document) => replaceFingerprintFile(path, document),
  };
}

/**
 * The fingerprints of one service in a place that several may share. A fingerprint is an HMAC-SHA-256 under `key` of address, path and
 * value, so that equal secrets have different fingerprints, and values cannot be tried without the key. Without a key, and under another
 * one, nothing is known and nothing is stored; but a write still drops the entries under its paths, of all services, because nothing
 * distinguishes them. Throws file-unreadable if the place has any other content.
 */
export async function fingerprintStore(
  place: FingerprintPlace,
  key: string,
  service: FingerprintedService,
): Promise<FingerprintStore> {
  const hmac = key === '' ? null : await hmacUnder(key);
  const own = hmac === null ? null : createKeyedHashes(hmac, service);
  const read = (): readonly FingerprintEntry[] =>
    own === null ? [] : selectKeyEntries(place.read(), own).filter(own.isOf);
  let known = { entries: read(), version: place.version() };
  return {
    compare: (at, value) => {
      if (known.version !== place.version()) known = { entries: read(), version: place.version() };
      const entry = known.entries.find((one) => samePath(one.path, at));
      if (own === null || entry === undefined) return 'none';
      return entry.hmac === own.fingerprint(at, value) ? 'same' : 'different';
    },
    forget: async (paths) => {
      const dropped = await enqueueWork(() => drop(place, own, paths));
      return () => enqueueWork(() => putBack(place, dropped));
    },
    remember: (written, now) =>
      own === null
        ? Promise.resolve()
        : enqueueWork(() => addFingerprints(place, own, written, now)),
  };
}

/** The fingerprints of one service under one key. */
interface KeyFingerprints {
  readonly keyId: string;
  readonly isOf: (entry: FingerprintEntry) => boolean;
  readonly fingerprint: (path: Path, value: string) => string;
  readonly entry: (path: Path, hmac: string, at: number) => FingerprintEntry;
}

/** The HMAC-SHA-256 of a text under the state key, in hex. */
type Hmac = (text: string) => string;

/** Loaded here, because most runs keep no fingerprints. */
async function hmacUnder(key: string): Promise<Hmac> {
  const { createHmac } = await import('node:crypto');
  return (text) => createHmac('sha256', key).update(text).digest('hex');
}

function createKeyedHashes(hmac: Hmac, { origin, address }: FingerprintedService): KeyFingerprints {
  const digest = hmac(JSON.stringify(['address', address]));
  return {
    keyId: hmac('setpoint fingerprints').slice(0, 16),
    isOf: (entry) => entry.address === digest,
    fingerprint: (path, value) => hmac(JSON.stringify([address, path, value])),
    entry: (path, made, at) => ({
      origin,
      address: digest,
      path,
      hmac: made,
      written_at: new Date(at).toISOString(),
    }),
  };
}

/** Environments that are written at the same time may share a file. */
let lastTurn: Promise<unknown> = Promise.resolve();

function enqueueWork<T>(work: () => Promise<T>): Promise<T> {
  const turn = lastTurn.then(work);
  lastTurn = turn.catch(() => {});
  return turn;
}

/** Drops the entries at some paths and below and returns them with their document; null if there are none. */
async function drop(
  place: FingerprintPlace,
  own: KeyFingerprints | null,
  paths: readonly Path[],
): Promise<FingerprintDocument | null> {
  if (paths.length === 0) return null;
  // Without a key, a file of another kind is left alone: a run with a key refuses it.
  const document = place.read(own === null);
  if (document === null) return null;
  const isOwn = document.key_id === own?.keyId ? own.isOf : () => true;
  const dropped = document.entries.filter(
    (entry) => isOwn(entry) && paths.some((one) => isWithin(entry.path, one)),
  );
  if (dropped.length === 0) return null;
  const entries = document.entries.filter((entry) => !dropped.includes(entry));
  await place.replace({ ...document, entries });
  return { ...document, entries: dropped };
}

/** Restores entries, except where new ones have been added. */
async function putBack(
  place: FingerprintPlace,
  dropped: FingerprintDocument | null,
): Promise<void> {
  const now = place.read();
  if (dropped === null || now?.key_id !== dropped.key_id) return;
  const others = now.entries;
  const isThere = (entry: FingerprintEntry): boolean =>
    others.some((one) => one.address === entry.address && samePath(one.path, entry.path));
  const entries = [...others, ...dropped.entries.filter((entry) => !isThere(entry))];
  await place.replace({ ...dropped, entries });
}

async function addFingerprints(
  place: FingerprintPlace,
  own: KeyFingerprints,
  written: readonly WrittenSecret[],
  now: number,
): Promise<void> {
  if (written.length === 0) return;
  const others = selectKeyEntries(place.read(), own).filter(
    (entry) => !own.isOf(entry) || !written.some((one) => samePath(one.path, entry.path)),
  );
  const added = written.flatMap(({ path: at, value }): FingerprintEntry[] => {
    if (value === null) return [];
    return [
      own.entry(
        at,
        value.compareWith((text) => own.fingerprint(at, text)),
        now,
      ),
    ];
  });
  await place.replace({
    written_by: 'setpoint',
    format_version: 2,
    key_id: own.keyId,
    entries: [...others, ...added],
  });
}

/** The number of times that this process has replaced a file of fingerprints. */
let replaced = 0;

async function replaceFingerprintFile(path: string, document: FingerprintDocument): Promise<void> {
  const besideSettings = dirname(dirname(path));
  const folder = dirname(writePlace(path, besideSettings));
  try {
    await makeFolder(folder);
  } catch (thrown) {
    throw new SetpointError('output-failed', `${path} could not be written.`, { cause: thrown });
  }
  await writeAside(path, `${JSON.stringify(document, null, 2)}\n`, besideSettings);
  replaced += 1;
}

function selectKeyEntries(
  document: FingerprintDocument | null,
  { keyId }: KeyFingerprints,
): readonly FingerprintEntry[] {
  return document?.key_id === keyId ? document.entries : [];
}

function readFingerprintFile(path: string): FingerprintDocument | null {
  const text = readOptional(path, LIMIT);
  if (text === null) return null;
  const document = validDocument(text);
  if (document !== null) return document;
  throw new SetpointError('file-unreadable', `${path} is not a file of fingerprints.`, {
    hint: 'Move it away: without it, secrets count as unknown until they are written again.',
  });
}

/** Entries of the first format have no address: they are dropped. */
function validDocument(text: string): FingerprintDocument | null {
  try {
    const value = JSON.parse(text) as Record<keyof FingerprintDocument, unknown> | null;
    const { written_by: by, format_version: version, key_id: id, entries } = value ?? {};
    if (by !== 'setpoint' || (version !== 1 && version !== 2)) return null;
    if (typeof id !== 'string' || !Array.isArray(entries)) return null;
    const kept: readonly unknown[] = version === 1 ? [] : entries;
    if (!kept.every(isFingerprintEntry)) return null;
    return { written_by: 'setpoint', format_version: 2, key_id: id, entries: kept };
  } catch {
    return null;
  }
}

function isFingerprintEntry(value: unknown): value is FingerprintEntry {
  const { origin, address, path, hmac } = (value ?? {}) as Partial<FingerprintEntry>;
  return (
    typeof origin === 'string' &&
    typeof address === 'string' &&
    Array.isArray(path) &&
    path.every((segment) => typeof segment === 'string') &&
    typeof hmac === 'string'
  );
}
