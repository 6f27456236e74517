import { fieldNamed, type Field } from '../../model/field.ts';
import { faultsIn } from '../../model/json-schema.ts';
import { holdsMask } from '../../model/mask.ts';
import { NATIVE_PARTS } from '../../model/native-parts.ts';
import { nativeSchema, nodesAt } from '../../model/native-schema.ts';
import { pathNamed, type Path } from '../../model/path.ts';
import type { SettingsWrite } from '../../model/plan.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import { Secret, UnseenSecret } from '../../model/secret.ts';
import { placed, recordOf, type Value, type ValueRecord, WireNumber } from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import type { TimeLimits } from '../retry.ts';
import { ServiceError } from '../service-error.ts';
import { storeBody } from '../store-body.ts';
import { nativeChanges } from '../native.ts';
import { APP_SERVER, PLACES, SETTINGS_PATH } from './dialect.ts';
import { serversIn, twiceProblem } from '../mcp-servers.ts';

/**
 * Sends one POST of the fields that a plan changes, and of nothing else: the service keeps the rest. It stores what it is sent
 * under a name of its own without a look at it, and cannot read the record again if the type is wrong; so nothing is sent then.
 */
export async function storeSettings(
  connection: Connection,
  write: SettingsWrite,
  limits: TimeLimits,
): Promise<WriteAnswer> {
  return storeBody(connection, bodyToStore(write), {
    method: 'POST',
    path: SETTINGS_PATH,
    limits,
    refusals: [400, 422],
    refusal,
  });
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

/** Why a write must not be sent; null if it may be. */
export function unwritable(write: SettingsWrite): string | null {
  const body = bodyToStore(write);
  return 'problem' in body ? body.problem : null;
}

/** The body of a write: each field in its place, or why the service must not be sent it. */
export function bodyToStore(
  write: SettingsWrite,
): { readonly record: ValueRecord } | { readonly problem: string } {
  let record: ValueRecord = recordOf([]);
  for (const [[first = '', ...inner], declared] of nativeChanges(write)) {
    const value = nativeToSend([first, ...inner], declared);
    if (value === undefined)
      return { problem: `the value of ${first} would make the stored settings unreadable` };
    record = placed(record, [DIFFS.get(first) ?? first, ...inner], value);
  }
  for (const [name, declared] of Object.entries(write.fields)) {
    if (NATIVE_PARTS.has(pathNamed(name)[0] ?? '')) continue;
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

/**
 * A native value as it is sent; undefined if the service could not read its record again. In the parts whose changes are sent
 * null brings the default back; at the top of the record it is stored, so that the default itself is sent.
 */
function nativeToSend(path: Path, value: Value): Value | undefined {
  const schema = nativeSchema('app-server');
  const nodes = schema === null ? [] : nodesAt(schema, path);
  if (schema === null || path.length > 1) return value;
  const sent =
    value ??
    (nodes.find((node) => node.default !== undefined)?.default as Value | undefined) ??
    null;
  return faultsIn(sent, { anyOf: nodes }, schema.$defs).length === 0 ? sent : undefined;
}

function valueToSend(
  field: Field,
  value: Value,
): { readonly value: Value } | { readonly problem: string } {
  if (field.name === 'mcp_config') {
    const found = serversIn(value);
    if (!('twice' in found)) return { value: found.servers };
    return { problem: twiceProblem(found.twice) };
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
