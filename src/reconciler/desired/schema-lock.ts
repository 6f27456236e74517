import type { DialectName } from '../model/dialect.ts';
import { SetpointError } from '../model/error.ts';
import {
  MEMBER_TYPES,
  type LockedMember,
  type LockedRelease,
  type SchemaLock,
} from '../model/native-schema.ts';
import { formatPath, parsePath } from '../model/path.ts';
import { isList, isRecord, type Json, type Value } from '../model/value.ts';

/** The lock next to a settings file: `settings.schema-lock.json` of `settings.yaml`. */
export function lockPath(file: string): string {
  return `${file.replace(/\.ya?ml$/i, '')}.schema-lock.json`;
}

const VERSION = 1;
const DIALECTS: readonly DialectName[] = ['agent-server', 'app-server'];
const PARTS = ['agent_settings', 'conversation_settings'];

/** The text of a lock: the same lock is always the same text. */
export function lockText({ releases }: SchemaLock): string {
  const key = ({ dialect, release }: LockedRelease): string => `${dialect} ${release ?? ''}`;
  const servers = releases
    .toSorted((a, b) => byCodeUnits(key(a), key(b)))
    .map(({ dialect, release, members }) => ({
      dialect,
      release,
      members: members
        .map(({ path, ...rest }) => ({
          path: formatPath(path),
          type: rest.type,
          default: rest.default,
          choices: rest.choices,
          secret: rest.secret,
        }))
        .toSorted((a, b) => byCodeUnits(a.path, b.path)),
    }));
  return `${JSON.stringify({ version: VERSION, servers }, null, 2)}\n`;
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Reads the text of a lock. Throws file-unreadable if the text is invalid; no message quotes it. */
export function readLock(path: string, text: string): SchemaLock {
  const json = parseLockText(text);
  const servers = isRecord(json) && json['version'] === VERSION ? json['servers'] : undefined;
  const releases = isList(servers) ? servers.map(parseLockedRelease) : [null];
  if (releases.includes(null)) {
    throw new SetpointError('file-unreadable', `${path} is not a schema lock.`, {
      hint: 'Run setpoint schema pull to rewrite the file, or restore it from the repository.',
    });
  }
  return { releases: releases.filter((one) => one !== null) };
}

function parseLockText(text: string): Value {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function parseLockedRelease(value: Value): LockedRelease | null {
  if (!isRecord(value)) return null;
  const dialect = DIALECTS.find((known) => known === value['dialect']);
  const { release = null, members } = value;
  if (dialect === undefined || !isList(members)) return null;
  if (release !== null && (typeof release !== 'string' || !RELEASE.test(release))) return null;
  const read = members.map(parseLockedMember);
  return read.includes(null)
    ? null
    : { dialect, release, members: read.filter((one) => one !== null) };
}

const RELEASE = /^[A-Za-z0-9 .+-]{1,60}$/;

function parseLockedMember(value: Value): LockedMember | null {
  if (!isRecord(value)) return null;
  const { path: name, type: word, choices, secret, default: otherwise = null } = value;
  const path = typeof name === 'string' ? parsePath(name) : null;
  const type = MEMBER_TYPES.find((known) => known === word);
  if (path === null || !isMemberPath(path) || type === undefined) return null;
  if (typeof secret !== 'boolean' || !isList(choices) || !choices.every(isScalar)) return null;
  if (secret && otherwise !== null) return null;
  return { path, type, default: otherwise as Json, choices: choices as readonly Json[], secret };
}

function isScalar(value: Value): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** Reports whether a path is that of a member that a lock may have: a server's own name for one, below a part with a schema. */
export function isMemberPath([part = '', ...keys]: readonly string[]): boolean {
  return (
    PARTS.includes(part) &&
    keys.length > 0 &&
    keys.length <= 8 &&
    keys.every((key) => /^[A-Za-z][A-Za-z0-9_-]{0,79}$/.test(key))
  );
}
