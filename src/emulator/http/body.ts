import type { IncomingMessage } from 'node:http';
import type { Call } from '../call.ts';
import { type Json, readJson } from '../json.ts';
import { type Answer, detail, createJsonAnswer, unauthorized, unprocessable } from './answer.ts';

const maxBodyBytes = 1024 * 1024;

/**
 * The body's bytes, or undefined if there are more than 1 MiB. A longer body is read to its end and discarded, because a
 * client that is still sending may not see an early answer.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size <= maxBodyBytes ? Buffer.concat(chunks) : undefined;
}

export type DecodedBody =
  | { readonly kind: 'body'; readonly value: Json }
  | { readonly kind: 'refused'; readonly answer: Answer };

/**
 * The JSON of a request's body: null if the body is empty, the text itself if its media type is not JSON.
 * Source: contract "body is not JSON".
 */
export function decodeBody(bytes: Buffer, contentType: string | undefined): DecodedBody {
  const text = decodeUtf8(bytes);
  if (text === undefined) return unreadable;
  if (text === '') return { kind: 'body', value: null };
  if (!isJsonContentType(contentType)) return { kind: 'body', value: text };
  const reading = readJson(text);
  if (reading.kind === 'json') return { kind: 'body', value: reading.value };
  if (reading.kind === 'too-deep') return unreadable;
  return { kind: 'refused', answer: createJsonErrorAnswer(reading.position, reading.reason) };
}

/** The answer to a request without the body that it must have. */
export const missing = unprocessable([
  { type: 'missing', loc: ['body'], msg: 'Field required', input: null },
]);

/**
 * The JSON of a request that must have some. Anything else is refused before the key is checked.
 * Source: contract "body is not JSON".
 */
export function readRequiredBody({ body, contentType, authorized }: Call): DecodedBody {
  const decoded = decodeBody(body, contentType);
  if (decoded.kind === 'refused') return decoded;
  if (!authorized) return { kind: 'refused', answer: unauthorized };
  return decoded.value === null ? { kind: 'refused', answer: missing } : decoded;
}

const unreadable: DecodedBody = {
  kind: 'refused',
  answer: detail(400, 'There was an error parsing the body'),
};

/** The answer to a text that is not JSON from a character on. */
export function createJsonErrorAnswer(position: number, reason: string): Answer {
  const problem = {
    type: 'json_invalid',
    loc: ['body', BigInt(position)],
    msg: 'JSON decode error',
    input: {},
    ctx: { error: sentenceFor(reason) },
  };
  return createJsonAnswer(422, { detail: [problem] });
}

/** Python's sentence for a place where a text is not JSON. */
export function sentenceFor(reason: string): string {
  if (reason.startsWith('Expected end of input')) return 'Extra data';
  if (/key/.test(reason)) return 'Expecting property name enclosed in double quotes';
  if (reason.startsWith('Colon')) return "Expecting ':' delimiter";
  if (/^(?:Comma|Array item or end)/.test(reason)) return "Expecting ',' delimiter";
  if (reason.startsWith('Invalid escape')) return 'Invalid \\escape';
  return 'Expecting value';
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function isJsonContentType(contentType: string | undefined): boolean {
  return (
    contentType === undefined || /^\s*application\/(?:[^;]*\+)?json\s*(?:;|$)/i.test(contentType)
  );
}
