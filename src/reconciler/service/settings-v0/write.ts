import { SHORTEST_INSIDE, Redactor } from '../../model/redactor.ts';
import { removeMaskedFromConfig } from '../../model/mcp.ts';
import type { SettingsWrite } from '../../model/state.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import type { Secret } from '../../model/secret.ts';
import {
  isList,
  isRecord,
  createRecord,
  collectSecrets,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import { readJsonReply, sendOnce } from '../request.ts';
import { type Reply } from '../exchange.ts';
import { encode } from '../json.ts';
import type { Writing } from '../port.ts';
import { ServiceError } from '../service-error.ts';
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
  const places = 'json' in read ? formatRejectedPlaces(read.json, secrets) : '';
  const listed = places === '' ? '' : `: ${places}`;
  return new ServiceError(
    'settings-refused',
    `${place} was refused as invalid (status 422)${listed}.`,
  );
}

/** The sent values that must not be shown. */
interface Hidden {
  readonly redactor: Redactor;
  readonly secrets: readonly Secret[];
}

const MOST = 10;
const DEEPEST = 12;

/**
 * The objections of a 422, in words: `mcp_config.sse_servers.0.url (missing)`. The answer repeats the request, including secrets, so only
 * `loc` and `type` of its details are read, and of those only parts with the form of a name or a position that neither contain one of the
 * secrets, in any form or case, nor are a part of one. Empty if there are none.
 */
function formatRejectedPlaces(body: Value, secrets: readonly Secret[]): string {
  const details = isRecord(body) && isList(body['detail']) ? body['detail'] : [];
  const redactor = new Redactor();
  for (const secret of secrets) redactor.addSecret(secret);
  const hidden = { redactor, secrets };
  const places = details.flatMap((detail) => formatRejectedPlace(detail, hidden) ?? []);
  const shown = [...new Set(places)].slice(0, MOST).join(', ');
  return places.length > MOST ? `${shown} and more` : shown;
}

function formatRejectedPlace(detail: Value, hidden: Hidden): string | null {
  if (!isRecord(detail) || !isList(detail['loc'])) return null;
  const path = detail['loc'][0] === 'body' ? detail['loc'].slice(1) : detail['loc'];
  const segments = path.slice(0, DEEPEST).map((segment) => segmentText(segment, hidden));
  const type = detail['type'];
  const named = typeof type === 'string' && isTelling(type, /^[a-z][a-z0-9_]{0,39}$/, hidden);
  return `${segments.join('.') || 'the body'}${named ? ` (${type})` : ''}`;
}

function segmentText(segment: Value, hidden: Hidden): string {
  if (typeof segment === 'number') return Number.isSafeInteger(segment) ? String(segment) : '?';
  if (typeof segment !== 'string') return '?';
  return isTelling(segment, /^[A-Za-z_][A-Za-z0-9_-]{0,39}$/, hidden) ? segment : '?';
}

function isTelling(text: string, form: RegExp, { redactor, secrets }: Hidden): boolean {
  return (
    form.test(text) &&
    redactor.text(text) === text &&
    !secrets.some((secret) => secret.fits((value) => isSecretFragment(text, value)))
  );
}

/** Short texts are part of any secret. */
function isSecretFragment(text: string, value: string): boolean {
  return text.length >= SHORTEST_INSIDE && value.toLowerCase().includes(text.toLowerCase());
}
