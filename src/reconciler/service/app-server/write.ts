import type { SpecifiedField } from '../../model/field.ts';
import { findSchemaFaults } from '../../model/json-schema.ts';
import { findServerDefault, nativeSchema, selectSchemaNodes } from '../../model/native-schema.ts';
import { formatPath, type Path } from '../../model/path.ts';
import type { SettingsWrite, LlmProfiles } from '../../model/state.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import { Secret } from '../../model/secret.ts';
import {
  WireNumber,
  type Value,
  isRecord,
  createRecord,
  type ValueRecord,
} from '../../model/value.ts';
import {
  bodyProblem,
  type BodyToStore,
  buildStoreBody,
  type Sendable,
  convertServerLists,
  storeBody,
  twiceProblem,
} from '../store-body.ts';
import type { Reply } from '../exchange.ts';
import type { Writing } from '../port.ts';
import { ServiceError } from '../service-error.ts';
import { APP_SERVER, PLACES, SETTINGS_PATH } from './dialect.ts';

/**
 * Sends one POST of the fields that a plan changes, and of nothing else: the service keeps the rest. It stores what it is sent
 * under a name of its own without a look at it, and cannot read the record again if the type is wrong; so nothing is sent then.
 */
export function postChangedSettings(
  writing: Writing,
): (write: SettingsWrite) => Promise<WriteAnswer> {
  return (write) =>
    storeBody(writing, buildPostBody(write), {
      method: 'POST',
      path: SETTINGS_PATH,
      refusals: [400, 422],
      refusal,
    });
}

/** Creates the error of a refusal. The answer repeats stored values, secrets too: none of it is read. */
function refusal(place: string, { status }: Reply): ServiceError {
  return new ServiceError(
    'settings-refused',
    `${place} was refused as invalid (status ${status}). The answer is not shown, because it repeats stored secrets.`,
    { hint: "Look for the reason in the service's logs. nothing was written." },
  );
}

const DIFFS: ReadonlyMap<string, string> = new Map([
  ['agent_settings', 'agent_settings_diff'],
  ['conversation_settings', 'conversation_settings_diff'],
]);

/** Explains why a write must not be sent; null if it may be. */
export function explainPostRefusal(write: SettingsWrite): string | null {
  return bodyProblem(buildPostBody(write));
}

/** The body of a write: each field in its place, or why the service must not be sent it. */
export function buildPostBody({ fields }: SettingsWrite): BodyToStore {
  return buildStoreBody(fields, {
    places: PLACES,
    diffs: DIFFS,
    ofNative: toPostNative,
    ofField: toPostField,
    withMask: 'it would store a mask instead of a secret',
  });
}

/** In the parts whose changes are sent null restores the default; at the top of the record it is stored, so the default itself is sent. */
function toPostNative(path: Path, value: Value): Sendable {
  const schema = nativeSchema('app-server');
  if (schema === null || path.length > 1) return { value };
  const nodes = selectSchemaNodes(schema, path);
  const sent = value ?? findServerDefault(nodes) ?? null;
  const isReadable = findSchemaFaults(sent, { anyOf: nodes }, schema.$defs).length === 0;
  return isReadable ? { value: sent } : unreadableValue(formatPath(path));
}

function toPostField(field: SpecifiedField, value: Value): Sendable {
  if (field.name !== 'mcp_config')
    return isStorable(field, value) ? { value } : unreadableValue(field.name);
  const found = convertServerLists(value);
  return 'twice' in found ? { problem: twiceProblem(found.twice) } : { value: found.servers };
}

function unreadableValue(name: string): Sendable {
  return { problem: `the value of ${name} would make the stored settings unreadable` };
}

/** Reports whether the service can read this value after storing it: it has the field's type, and is null only if that clears. */
function isStorable({ name, type, nullable }: SpecifiedField, value: Value): boolean {
  if (value === null) return nullable && APP_SERVER.fields.get(name)?.onNull !== 'refuses';
  const bare = value instanceof Secret ? value.reveal() : value;
  if (type === 'string') return typeof bare === 'string';
  if (type === 'boolean') return typeof bare === 'boolean';
  if (bare instanceof WireNumber) return type === 'number' || /^-?\d+$/.test(bare.token);
  return type === 'number' ? Number.isFinite(bare) : Number.isInteger(bare);
}

const PROFILES = 'llm_profiles';

/** The form of a name. What has another could not be part of a path. */
const NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;

/** The LLM profiles in an answer; undefined if it has none. */
export function readLlmProfiles(answer: ValueRecord): LlmProfiles | undefined {
  const held = answer[PROFILES] ?? null;
  const llms = isRecord(held) ? (held['profiles'] ?? null) : null;
  if (!isRecord(held) || !isRecord(llms)) return undefined;
  const { active } = held;
  return { active: typeof active === 'string' ? active : null, llms };
}

/** POST /api/v1/settings/profiles/{name}/activate: the llm of the profile replaces that of the settings. */
export function createProfileActivation(writing: Writing): (name: string) => Promise<WriteAnswer> {
  return (name) => {
    const body = NAME.test(name)
      ? { record: createRecord({}) }
      : { problem: 'the name of the profile cannot be part of a path' };
    return storeBody(writing, body, {
      method: 'POST',
      path: `${SETTINGS_PATH}/profiles/${name}/activate`,
      refusals: [400, 404, 422],
      refusal: (place, { status }) =>
        new ServiceError('settings-refused', `${place} was refused (status ${status}).`),
    });
  };
}
