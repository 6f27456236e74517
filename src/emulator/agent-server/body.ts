import { type DecodedBody, createJsonErrorAnswer, missing } from '../http/body.ts';
import { readJson, isJsonList, isJsonObject, type Json } from '../json.ts';
import type { Call } from '../call.ts';
import { type Answer, detail, createJsonAnswer, unauthorized } from '../http/answer.ts';

/**
 * The JSON of a request's body, in UTF-8 or UTF-16. Anything else is refused before the key is checked, and a content type after it.
 * Source: contract "PATCH: bytes", "PATCH: content types", "PATCH: NaN and Infinity", "store without a key".
 */
export function readSentBody({ body, contentType, authorized }: Call): DecodedBody {
  const isJson = isAgentJsonType(contentType);
  const read = isJson && body.length > 0 ? decodeAgentBody(body) : undefined;
  if (read?.kind === 'refused') return read;
  if (!authorized) return { kind: 'refused', answer: unauthorized };
  if (body.length === 0) return { kind: 'refused', answer: missing };
  return read ?? { kind: 'refused', answer: notSerializable() };
}

function decodeAgentBody(bytes: Buffer): DecodedBody {
  const text = decodeBodyText(bytes);
  const reading = text === undefined ? undefined : readJson(withNumbers(text));
  if (reading?.kind === 'json') return { kind: 'body', value: withStoredKeys(reading.value) };
  if (reading?.kind !== 'malformed')
    return { kind: 'refused', answer: detail(400, 'There was an error parsing the body') };
  return { kind: 'refused', answer: createJsonErrorAnswer(reading.position, reading.reason) };
}

function isAgentJsonType(contentType: string | undefined): boolean {
  return (
    contentType !== undefined && /^\s*application\/(?:[^;]*\+)?json\s*(?:;|$)/i.test(contentType)
  );
}

/** Returns the answer of a server whose own code fails. Source: contract "PATCH: content types". */
export function failure(exception: string): Answer {
  const error_id = crypto.randomUUID().replaceAll('-', '');
  return createJsonAnswer(500, { detail: 'Internal Server Error', exception, error_id });
}

function notSerializable(): Answer {
  return failure('Object of type bytes is not JSON serializable');
}

/** The text of bytes that begin with a mark of their encoding, or of UTF-16 without one, or of UTF-8. */
function decodeBodyText(bytes: Buffer): string | undefined {
  const [first, second] = bytes;
  const isLittle = (first === 0xff && second === 0xfe) || (first !== 0 && second === 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second !== 0);
  const encoding = isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** JSON whose numbers that are none are beyond what a number holds: Python reads `NaN` and `Infinity`. */
function withNumbers(text: string): string {
  return text.replaceAll(
    /"(?:[^"\\]|\\.)*"|(-?)(?:NaN|Infinity)/gs,
    (found, sign: string | undefined) => (found.startsWith('"') ? found : `${sign ?? ''}1e999`),
  );
}

interface Surrogate {
  /** As Python writes it: `\ud800`. */
  readonly escaped: string;
  /** The character of its text that it is, from 0. */
  readonly position: number;
}

/** Half of a pair of UTF-16 without the other, in the first text of a value that has one; no encoding can carry it. */
export function findLoneSurrogate(value: Json): Surrogate | undefined {
  if (typeof value === 'string') return findTextSurrogate(value);
  const inner = isJsonList(value) ? value : isJsonObject(value) ? Object.entries(value).flat() : [];
  for (const one of inner) {
    const found = findLoneSurrogate(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findTextSurrogate(text: string): Surrogate | undefined {
  const characters = Array.from(text);
  const position = characters.findIndex((one) => /^\p{Surrogate}$/u.test(one));
  const found = characters[position];
  if (found === undefined) return undefined;
  return { escaped: `\\u${found.charCodeAt(0).toString(16)}`, position };
}

/**
 * A value in the form that a server stores: each of the three bytes of half a pair in a key becomes U+FFFD, which gives another key.
 * Source: release 1.57.0 answers `a\ufffd\ufffd\ufffd` for `{"misc_settings_diff": {"a\ud800": 1}}`.
 */
export function withStoredKeys(value: Json): Json {
  if (isJsonList(value)) return value.map(withStoredKeys);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key.replaceAll(/\p{Surrogate}/gu, '\uFFFD'.repeat(3)),
      withStoredKeys(member),
    ]),
  );
}
