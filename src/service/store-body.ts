import type { WriteAnswer } from '../model/ports.ts';
import type { ValueRecord } from '../model/value.ts';
import type { Connection } from './connect.ts';
import { encode } from './json.ts';
import type { TimeLimits } from './retry.ts';
import { sendOnce } from './send.ts';
import { ServiceError } from './service-error.ts';

/** The body of a write, or why the service must not be sent it. */
export type BodyToStore = { readonly record: ValueRecord } | { readonly problem: string };

interface Storing {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly limits: TimeLimits;
  /** Statuses that refuse what was sent, and the error for one of them; nothing of the answer is read for it. */
  readonly refusals: readonly number[];
  readonly refusal: (place: string, status: number) => ServiceError;
}

/** Sends the body of a write to a service that merges it, once. Nothing is sent if the body has a problem. */
export async function storeBody(
  connection: Connection,
  body: BodyToStore,
  { method, path, limits, refusals, refusal }: Storing,
): Promise<WriteAnswer> {
  const place = connection.place(method, path);
  if ('problem' in body) {
    const message = `${place} was not sent: ${body.problem}.`;
    const error = new ServiceError('settings-refused', message);
    return { kind: 'not-applied', retry: false, reached: false, error };
  }
  const answer = await sendOnce(connection, {
    method,
    path,
    body: encode(body.record),
    timeout: connection.timeout,
    limits,
    refusals,
    refused: (_, { status }) => refusal(place, status),
  });
  return answer.kind === 'done' ? { kind: 'stored' } : answer;
}
