import { isMemberPath, lockPath, lockText, readLock } from '../desired/schema-lock.ts';
import { asSetpointError } from '../model/error.ts';
import { isSensitiveUrl } from '../model/address.ts';
import {
  type LockedMember,
  type LockedRelease,
  MEMBER_TYPES,
  nativeSchema,
  selectSchemaNodes,
  OPEN_LOCK,
  type SchemaLock,
} from '../model/native-schema.ts';
import { formatPath } from '../model/path.ts';
import { isSensitiveName, looksLikeToken } from '../model/secret-words.ts';
import type { PulledLock, PulledSchema, PulledSchemas } from '../model/pulled.ts';
import { maskSecrets, type Json } from '../model/value.ts';
import type { Redactor } from '../model/redactor.ts';
import { checkWritable } from '../host/write-aside.ts';
import { writeFiles } from '../host/write-files.ts';
import { inParallel } from '../reconcile/in-order.ts';
import { findExactRelease } from '../service/settings.ts';
import { listSchemaMembers, type ListedMember } from '../service/schemas.ts';
import { observeTarget } from './open-target.ts';
import type { Options } from './options.ts';
import { parallelReads } from './parallel.ts';
import { prepareTargets, formatOrigin, type PreparedTarget } from './prepare.ts';
import { redacting, type Running } from './redacting.ts';
import { LARGEST_LOCK, textOfLock, type LockOptions } from './load.ts';
import { selectRun } from './select.ts';

/**
 * Writes, next to each settings file, the schemas of its servers that the known ones lack. Reads the services only. Without `targets`,
 * parts that no server of the file has any more are removed; they stay if one could not be read.
 */
export function pullSchema(options: Options): Promise<PulledSchemas> {
  // Members that are not known yet are what the lock is made for.
  return redacting({ ...options, lock: OPEN_LOCK }, pullSchemaLocks);
}

/** One environment's part, and what goes into the lock for it. */
interface Read {
  readonly part: PulledSchema;
  readonly release: LockedRelease | null;
}

async function pullSchemaLocks(request: Running<LockOptions>): Promise<PulledSchemas> {
  const prepared = await prepareTargets(selectRun(request), request);
  const files = [...new Set(prepared.map(({ target }) => target.file))];
  for (const file of files) checkWritable(lockPath(file));
  const limit = parallelReads(request, prepared.length);
  const read = await inParallel(prepared, limit, (one) => fetchServerSchema(one, request));
  const isWhole = request.targets === undefined && read.every(({ part }) => part.error === null);
  const locks: PulledLock[] = [];
  for (const file of files) {
    const own = read.filter((_, index) => prepared[index]?.target.file === file);
    const releases = own.flatMap(({ release }) => release ?? []);
    locks.push(await updateSchemaLock(file, releases, isWhole));
  }
  return { files: locks, environments: read.map(({ part }) => part) };
}

function fetchServerSchema(prepared: PreparedTarget, options: Running<Options>): Promise<Read> {
  const { name } = prepared.target;
  const about = { name, origin: formatOrigin(prepared), dialect: null, release: null, left: [] };
  return observeTarget<Read>(prepared, options, {
    open: async ({ connection, limits, settings }) => {
      const observed = await settings.observe(options.signal);
      const dialect = observed.dialect.name;
      const listed = await listSchemaMembers(connection, dialect, limits, options.signal);
      const release = await findExactRelease(connection, observed, limits, options.signal);
      const spoken = { ...about, dialect, release, error: null };
      if (listed === null) return { part: { ...spoken, known: null }, release: null };
      const schema = nativeSchema(dialect);
      const fresh = listed.filter(
        ({ path }) => schema === null || selectSchemaNodes(schema, path).length === 0,
      );
      const redactor = options.resolved.all;
      const members = fresh.map((member) => toLockMember(member, redactor));
      const left = fresh.filter((_, index) => members[index] === null);
      return {
        part: {
          ...spoken,
          known: schema?.release ?? null,
          left: left.map(({ path }) => formatPath(path)),
        },
        release: { dialect, release, members: members.filter((one) => one !== null) },
      };
    },
    failed: (error) => ({ part: { ...about, known: null, error }, release: null }),
  });
}

/** A member as the lock has it, without what may be a secret; null if setpoint could not judge its values. */
function toLockMember(
  { path, type: word, default: otherwise, choices, secret }: ListedMember,
  redactor: Redactor,
): LockedMember | null {
  const type = MEMBER_TYPES.find((known) => known === word);
  const name = formatPath(path);
  if (type === undefined || !isMemberPath(path) || redactor.text(name) !== name) return null;
  const words = choices.map(maskSecrets);
  const hidden = secret || isSensitiveName(path.at(-1) ?? '');
  return {
    path,
    type,
    default:
      hidden || !isHarmlessJson(maskSecrets(otherwise), redactor) ? null : maskSecrets(otherwise),
    choices: secret || !words.every((one) => isHarmlessJson(one, redactor)) ? [] : words,
    secret,
  };
}

/** Reports whether a value may be in a committed file, whatever a server reports. */
function isHarmlessJson(value: Json, redactor: Redactor): boolean {
  if (Array.isArray(value)) return value.every((one: Json) => isHarmlessJson(one, redactor));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).every(
      ([name, one]: readonly [string, Json]) =>
        !isSensitiveName(name) && isHarmlessJson(name, redactor) && isHarmlessJson(one, redactor),
    );
  const text = String(value);
  return redactor.text(text) === text && !looksLikeToken(text) && !isSensitiveUrl(text);
}

async function updateSchemaLock(
  settings: string,
  releases: readonly LockedRelease[],
  isWhole: boolean,
): Promise<PulledLock> {
  const file = lockPath(settings);
  const before = textOfLock(settings);
  const old = before === null ? null : parseOldLock(file, before);
  const same = (a: LockedRelease) => (b: LockedRelease) =>
    a.dialect === b.dialect && a.release === b.release;
  const kept = isWhole ? [] : (old?.releases ?? []).filter((one) => !releases.some(same(one)));
  const fresh = releases.filter((one, index) => releases.findIndex(same(one)) === index);
  const lock: SchemaLock = { releases: [...kept, ...fresh] };
  const text = lockText(lock);
  const nothing = before === null && lock.releases.length === 0;
  const differs = !nothing && text !== before;
  if (differs) await writeFiles([{ path: file, before, text }], LARGEST_LOCK);
  return {
    file,
    status: nothing ? 'absent' : differs ? 'written' : 'unchanged',
    ...differences(old ?? { releases: [] }, lock),
  };
}

/** The lock before; null if it cannot be read, so that it is written again. */
function parseOldLock(file: string, text: string): SchemaLock | null {
  try {
    return readLock(file, text);
  } catch (thrown) {
    if (asSetpointError(thrown).code === 'file-unreadable') return null;
    throw thrown;
  }
}

function differences(
  before: SchemaLock,
  after: SchemaLock,
): Pick<PulledLock, 'added' | 'removed' | 'changed'> {
  const [old, now] = [indexLockMembers(before), indexLockMembers(after)];
  const names = [...now.keys()];
  return {
    added: names.filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !now.has(name)),
    changed: names.filter((name) => old.has(name) && old.get(name) !== now.get(name)),
  };
}

/** Each member of a lock as text, under its dialect and path. */
function indexLockMembers({ releases }: SchemaLock): ReadonlyMap<string, string> {
  return new Map(
    releases
      .toSorted((a, b) => ((a.release ?? '') < (b.release ?? '') ? -1 : 1))
      .flatMap(({ dialect, members }) =>
        members.map((one) => [`${dialect} ${formatPath(one.path)}`, JSON.stringify(one)] as const),
      ),
  );
}
