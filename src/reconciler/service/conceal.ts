import { bareUrl, isSensitiveAddress, isSensitiveUrl } from '../model/address.ts';
import { Identity, Secret } from '../model/secret.ts';
import type { SchemaNode } from '../model/json-schema.ts';
import { type Path, samePath } from '../model/path.ts';
import { holdsSecretText, shownArgument } from '../model/secret-words.ts';
import { isShownProse, shownAt } from '../model/shown-places.ts';
import {
  isList,
  isRecord,
  mapRecord,
  type Value,
  type ValueRecord,
  WireNumber,
} from '../model/value.ts';
import { NumberSecret } from './json.ts';
import type { DialectName } from '../model/dialect.ts';
import { NATIVE_SERVERS } from '../model/field.ts';
import { isSecretPlace, nativeNodes } from '../model/native-schema.ts';
import { factsAt } from '../model/path-facts.ts';

/** The address of an mcp server: one with a secret in it shows the rest. */
export function concealAddress(value: Value): Value {
  if (typeof value !== 'string') return sealed(value);
  return isSensitiveAddress(value) ? new Secret(value, null, new Identity(bareUrl(value))) : value;
}

/** The command of an mcp server, unless one of its words is a secret by its flag or its form. */
export function concealCommand(command: Value): Value {
  if (typeof command !== 'string') return sealed(command);
  const words = command.split(/\s+/);
  const isSecret = (word: string, index: number): boolean =>
    shownArgument(word, words[index - 1] ?? null) !== word;
  return words.some(isSecret) ? sealed(command) : command;
}

/** Mcp servers by their names: all of them is wrapped but the members that are known to hold no secret. */
export function concealServers(config: Value): Value {
  if (!isRecord(config)) return sealed(config);
  return mapRecord(config, (server) =>
    isRecord(server) ? mapRecord(server, concealSetting) : sealed(server),
  );
}

const HARMLESS = new Set(['transport', 'timeout', 'sse_read_timeout', 'keep_alive', 'enabled']);

/** Members that say what a server looks like, or where its program starts. */
const PLAIN = new Set(['cwd', 'icon']);

/** Members of `auth`, and of what is in it, that say how a secret is sent. */
const HOW = new Set(['strategy', 'header_name', 'type', 'client_auth_method', 'scopes']);

function concealAuth(auth: ValueRecord): ValueRecord {
  return mapRecord(auth, (member, key) => {
    if (HOW.has(key)) return member;
    return key === 'authentication' && isRecord(member) ? concealAuth(member) : sealed(member);
  });
}

function concealSetting(value: Value, name: string): Value {
  if (name === 'url') return concealAddress(value);
  if (name === 'auth' && isRecord(value)) return concealAuth(value);
  if (isRecord(value) || isList(value)) return sealed(value);
  if (HARMLESS.has(name)) return value;
  if (PLAIN.has(name))
    return typeof value === 'string' && holdsSecretText(value) ? wrapped(value) : value;
  if (name === 'description')
    return typeof value === 'string' && !isShownProse(value) ? sealed(value) : value;
  return name === 'command' ? concealCommand(value) : sealed(value);
}

/** What a service has at a place, wrapped unless the place is known to hold no secret and the value has not the form of one. */
export function concealPlace(path: Path, value: Value, nodes: readonly SchemaNode[] = []): Value {
  const plain = value instanceof WireNumber ? Number(value.token) : value;
  if (plain === '') return value;
  if (typeof plain !== 'string' && typeof plain !== 'number') return sealed(value);
  const shown = shownAt(path, plain, nodes);
  if (shown === 'all') return value;
  return shown === 'bare' ? wrapped(value) : sealed(value);
}

/** A value with the form of a secret. Of an address with a secret in it the rest is shown. */
function wrapped(value: Value): Value {
  if (typeof value === 'string' && isSensitiveUrl(value))
    return new Secret(value, null, new Identity(bareUrl(value)));
  return sealed(value);
}

/** A value of which every text and number is a secret. */
export function sealed(value: Value): Value {
  if (typeof value === 'string' || typeof value === 'number') return new Secret(value);
  if (value instanceof WireNumber) return new NumberSecret(value.token);
  if (isList(value)) return value.map(sealed);
  return isRecord(value) ? mapRecord(value, sealed) : value;
}

/** What a dialect says of its answers besides its schema. */
export interface NativeSecrets {
  readonly dialect: DialectName;
  /** Whether a member at the top of the record is a secret because of what else is in it. */
  readonly isSecret?: (record: ValueRecord, name: string) => boolean;
  /** Members at the top of the record of which nothing is a secret. */
  readonly harmless?: ReadonlySet<string>;
}

/**
 * Wraps what must not be seen of an answer in a server's own nesting: whatever is not at a place that is known to hold no secret, or has
 * the form of one there.
 */
export function concealNative(record: ValueRecord, terms: NativeSecrets): ValueRecord {
  return concealed(record, [], terms);
}

function concealed(record: ValueRecord, above: Path, terms: NativeSecrets): ValueRecord {
  const { isSecret, harmless } = terms;
  const atTop = above.length === 0;
  return mapRecord(record, (value, name): Value => {
    if (atTop && harmless?.has(name) === true) return value;
    if (atTop && isSecret?.(record, name) === true) return sealed(value);
    return concealedAt([...above, name], value, terms);
  });
}

function concealedAt(path: Path, value: Value, terms: NativeSecrets): Value {
  if (samePath(path, NATIVE_SERVERS) || isOfSkill(path)) return concealServers(value);
  const nodes = nativeNodes(terms.dialect, path);
  if (factsAt(path).secret || isSecretPlace(nodes)) return sealed(value);
  if (isRecord(value)) return concealed(value, path, terms);
  if (isList(value))
    return value.map((item, index) => concealedAt([...path, String(index)], item, terms));
  return concealPlace(path, value, nodes);
}

/** The mcp servers that a skill brings. */
function isOfSkill(path: Path): boolean {
  return path.at(-1) === 'mcp_tools' && path.at(-3) === 'skills';
}
