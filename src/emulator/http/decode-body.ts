import { detail, json, type Answer } from './answer.ts';
import type { Json } from '../json/json.ts';
import { readJson } from '../json/read-json.ts';

export type DecodedBody =
  | { readonly kind: 'body'; readonly value: Json }
  | { readonly kind: 'refused'; readonly answer: Answer };

/**
 * The JSON of a request's body: null where the body is empty, its text where the media type says that it is no JSON.
 * Source: contract "body is not JSON".
 */
export function decodeBody(bytes: Buffer, contentType: string | undefined): DecodedBody {
  const text = textOf(bytes);
  if (text === undefined) return unreadable;
  if (text === '') return { kind: 'body', value: null };
  if (!isJsonType(contentType)) return { kind: 'body', value: text };
  const reading = readJson(text);
  if (reading.kind === 'json') return { kind: 'body', value: reading.value };
  if (reading.kind === 'too-deep') return unreadable;
  return { kind: 'refused', answer: malformed(reading.position, reading.reason) };
}

const unreadable: DecodedBody = {
  kind: 'refused',
  answer: detail(400, 'There was an error parsing the body'),
};

function malformed(position: number, reason: string): Answer {
  const problem = {
    type: 'json_invalid',
    loc: ['body', BigInt(position)],
    msg: 'JSON decode error',
    input: {},
    ctx: { error: reason },
  };
  return json(422, { detail: [problem] });
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function isJsonType(contentType: string | undefined): boolean {
  return (
    contentType === undefined || /^\s*application\/(?:[^;]*\+)?json\s*(?:;|$)/i.test(contentType)
  );
}
