import { modelHint, type SpecifiedField } from '../../model/field.ts';
import { findServerDefault, nativeNodes } from '../../model/native-schema.ts';
import type { Path } from '../../model/path.ts';
import type { SettingsWrite } from '../../model/state.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import { collectSecrets, isEmpty, isList, isRecord, type Value } from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import type { Writing } from '../port.ts';
import { bodyProblem, type BodyToStore, buildStoreBody, storeBody } from '../store-body.ts';
import { AGENT, AGENT_SERVER, CONVERSATION, MISC, PLACES, SETTINGS_PATH } from './dialect.ts';
import { serversDiff } from './servers-diff.ts';
import type { SetpointError } from '../../model/error.ts';
import { readJsonReply } from '../request.ts';
import { type Reply } from '../exchange.ts';
import { formatPlace, formatRefusedMembers } from '../refused-members.ts';
import { ServiceError } from '../service-error.ts';
import { createStatusError } from '../status-error.ts';

/**
 * Sends one PATCH of what differs, and of nothing else: no member as it was read, because the server takes the mask of a secret for
 * the order to clear it.
 */
export function patchSettings(writing: Writing): (write: SettingsWrite) => Promise<WriteAnswer> {
  return (write) =>
    storeBody(writing, buildPatchBody(write), {
      method: 'PATCH',
      path: SETTINGS_PATH,
      refusals: [400, 404, 409, 422],
      refusal: (place, reply) => patchRefusal(writing.connection, place, reply, write),
    });
}

const DIFFS: ReadonlyMap<string, string> = new Map([
  [AGENT, 'agent_settings_diff'],
  [CONVERSATION, 'conversation_settings_diff'],
  [MISC, 'misc_settings_diff'],
]);

/** Explains why a write must not be sent; null if it may be. */
export function explainPatchRefusal(write: SettingsWrite): string | null {
  return bodyProblem(buildPatchBody(write));
}

/** The body of a write: each field in its place, or why the server must not be sent it. */
export function buildPatchBody({ fields, observed }: SettingsWrite): BodyToStore {
  return buildStoreBody(fields, {
    places: PLACES,
    diffs: DIFFS,
    ofNative: (path, value) => ({ value: toPatchNative(path, value) }),
    ofField: (field, value) =>
      field.name === 'mcp_config'
        ? serversDiff(value, observed.values['mcp_config'] ?? null)
        : { value: toPatchField(field, value) },
    withMask: 'it would clear a secret by its mask',
  });
}

/** In conversation_settings null is stored or refused: its default takes its place. */
function toPatchNative(path: Path, value: Value): Value {
  if (value !== null || path[0] !== CONVERSATION) return value;
  return findServerDefault(nativeNodes('agent-server', path)) ?? null;
}

/** null resets a member of agent_settings and removes one of misc_settings; in conversation_settings it is stored or refused. */
function toPatchField({ name }: SpecifiedField, value: Value): Value {
  const here = AGENT_SERVER.fields.get(name);
  const isKept = PLACES.get(name)?.[0] === CONVERSATION;
  if (value === null && isKept && here?.onNull === 'resets') return here.absent;
  return name === 'llm_base_url' && value === '' ? null : value;
}

/**
 * The reason why a PATCH was refused. A server names members of the request itself, and none inside of a part of the settings: "Settings
 * validation failed".
 */
export function patchRefusal(
  connection: Connection,
  place: string,
  reply: Reply,
  write: SettingsWrite,
): SetpointError {
  const { status } = reply;
  const { fields } = write;
  if (status === 404) {
    const written = [...POINTERS].filter(([name]) => !isEmpty(fields[name]));
    if (written.length === 0) return createStatusError(connection, place, reply);
    return namesNothing(place, selectPointers(place, reply, written));
  }
  if (status === 409) {
    return new ServiceError(
      'settings-refused',
      `${place} was refused: the server cannot read all that it has stored (status 409). Nothing was written.`,
      {
        hint: "Restore the former OH_SECRET_KEY of the server, or add it to OH_PREVIOUS_SECRET_KEYS. The server's settings.json is encrypted with another key, or is corrupted.",
      },
    );
  }
  const read = readJsonReply(place, reply);
  const sent = buildPatchBody(write);
  const named =
    'json' in read && isRecord(read.json) && isList(read.json['detail'])
      ? formatRefusedMembers(
          read.json,
          [...connection.secrets, ...collectSecrets(fields)],
          ([first = '', ...inner]) =>
            first === '?' ? null : formatPlace([PARTS.get(String(first)) ?? first, ...inner]),
          'record' in sent ? sent.record : null,
        )
      : '';
  const what =
    named === '' ? '. The server does not report which value it refuses.' : `: ${named}.`;
  return new ServiceError(
    'settings-refused',
    `${place} was refused as invalid (status ${status})${what} Nothing was written.`,
    { hint: `${modelHint(fields)}Look for the reason in the server's logs.` },
  );
}

/** The parts of the settings by the members of a request that change them. */
const PARTS: ReadonlyMap<string, string> = new Map([...DIFFS].map(([part, diff]) => [diff, part]));

interface Pointer {
  /** The start of the answer for a pointer that names nothing. */
  readonly missing: RegExp;
  readonly what: string;
}

/** Members that name something else on the server. Source: contract "profiles: activate one that is not there", behaviour 5.3. */
const POINTERS: ReadonlyMap<string, Pointer> = new Map([
  ['active_profile', { missing: /^Profile /, what: 'an LLM profile' }],
  ['active_agent_profile_id', { missing: /^Agent profile /, what: 'an agent profile' }],
  ['active_meta_profile', { missing: /^Meta-profile /, what: 'a meta profile' }],
]);

type WrittenPointers = readonly (readonly [string, Pointer])[];

/** The pointers that an answer is about: the one whose sentence it has; all that were written if it has none of them. */
function selectPointers(place: string, reply: Reply, written: WrittenPointers): WrittenPointers {
  const read = readJsonReply(place, reply);
  const detail = 'json' in read && isRecord(read.json) ? read.json['detail'] : null;
  const about = written.filter(
    ([, { missing }]) => typeof detail === 'string' && missing.test(detail),
  );
  return about.length > 0 ? about : written;
}

function namesNothing(place: string, pointers: WrittenPointers): ServiceError {
  const said = pointers.map(
    ([name, { what }]) => `${name} names ${what} that the server does not have`,
  );
  const which = pointers.map(([name]) => name).join(' or ');
  return new ServiceError(
    'settings-refused',
    `${place} was refused: ${said.join(', or ')} (status 404). Nothing was written.`,
    { hint: `Create what ${which} names on the server first, or name something that it has.` },
  );
}
