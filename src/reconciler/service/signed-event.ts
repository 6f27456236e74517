import { createHmac, randomUUID } from 'node:crypto';
import { isReservedHeader } from '../model/address.ts';
import type { Secret } from '../model/secret.ts';
import type { Connection } from './connect.ts';

/* A webhook never shows its secret. But it answers an empty event that is signed with the right one in another way, and records neither. */

/** The scheme by which events of a webhook are signed, and the secret that it may have. */
export interface Signing {
  readonly scheme: string;
  readonly header: string;
  readonly secret: Secret;
}

/** The status of an empty event with the right signature: an empty body is no JSON. */
const RIGHT = 400;
const WRONG = 401;

/**
 * Reports whether a webhook has a secret; null if it does not answer that, as one that is off. Sends one empty event, which starts nothing.
 * Source: contract "webhooks: the secret cannot be set again, only made anew; an empty signed event tells whether it is the one".
 */
export async function compareBySignature(
  connection: Connection,
  path: string,
  { scheme, header, secret }: Signing,
  signal?: AbortSignal,
): Promise<boolean | null> {
  const sign = SCHEMES[scheme];
  const value = secret.reveal();
  const isUsable = /^[A-Za-z0-9-]{1,100}$/.test(header) && !isReservedHeader(header.toLowerCase());
  if (sign === undefined || !isUsable || typeof value !== 'string') return null;
  const headers = sign(value, header.toLowerCase(), Math.floor(connection.clock.now() / 1000));
  const { timeout } = connection;
  const answer = await connection.send({
    method: 'POST',
    path,
    body: null,
    headers,
    timeout,
    signal,
    wantsBody: () => false,
  });
  if (answer.kind === 'fault') return null;
  return answer.status === RIGHT ? true : answer.status === WRONG ? false : null;
}

type Sign = (secret: string, header: string, now: number) => Readonly<Record<string, string>>;

/** The headers of an empty event, by the scheme of its signature. */
const SCHEMES: Readonly<Record<string, Sign>> = {
  hmac_sha256_hex: (secret, header) => ({ [header]: `sha256=${hex(secret, '')}` }),
  standard_webhooks: (secret, header, now) => {
    const id = `setpoint-${randomUUID()}`;
    const own = secret.replace(/^whsec_/, '');
    const isEncoded = own.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(own);
    const key = isEncoded ? Buffer.from(own, 'base64') : secret;
    const signature = createHmac('sha256', key).update(`${id}.${now}.`).digest('base64');
    return {
      'webhook-id': id,
      'webhook-timestamp': String(now),
      [header]: `v1,${signature}`,
    };
  },
  slack_v0: (secret, header, now) => ({
    'x-slack-request-timestamp': String(now),
    [header]: `v0=${hex(secret, `v0:${now}:`)}`,
  }),
};

function hex(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}
