import { fieldNamed, type Field } from '../../model/field.ts';
import { holdsMask } from '../../model/mask.ts';
import type { SettingsWrite } from '../../model/plan.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import { Secret, UnseenSecret } from '../../model/secret.ts';
import { recordOf, WireNumber, type Value, type ValueRecord } from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import { encode } from '../json.ts';
import { sendOnce } from '../send.ts';
import type { TimeLimits } from '../retry.ts';
import { ServiceError } from '../service-error.ts';
import { APP_SERVER, PLACES, SETTINGS_PATH } from './dialect.ts';
import { serversIn } from '../mcp-servers.ts';
import { placed } from '../places.ts';

/**
 * Sends one POST of the fields that a plan changes, and of nothing else: the service keeps the rest. It stores what it is sent
 * under a name of its own without a look at it, and cannot read the record again if the type is wrong; so nothing is sent then.
 */
export async function storeSettings(
  connection: Connection,
  write: SettingsWrite,
  limits: TimeLimits,
): Promise<WriteAnswer> {
  const place = connection.place('POST', SETTINGS_PATH);
  const body = bodyToStore(write);
  if ('problem' in body) {
    const message = `${place} was not sent: ${body.problem}.`;
    const error = new ServiceError('settings-refused', message);
    return { kind: 'not-applied', retry: false, reached: false, error };
  }
  const answer = await sendOnce(connection, {
    method: 'POST',
    path: SETTINGS_PATH,
    body: encode(body.record),
    timeout: connection.timeout,
    limits,
    refusals: [400, 422],
    refused: (_, { status }) => refusal(place, status),
  });
  return answer.kind === 'done' ? { kind: 'stored' } : answer;
}

/** What the service answers repeats what it has stored, secrets too: none of it is read. */
function refusal(place: string, status: number): ServiceError {
  return new ServiceError(
    'settings-refused',
    `${place} was refused as invalid (status ${status}). The answer is not shown, because it repeats stored secrets.`,
    { hint: "Look for the reason in the service's logs; nothing was written." },
  );
}

/** The members whose changes are sent beside them, each with the name of those changes. */
const DIFFS: ReadonlyMap<string, string> = new Map([
  ['agent_settings', 'agent_settings_diff'],
  ['conversation_settings', 'conversation_settings_diff'],
]);

/** The body of a write: each field in its place, or why the service must not be sent it. */
export function bodyToStore({
  fields,
}: Pick<SettingsWrite, 'fields'>): { readonly record: ValueRecord } | { readonly problem: string } {
  let record: ValueRecord = recordOf([]);
  for (const [name, declared] of Object.entries(fields)) {
    const field = fieldNamed(name);
    const [first = '', ...inner] = PLACES.get(field?.name ?? 'language') ?? [];
    if (field === undefined || !PLACES.has(field.name))
      return { problem: `these services have no ${name}` };
    const value = valueToSend(field, declared);
    if (typeof value === 'object' && value !== null && 'problem' in value) return value;
    record = placed(record, [DIFFS.get(first) ?? first, ...inner], value.value);
  }
  return holdsMask(record) ? { problem: 'it would store a mask in place of a secret' } : { record };
}

function valueToSend(
  field: Field,
  value: Value,
): { readonly value: Value } | { readonly problem: string } {
  if (field.name === 'mcp_config') {
    const found = serversIn(value);
    if (!('twice' in found)) return { value: found.servers };
    return {
      problem: `two servers of mcp_config have the same name, which names one server there`,
    };
  }
  return isStorable(field, value)
    ? { value }
    : { problem: `the value of ${field.name} would make the stored settings unreadable` };
}

/** Whether the service can read again what it stores for this value: it has the type of the field, and is null only if that clears. */
function isStorable({ name, type, nullable }: Field, value: Value): boolean {
  if (value === null) return nullable && APP_SERVER.fields.get(name)?.onNull !== 'refuses';
  if (value instanceof UnseenSecret) return false;
  const bare = value instanceof Secret ? value.reveal() : value;
  if (type === 'string') return typeof bare === 'string';
  if (type === 'boolean') return typeof bare === 'boolean';
  if (bare instanceof WireNumber) return type === 'number' || /^-?\d+$/.test(bare.token);
  return (
    typeof bare === 'number' &&
    Number.isFinite(bare) &&
    (type === 'number' || Number.isInteger(bare))
  );
}
