import type { ServerResponse } from 'node:http';
import { type Json, writeJson } from '../json.ts';
import type { RuleProblem } from '../rules.ts';

/**
 * An answer of the service. A `text` is a 200 in plain text, and an `empty` one a 204. A `crash` is a 500 in plain text, after which the connection is closed
 * without notice.
 */
export type Answer =
  | { readonly kind: 'json'; readonly status: number; readonly body: Json; readonly allow?: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'crash' };

export function createJsonAnswer(status: number, body: Json): Answer {
  return { kind: 'json', status, body };
}

export function detail(status: number, sentence: string): Answer {
  return createJsonAnswer(status, { detail: sentence });
}

/** The answer of every endpoint to a request without the key. Source: contract "load with a wrong key". */
export const unauthorized = detail(401, 'Unauthorized');

/** The 422 that lists every problem of a request. */
export function unprocessable(problems: readonly RuleProblem[]): Answer {
  return createJsonAnswer(422, { detail: problems.map(item) });
}

function item({ type, loc, msg, input, ctx }: RuleProblem): Json {
  const shown = { type, loc, msg, input };
  if (ctx !== undefined) return { ...shown, ctx };
  return type === 'value_error' ? { ...shown, ctx: { error: {} } } : shown;
}

export function sendAnswer(answer: Answer, response: ServerResponse): void {
  if (answer.kind === 'crash') return sendCrash(response);
  if (answer.kind === 'text') return sendText(200, answer.text, response);
  if (answer.kind === 'empty') {
    response.writeHead(204, { 'content-type': 'application/json' });
    response.end();
    return;
  }
  if (answer.kind === 'redirect') {
    response.writeHead(307, { location: answer.to, 'content-length': 0 });
    response.end();
    return;
  }
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
  sendText(500, 'Internal Server Error', response);
}

function sendText(status: number, text: string, response: ServerResponse): void {
  const body = Buffer.from(text);
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': body.length,
  });
  response.end(body);
}
