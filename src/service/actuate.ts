import type { Actuator } from '../model/ports.ts';
import { secretsIn, type ValueRecord } from '../model/value.ts';
import type { Connection } from './connect.ts';
import { SETTINGS_PATH } from './dialect.ts';
import { encode } from './encode.ts';
import { jsonOf, type Reply } from './json-reply.ts';
import { UNLIMITED, type TimeLimits } from './limits.ts';
import { post } from './post.ts';
import { refusedPlaces } from './refused-places.ts';
import { ServiceError } from './service-error.ts';

/**
 * Writes the settings of a service: one POST of the whole record for each call. The error of a write that did not take effect
 * is a ServiceError where the service said when to come back.
 */
export function settingsActuator(connection: Connection, limits: TimeLimits = UNLIMITED): Actuator {
  return {
    store: async (record) => {
      const answer = await post(connection, {
        path: SETTINGS_PATH,
        body: encode(record),
        timeout: connection.timeout,
        limits,
        refused: (place, reply) => refused(connection, place, reply, record),
      });
      return answer.kind === 'done' ? { kind: 'stored' } : answer;
    },
  };
}

function refused(
  connection: Connection,
  place: string,
  reply: Reply,
  record: ValueRecord,
): ServiceError {
  const read = jsonOf(place, reply);
  const secrets = [...connection.secrets, ...secretsIn(record)];
  const places = 'json' in read ? refusedPlaces(read.json, secrets) : '';
  const told = places === '' ? '' : `: ${places}`;
  return new ServiceError(
    'settings-refused',
    `${place} was refused as invalid (status 422)${told}.`,
  );
}
