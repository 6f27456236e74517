import type { ServerResponse } from 'node:http';

import type { Json } from '../json/json.ts';
import { writeJson } from '../json/write-json.ts';

/** What the service answers; a `crash` is the plain text 500 after which the connection is dropped unannounced. */
export type Answer =
  | { readonly kind: 'json'; readonly status: number; readonly body: Json; readonly allow?: string }
  | { readonly kind: 'crash' };

export function json(status: number, body: Json): Answer {
  return { kind: 'json', status, body };
}

export function detail(status: number, sentence: string): Answer {
  return json(status, { detail: sentence });
}

/** What every endpoint answers to a request without the key. Source: contract "load with a wrong key". */
export const unauthorized = detail(401, 'Unauthorized');

export function sendAnswer(answer: Answer, response: ServerResponse): void {
  if (answer.kind === 'crash') return sendCrash(response);
  const body = Buffer.from(writeJson(answer.body));
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(answer.allow === undefined ? {} : { allow: answer.allow }),
  });
  response.end(body);
}

function sendCrash(response: ServerResponse): void {
  const { socket } = response;
  response.once('finish', () => socket?.destroySoon());
  const text = 'Internal Server Error';
  response.writeHead(500, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': text.length,
  });
  response.end(text);
}
