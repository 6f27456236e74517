import { bareUrl, isSensitiveAddress, isSensitiveUrl } from '../model/address.ts';
import { Identity, Secret } from '../model/secret.ts';
import {
  commandHoldsSecret,
  holdsSecretText,
  isSecretText,
  sourceHoldsSecret,
  speaksOfSecrets,
} from '../model/secret-words.ts';
import {
  isList,
  isRecord,
  mapRecord,
  type Value,
  type ValueRecord,
  WireNumber,
} from '../model/value.ts';
import { NumberSecret } from './json.ts';
import { eachFacts, memberFacts } from '../model/path-facts.ts';
import type { MemberFacts } from '../model/type-facts.ts';

/*
 * What only a service has may be a secret, whatever its place is called. Documents show of it a word that a schema names, a number where
 * a schema has a number, and a text where the facts of its type say how it is judged; of free JSON truth values alone.
 */

/** The address of an mcp server: one with a secret in it, also as a folder of its path, shows the rest. */
export function concealAddress(value: Value): Value {
  if (typeof value !== 'string') return sealValue(value);
  const bare = bareUrl(value);
  const shown = maskFolders(bare);
  return shown !== bare || isSensitiveAddress(value)
    ? new Secret(value, null, new Identity(shown, bare))
    : value;
}

/** An address with `…` for each folder of its path that has the form of a secret: what some services of mcp have for a key. */
function maskFolders(address: string): string {
  const path = /^(?:[a-z][a-z0-9+.-]*:)?[\\/]*[^\\/]*/i.exec(address)?.[0] ?? '';
  const folders = address.slice(path.length).split('/');
  return path + folders.map((one) => (isSecretText(one) ? '…' : one)).join('/');
}

/** The command of an mcp server, unless one of its words is a secret by its flag or its form. */
export function concealCommand(command: Value): Value {
  if (typeof command !== 'string') return sealValue(command);
  return commandHoldsSecret(command) ? sealValue(command) : command;
}

/** A value whose texts and numbers are all secrets. */
export function sealValue(value: Value): Value {
  if (typeof value === 'string' || typeof value === 'number') return new Secret(value);
  if (value instanceof WireNumber) return new NumberSecret(value.token);
  if (isList(value)) return value.map(sealValue);
  return isRecord(value) ? mapRecord(value, sealValue) : value;
}

/** The knowledge of a dialect about its settings, apart from their types. */
interface RecordTerms {
  /** Reports whether a member is a secret because of other members of the record. */
  readonly isSecret?: (record: ValueRecord, name: string) => boolean;
  /** Members without any secret. */
  readonly harmless?: ReadonlySet<string>;
}

/** Wraps what a document must not show of a value of a type. What is wrapped already stays. */
export function concealRecord(
  record: ValueRecord,
  type: string | undefined,
  { isSecret, harmless }: RecordTerms = {},
): ValueRecord {
  return mapRecord(record, (value, name) => {
    if (harmless?.has(name) === true) return value;
    if (isSecret?.(record, name) === true) return sealValue(value);
    return concealMember(value, memberFacts(type, name));
  });
}

/** Wraps what a document must not show of a member with these facts. */
export function concealMember(value: Value, facts: MemberFacts): Value {
  const { type, many = false, secret = false } = facts;
  if (secret) return sealValue(value);
  const each = many ? eachFacts(facts) : facts;
  if (isList(value))
    return many ? value.map((item) => concealMember(item, each)) : sealValue(value);
  if (!isRecord(value)) return concealScalar(value, facts);
  if (many) return mapRecord(value, (one) => concealMember(one, each));
  return concealRecord(value, type);
}

function concealScalar(value: Value, facts: MemberFacts): Value {
  if (value === '' || value === null || typeof value === 'boolean' || value instanceof Secret)
    return value;
  if (typeof value !== 'string') return facts.number === true ? value : sealValue(value);
  const { words, shows } = facts;
  if (words?.includes(value) === true) return value;
  switch (shows) {
    case 'id':
      return UUID.test(value) ? value : concealName(value);
    case 'name':
      return concealName(value);
    case 'prose':
      return isShownProse(value) ? value : sealValue(value);
    case 'text':
      return holdsSecretText(value) ? wrapSecretText(value) : value;
    case 'source':
      return sourceHoldsSecret(value) ? wrapSecretText(value) : value;
    case 'address':
      return concealAddress(value);
    case 'command':
      return concealCommand(value);
    default:
      return sealValue(value);
  }
}

/** A name is one word or few: a sentence in its place may quote a secret. */
function concealName(value: string): Value {
  const isSentence = /\s/.test(value.trim());
  return (isSentence ? isShownProse(value) : !holdsSecretText(value))
    ? value
    : wrapSecretText(value);
}

/** A value with the form of a secret. Of an address with a secret in it the rest is shown. */
function wrapSecretText(value: string): Value {
  return isSensitiveUrl(value)
    ? new Secret(value, null, new Identity(bareUrl(value)))
    : sealValue(value);
}

/** Reports whether a text in sentences may be shown. */
function isShownProse(text: string): boolean {
  return !holdsSecretText(text) && !speaksOfSecrets(text);
}

/** The ids that a service generates for its own objects. They are not keys. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
