import { fieldNamed } from '../../model/field.ts';
import { holdsMask } from '../../model/mask.ts';
import { NATIVE_PARTS } from '../../model/native-parts.ts';
import { nativeSchema, nodesAt } from '../../model/native-schema.ts';
import { pathNamed, type Path } from '../../model/path.ts';
import type { SettingsWrite } from '../../model/plan.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import { isEmpty, placed, recordOf, type Value, type ValueRecord } from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import { nativeChanges } from '../native.ts';
import type { TimeLimits } from '../retry.ts';
import { ServiceError } from '../service-error.ts';
import { storeBody } from '../store-body.ts';
import { AGENT, AGENT_SERVER, CONVERSATION, MISC, PLACES, SETTINGS_PATH } from './dialect.ts';
import { serversDiff } from './servers-diff.ts';

/**
 * Sends one PATCH of what differs, and of nothing else: no member as it was read, because the server takes the mask of a secret for
 * the order to clear it.
 */
export async function storeSettings(
  connection: Connection,
  write: SettingsWrite,
  limits: TimeLimits,
): Promise<WriteAnswer> {
  return storeBody(connection, bodyToStore(write), {
    method: 'PATCH',
    path: SETTINGS_PATH,
    limits,
    refusals: [400, 404, 409, 422],
    refusal: (place, status) => refusal(place, status, write),
  });
}

/** Members that name something else on the server. */
const POINTERS: readonly string[] = [
  'active_profile',
  'active_agent_profile_id',
  'active_meta_profile',
];

/** What the server answers may repeat what was sent: none of it is read. Of a wrong value it does not say which it is. */
function refusal(place: string, status: number, { fields }: SettingsWrite): ServiceError {
  const named = POINTERS.filter((name) => !isEmpty(fields[name]));
  if (status === 404 && named.length > 0) {
    const which = named.join(' or ');
    return new ServiceError(
      'settings-refused',
      `${place} was refused: the server has nothing of the name that ${which} has (status 404). Nothing was written.`,
      { hint: `Create what ${which} names on the server first, or name something that it has.` },
    );
  }
  if (status === 409) {
    return new ServiceError(
      'settings-refused',
      `${place} was refused: the server cannot read all that it has stored (status 409). Nothing was written.`,
      {
        hint: "Look at the server's OH_SECRET_KEY: its settings.json is encrypted with another key, or is corrupted. Put the former key back, or add it to OH_PREVIOUS_SECRET_KEYS.",
      },
    );
  }
  return new ServiceError(
    'settings-refused',
    `${place} was refused as invalid (status ${status}), and the server does not say which value it refuses. Nothing was written.`,
    { hint: "Look for the reason in the server's logs." },
  );
}

/** The members whose changes are sent, each with the name of those changes. */
const DIFFS: ReadonlyMap<string, string> = new Map([
  [AGENT, 'agent_settings_diff'],
  [CONVERSATION, 'conversation_settings_diff'],
  [MISC, 'misc_settings_diff'],
]);

/** Why a write must not be sent; null if it may be. */
export function unwritable(write: SettingsWrite): string | null {
  const body = bodyToStore(write);
  return 'problem' in body ? body.problem : null;
}

/** The body of a write: each field in its place, or why the server must not be sent it. */
export function bodyToStore({
  fields,
  observed,
}: SettingsWrite): { readonly record: ValueRecord } | { readonly problem: string } {
  let record: ValueRecord = recordOf([]);
  for (const [[first = '', ...inner], value] of nativeChanges({ fields }))
    record = placed(
      record,
      [DIFFS.get(first) ?? first, ...inner],
      nativeToSend([first, ...inner], value),
    );
  for (const [name, declared] of Object.entries(fields)) {
    if (NATIVE_PARTS.has(pathNamed(name)[0] ?? '')) continue;
    const field = fieldNamed(name)?.name;
    const at = field === undefined ? undefined : PLACES.get(field);
    if (field === undefined || at === undefined)
      return { problem: `these services have no ${name}` };
    const [first = '', ...inner] = at;
    if (field !== 'mcp_config') {
      record = placed(
        record,
        [DIFFS.get(first) ?? first, ...inner],
        toSend(field, first, declared),
      );
      continue;
    }
    const diff = serversDiff(declared, observed.values[name] ?? null);
    if ('problem' in diff) return diff;
    record = placed(record, [DIFFS.get(first) ?? first, ...inner], diff.servers);
  }
  return holdsMask(record) ? { problem: 'it would clear a secret by its mask' } : { record };
}

/** In conversation_settings null is stored or refused: its default takes its place. */
function nativeToSend(path: Path, value: Value): Value {
  const schema = nativeSchema('agent-server');
  if (value !== null || path[0] !== CONVERSATION || schema === null) return value;
  const node = nodesAt(schema, path).find((one) => one.default !== undefined);
  return (node?.default as Value | undefined) ?? null;
}

/** null resets a member of agent_settings and removes one of misc_settings; in conversation_settings it is stored or refused. */
function toSend(name: string, part: string, value: Value): Value {
  const field = AGENT_SERVER.fields.get(name);
  if (part === CONVERSATION && value === null && field?.onNull === 'resets') return field.absent;
  return name === 'llm_base_url' && value === '' ? null : value;
}
