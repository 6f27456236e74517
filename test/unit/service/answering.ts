import type { Dispatcher } from 'undici';
import { connect, type Connection } from '../../../src/reconciler/service/connect.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import type { Value } from '../../../src/reconciler/model/value.ts';
import type { Writing } from '../../../src/reconciler/service/port.ts';
import { UNLIMITED } from '../../../src/reconciler/service/request.ts';
import { encode } from '../../../src/reconciler/service/json.ts';
import { quickClock } from '../../fixture/settings.ts';

export const ORIGIN = 'https://service.example';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
}

/** A service without a network that answers every request so, and what it was sent. */
export function answering(
  status: number,
  answer: unknown = { message: 'canary-answer' },
  type = 'application/json',
) {
  const sent: Sent[] = [];
  const server = {
    url: ORIGIN,
    origin: ORIGIN,
    apiKey: new Secret('canary-session-key', '${env:KEY}'),
    auth: 'both',
    dialect: 'auto',
    headers: new Map(),
    caFile: null,
    clientCert: null,
    clientKey: null,
    compareSecrets: false,
  } as const;
  const options = { timeout: 5_000, clock: quickClock(), userAgent: 'setpoint/test' };
  const connection: Connection = {
    ...connect(server, { ...options, dispatcher: NO_NETWORK }),
    send({ method, path, body }) {
      sent.push({ method, path, body });
      const headers = { 'content-type': type };
      const bytes = new TextEncoder().encode(JSON.stringify(answer));
      return Promise.resolve({ kind: 'reply', status, headers, body: bytes });
    },
  };
  const writing: Writing = { connection, limits: UNLIMITED, send: (_, work) => work() };
  return { connection, writing, sent };
}

const NO_NETWORK = {} as Dispatcher;

/** What the bytes of a body say, or why it is not sent. */
export function bodyText(
  made: { readonly record: Readonly<Record<string, Value>> } | { readonly problem: string },
): unknown {
  return 'problem' in made ? made.problem : JSON.parse(encode(made.record));
}
