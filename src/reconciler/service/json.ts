import { parse } from 'lossless-json';

import { SetpointError } from '../model/error.ts';
import { Secret } from '../model/secret.ts';
import {
  isList,
  WireNumber,
  withoutPrototype,
  type Value,
  type ValueRecord,
} from '../model/value.ts';

/** `not-json` also means a text that is cut off. No problem quotes the text. */
export type Decoding =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'problem'; readonly problem: 'not-json' | Excess };

/**
 * Reads JSON as the service wrote it: a number that a JavaScript number would not write the same way keeps its digits, and
 * `__proto__` is a key like any other. Keys keep their order, but those with the form of array indexes come first. No
 * secret is wrapped yet.
 */
export function decode(bytes: Uint8Array): Decoding {
  try {
    const text = UTF_8.decode(bytes);
    const plain = parseCanonicalJson(text);
    if (plain !== null) return { kind: 'value', value: plain };
    const excess = prescan(text);
    if (excess !== null) return { kind: 'problem', problem: excess };
    return { kind: 'value', value: removePrototypes(parse(text, null, parseWireNumber)) };
  } catch {
    return { kind: 'problem', problem: 'not-json' };
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The value of a text that JSON.stringify would write in the same way, as most services do: then no number has digits to keep, and
 * no key is there twice. Null for any other text.
 */
function parseCanonicalJson(text: string): Value | null {
  if (text.includes(TOO_DEEP)) return null;
  try {
    const parsed: unknown = JSON.parse(text);
    return JSON.stringify(parsed) === text ? removePrototypes(parsed) : null;
  } catch {
    return null;
  }
}

/** Lists alone can be nested so deep that parsing them takes seconds. */
const TOO_DEEP = '['.repeat(65);

function parseWireNumber(token: string): number | WireNumber {
  const number = Number(token);
  return String(number) === token ? number : new WireNumber(token);
}

/**
 * A parsed value, its objects without a prototype. They are used directly: copies made key by key take ten times as long as parsing. Throws
 * if it is nested too deep.
 */
function removePrototypes(parsed: unknown, depth = 1): Value {
  if (typeof parsed !== 'object' || parsed === null || parsed instanceof WireNumber) {
    return parsed as Value;
  }
  if (depth > DEEPEST) throw new RangeError('nested too deep');
  if (Array.isArray(parsed)) {
    for (const item of parsed) removePrototypes(item, depth + 1);
    return parsed;
  }
  const record = withoutPrototype(parsed);
  for (const key of Object.keys(record)) removePrototypes(record[key], depth + 1);
  return record;
}

/** The reason that a JSON text is not parsed: it is nested too deep, or an object has a key twice. */
export type Excess = 'too-deep' | 'duplicate-key';

const DEEPEST = 64;

/**
 * Scans a JSON text before it is parsed, without recursion: deep nesting can end a parser, and of two equal keys a parser keeps one
 * silently. A text that is not JSON is left to the parser.
 */
export function prescan(text: string): Excess | null {
  const keys: (Set<string> | null)[] = [];
  let atKey = false;
  for (let index = 0; index < text.length; index += 1) {
    switch (text[index]) {
      case '{':
      case '[':
        if (keys.length === DEEPEST) return 'too-deep';
        atKey = text[index] === '{';
        keys.push(atKey ? new Set() : null);
        break;
      case '}':
      case ']':
        keys.pop();
        atKey = false;
        break;
      case ',':
        atKey = keys.at(-1) instanceof Set;
        break;
      case '"': {
        const end = endOfString(text, index);
        if (atKey) {
          const key = parseJsonKey(text.slice(index, end + 1));
          const seen = keys.at(-1);
          if (key !== null && seen?.has(key) === true) return 'duplicate-key';
          if (key !== null) seen?.add(key);
        }
        atKey = false;
        index = end;
        break;
      }
      default:
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index;
}

function parseJsonKey(token: string): string | null {
  try {
    const key: unknown = JSON.parse(token);
    return typeof key === 'string' ? key : null;
  } catch {
    return null;
  }
}

/** A secret number that keeps the digits that the service wrote. */
export class NumberSecret extends Secret {
  readonly #token: string;

  constructor(token: string) {
    super(Number(token));
    this.#token = token;
  }

  /** The digits, for the body that carries them back. */
  revealToken(): string {
    return this.#token;
  }
}

/** The JSON text of a record, secrets revealed: for the body of a write and nothing else. Digits and order are preserved. */
export function encode(record: ValueRecord): string {
  return encodeValue(record);
}

function encodeValue(value: Value): string {
  if (value instanceof WireNumber) return value.token;
  if (value instanceof NumberSecret) return value.revealToken();
  if (value instanceof Secret) return encodeValue(value.reveal());
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new SetpointError('internal', 'A number without an end cannot be written as JSON.');
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(encodeValue).join(',')}]`;
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${encodeValue(member)}`,
  );
  return `{${members.join(',')}}`;
}
