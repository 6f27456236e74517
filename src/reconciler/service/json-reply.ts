import type { SetpointError } from '../model/error.ts';
import { onceFor } from '../model/once.ts';
import type { Value } from '../model/value.ts';
import { decode } from './json.ts';
import { headerOf, type WireAnswer } from './exchange.ts';
import { faultError } from './fault-error.ts';
import { ServiceError } from './service-error.ts';

/** What a service that is starting shows if the proxy in front of it has no route to it yet. */
export const NO_ROUTE_YET = 'a proxy answers that nothing is there (status 404)';

export type Reply = Extract<WireAnswer, { kind: 'reply' }>;

/** The JSON of a reply, or the error that names its problem: another content type, a text that is cut off or too deep. */
export function jsonOf(place: string, reply: Reply): ReadReply {
  if (!isJson(reply)) return { error: notJson(place, reply) };
  if (!(reply.body instanceof Uint8Array)) return { error: faultError(place, reply.body) };
  const decoding = decoded(reply.body);
  if (decoding.kind === 'value') return { json: decoding.value };
  switch (decoding.problem) {
    case 'not-json':
      return {
        error: new ServiceError(
          'bad-response',
          `${place} was answered with JSON that is cut off or malformed.`,
          { retry: 'once' },
        ),
      };
    case 'too-deep':
      return {
        error: new ServiceError(
          'bad-response',
          `${place} was answered with JSON that is nested more than 64 deep.`,
        ),
      };
    case 'duplicate-key':
      return {
        error: new ServiceError(
          'bad-response',
          `${place} was answered with JSON that has a key twice in one object.`,
        ),
      };
  }
}

type ReadReply = { readonly json: Value } | { readonly error: SetpointError };

const decoded = onceFor(decode);

/** Whether a reply says that it is JSON. */
export function isJson({ headers }: Reply): boolean {
  return /^application\/([\w.-]+\+)?json *(;|$)/i.test(headerOf(headers, 'content-type') ?? '');
}

/** A 404 that is not JSON comes from a proxy, which may have no way to the service yet. */
function notJson(place: string, { status, headers }: Reply): ServiceError {
  const contentType = headerOf(headers, 'content-type') ?? '';
  return new ServiceError(
    'not-this-service',
    `${place} was answered with ${kindOf(contentType)} instead of JSON (status ${status}).`,
    {
      hint: 'Check server.url and its path prefix; a sign-in page in front of the service, or a service without this path, answers like this.',
      starting: status === 404 ? NO_ROUTE_YET : null,
    },
  );
}

/** Only what is known beforehand is named: a header may hold anything. */
function kindOf(contentType: string): string {
  const [essence = ''] = contentType.toLowerCase().split(';', 1);
  switch (essence.trim()) {
    case '':
      return 'no content type';
    case 'text/html':
    case 'application/xhtml+xml':
      return 'an HTML page';
    case 'text/plain':
    case 'text/xml':
    case 'application/xml':
    case 'application/octet-stream':
    case 'text/event-stream':
      return essence.trim();
    default:
      return 'another content type';
  }
}
