import { removeMaskedFromConfig } from '../../model/mcp.ts';
import type { SettingsWrite } from '../../model/state.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import { isRecord, createRecord, collectSecrets, type ValueRecord } from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import { readJsonReply, sendOnce } from '../request.ts';
import { type Reply } from '../exchange.ts';
import { encode } from '../json.ts';
import type { Writing } from '../port.ts';
import { ServiceError } from '../service-error.ts';
import { formatRefusedMembers } from '../refused-members.ts';
import { SETTINGS_PATH } from './dialect.ts';

/** Sends one POST of the whole record. */
export function postWholeRecord({
  connection,
  limits,
  send,
}: Writing): (write: SettingsWrite) => Promise<WriteAnswer> {
  return async (write) => {
    const record = recordToStore(write);
    const answer = await send('write settings', () =>
      sendOnce(connection, {
        method: 'POST',
        path: SETTINGS_PATH,
        body: encode(record),
        timeout: connection.timeout,
        limits,
        refused: (place, reply) => invalidRecord(connection, place, reply, record),
      }),
    );
    return answer.kind === 'done' ? { kind: 'stored' } : answer;
  };
}

/**
 * The body of a write. POST replaces the whole record, so the body is the read record with the written fields over it. Flags and the loaded
 * secrets_store are never sent back; a password field is sent only if it is written, because a load does not answer its value. Hidden
 * fields and masks are never sent back: they would be stored instead of the hidden values.
 */
export function recordToStore({ fields, observed }: SettingsWrite): ValueRecord {
  const hidden = new Set(observed.hidden);
  const carried = Object.entries(observed.values)
    .filter(([name]) => !(name in fields) && !hidden.has(name))
    .map(
      ([name, value]) =>
        [
          name,
          name === 'mcp_config' && isRecord(value) ? removeMaskedFromConfig(value) : value,
        ] as const,
    );
  return createRecord([...carried, ...Object.entries(fields)]);
}

function invalidRecord(
  connection: Connection,
  place: string,
  reply: Reply,
  record: ValueRecord,
): ServiceError {
  const read = readJsonReply(place, reply);
  const secrets = [...connection.secrets, ...collectSecrets(record)];
  const places = 'json' in read ? formatRefusedMembers(read.json, secrets) : '';
  const listed = places === '' ? '' : `: ${places}`;
  return new ServiceError(
    'settings-refused',
    `${place} was refused as invalid (status 422)${listed}.`,
  );
}
