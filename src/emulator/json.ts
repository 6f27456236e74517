import { parse, stringify } from 'lossless-json';

/**
 * A JSON value as the real server holds it: a number written without a fraction or an exponent is a bigint of any size,
 * every other number is a number. The two stay apart in requests, in the store and in answers.
 */
export type Json = null | boolean | string | bigint | number | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

export function isJsonObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** An object's own member of that name, or undefined. */
export function readOwnMember(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** An object's own member of that name if it is an object, or an empty one. */
export function readObjectMember(object: JsonObject, name: string): JsonObject {
  const value = readOwnMember(object, name) ?? null;
  return isJsonObject(value) ? value : {};
}

/** An object's own member of that name if it is a text, or an empty one; also empty for a value that is not an object. */
export function readTextMember(value: Json, name: string): string {
  const found = isJsonObject(value) ? readOwnMember(value, name) : undefined;
  return typeof found === 'string' ? found : '';
}

/** `position` counts characters (not UTF-16 units) from 0, as the real server does in `detail[].loc`. */
export type JsonReading =
  | { readonly kind: 'json'; readonly value: Json }
  | { readonly kind: 'malformed'; readonly position: number; readonly reason: string }
  | { readonly kind: 'too-deep' };

/** The greatest depth of nested lists and objects; a real server gives up at a similar depth. */
const MAX_DEPTH = 500;

/** Reads JSON. If two members have one name, the last counts. */
export function readJson(text: string): JsonReading {
  if (isDeeperThan(MAX_DEPTH, text)) return { kind: 'too-deep' };
  try {
    const value = parse(text, null, {
      parseNumber: (digits) => (/[.eE]/.test(digits) ? Number(digits) : BigInt(digits)),
      onDuplicateKey: ({ newValue }) => newValue,
    });
    return { kind: 'json', value: value as Json };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const found = /^(.*) at position (\d+)$/s.exec(error.message);
    const position = Array.from(text.slice(0, Number(found?.[2] ?? 0))).length;
    return { kind: 'malformed', position, reason: found?.[1] ?? 'Expecting value' };
  }
}

/** Judged before parsing: the parser recurses. */
function isDeeperThan(limit: number, text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text[at];
    if (mark === '"') quoted = !quoted;
    else if (quoted) at += mark === '\\' ? 1 : 0;
    else if (mark === '[' || mark === '{') depth += 1;
    else if (mark === ']' || mark === '}') depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

/** The JSON text of a value, without spaces: a bigint as its digits, a number always with a fraction or an exponent. */
export function writeJson(value: Json): string {
  return stringify(value, null, undefined, [FRACTION]) ?? 'null';
}

const FRACTION = {
  test: (value: unknown) => typeof value === 'number' && Number.isFinite(value),
  stringify: (value: unknown) => {
    const text = Object.is(value, -0) ? '-0' : String(value);
    return /[.e]/.test(text) ? text : `${text}.0`;
  },
};

/**
 * A record after a merge patch: objects merge, at any depth, null removes a member, everything else replaces. A map that was not there is
 * stored unchanged, with its nulls. Members named in `whole` are never merged.
 */
export function applyMergePatch(
  before: JsonObject,
  patch: JsonObject,
  whole: ReadonlySet<string> = new Set(),
): JsonObject {
  const after = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(patch)) {
    const was = after.get(name);
    if (value === null) after.delete(name);
    else if (whole.has(name) || !isJsonObject(value)) after.set(name, value);
    else
      after.set(name, was !== undefined && isJsonObject(was) ? applyMergePatch(was, value) : value);
  }
  return Object.fromEntries(after);
}
