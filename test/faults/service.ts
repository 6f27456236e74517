import { inspect } from 'node:util';
import { expect, onTestFinished } from 'vitest';

import { SetpointError } from '../../src/reconciler/model/error.ts';
import type { SettingsWrite, ServerSettings } from '../../src/reconciler/model/state.ts';
import type { Observer, WriteAnswer } from '../../src/reconciler/model/ports.ts';
import { Secret } from '../../src/reconciler/model/secret.ts';
import {
  connect,
  type Connection,
  type ConnectOptions,
} from '../../src/reconciler/service/connect.ts';
import { settingsObserver } from '../../src/reconciler/service/settings.ts';
import { DIALECTS } from '../../src/reconciler/service/dialects.ts';
import { UNLIMITED } from '../../src/reconciler/service/request.ts';
import { fakeClock, type FakeClock } from './fake-clock.ts';
import { writeOf } from '../fixture/observed.ts';

export const KEY = 'canary-key-3f9a51c7';

export interface Service {
  readonly connection: Connection;
  readonly observer: Observer;
  readonly store: (write: SettingsWrite) => Promise<WriteAnswer>;
  readonly clock: FakeClock;
}

export type ServiceOptions = Partial<ConnectOptions> & {
  readonly server?: Partial<ServerSettings>;
  /** Milliseconds from now. */
  readonly budget?: number;
};

/** A connection to that address, with a clock that does not wait; closed after the test. */
export function serviceAt(
  url: string,
  { server, budget, ...options }: ServiceOptions = {},
): Service {
  const clock = fakeClock();
  const connection = connect(serverAt(url, server), {
    timeout: 5_000,
    clock,
    userAgent: 'setpoint/test',
    random: () => 1,
    ...options,
  });
  onTestFinished(() => connection.close());
  const limits = budget === undefined ? undefined : { deadline: clock.monotonic() + budget };
  return {
    connection,
    clock,
    observer: settingsObserver(connection, limits),
    store: (write) =>
      DIALECTS[write.observed.dialect.name].write({
        connection,
        limits: limits ?? UNLIMITED,
        send: (_, work) => work(),
      })(write),
  };
}

export function serverAt(url: string, server: Partial<ServerSettings> = {}): ServerSettings {
  return {
    url,
    origin: new URL(url).origin,
    apiKey: new Secret(KEY, '${env:KEY}'),
    auth: 'both',
    dialect: 'auto',
    headers: new Map(),
    caFile: null,
    clientCert: null,
    clientKey: null,
    compareSecrets: false,
    ...server,
  };
}

/** The error with which an observation fails. */
export async function failure({ observer }: Service, signal?: AbortSignal): Promise<SetpointError> {
  const thrown: unknown = await observer.observe(signal).then(
    () => new Error('the observation succeeded'),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(SetpointError);
  tellsNothing(thrown);
  return thrown as SetpointError;
}

/** What became of a write of one secret and one plain field. */
export async function written({ store }: Service): Promise<WriteAnswer> {
  const answer = await store(writeOf({ language: 'en', llm_api_key: new Secret(KEY) }));
  if (answer.kind !== 'stored') tellsNothing(answer.error);
  return answer;
}

/** No form of an error holds the canary. */
export function tellsNothing(error: unknown): void {
  const shown = error instanceof Error ? `${error.message}\n${error.stack}` : '';
  const all = [shown, JSON.stringify(error), inspect(error, { depth: 9, showHidden: true })].join();
  expect(all.toLowerCase()).not.toContain('canary');
}
