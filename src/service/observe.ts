import type { Observer } from '../model/ports.ts';
import type { Connection } from './connect.ts';
import { SETTINGS_PATH } from './dialect.ts';
import { UNLIMITED, type TimeLimits } from './limits.ts';
import { look } from './look.ts';
import { retrying } from './retry.ts';

/**
 * Reads the settings of a service, as often as it takes within the deadline. Throws a SetpointError that names the request
 * and what came of it: unreachable, tls, timed-out, redirected, unauthorized, rate-limited, server-error, bad-response,
 * response-too-large, not-this-service, dialect-not-spoken, interrupted.
 */
export function settingsObserver(connection: Connection, limits: TimeLimits = UNLIMITED): Observer {
  const { clock, random } = connection;
  const place = connection.place('GET', SETTINGS_PATH);
  return {
    observe: retrying(
      (signal) => look(connection, limits, signal),
      { clock, place, random },
      limits,
    ),
  };
}
