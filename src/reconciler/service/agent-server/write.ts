import type { SpecifiedField } from '../../model/field.ts';
import { defaultOf, nativeNodes } from '../../model/native-schema.ts';
import type { Path } from '../../model/path.ts';
import type { SettingsWrite } from '../../model/plan.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import type { Value } from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import type { TimeLimits } from '../retry.ts';
import { bodyProblem, mergedBody, storeBody, type BodyToStore } from '../store-body.ts';
import { AGENT, AGENT_SERVER, CONVERSATION, MISC, PLACES, SETTINGS_PATH } from './dialect.ts';
import { refusal } from './refusal.ts';
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
    refusal: (place, reply) => refusal(connection, place, reply, write),
  });
}

const DIFFS: ReadonlyMap<string, string> = new Map([
  [AGENT, 'agent_settings_diff'],
  [CONVERSATION, 'conversation_settings_diff'],
  [MISC, 'misc_settings_diff'],
]);

/** Why a write must not be sent; null if it may be. */
export function unwritable(write: SettingsWrite): string | null {
  return bodyProblem(bodyToStore(write));
}

/** The body of a write: each field in its place, or why the server must not be sent it. */
export function bodyToStore({ fields, observed }: SettingsWrite): BodyToStore {
  return mergedBody(fields, {
    places: PLACES,
    diffs: DIFFS,
    ofNative: (path, value) => ({ value: nativeToSend(path, value) }),
    ofField: (field, value) =>
      field.name === 'mcp_config'
        ? serversDiff(value, observed.values['mcp_config'] ?? null)
        : { value: toSend(field, value) },
    withMask: 'it would clear a secret by its mask',
  });
}

/** In conversation_settings null is stored or refused: its default takes its place. */
function nativeToSend(path: Path, value: Value): Value {
  if (value !== null || path[0] !== CONVERSATION) return value;
  return defaultOf(nativeNodes('agent-server', path)) ?? null;
}

/** null resets a member of agent_settings and removes one of misc_settings; in conversation_settings it is stored or refused. */
function toSend({ name }: SpecifiedField, value: Value): Value {
  const here = AGENT_SERVER.fields.get(name);
  const isKept = PLACES.get(name)?.[0] === CONVERSATION;
  if (value === null && isKept && here?.onNull === 'resets') return here.absent;
  return name === 'llm_base_url' && value === '' ? null : value;
}
