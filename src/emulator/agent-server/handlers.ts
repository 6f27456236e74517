import type { Call } from '../call.ts';
import { type Answer, detail, json, unauthorized, unprocessable } from '../http/answer.ts';
import { type Json, type JsonObject, isJsonObject, memberOf } from '../json.ts';
import { failure, readSentBody, surrogateIn } from './body.ts';
import { profileOf } from '../native/profiles.ts';
import { type Diffs, patched } from './patch.ts';
import {
  answered,
  emptyRecord,
  type Exposure,
  type AgentServerKind,
  openRecord,
  sealedRecord,
  readingOf,
} from './record.ts';
import { fit } from '../native/fit.ts';
import { allOf, bad, good, type Verdict } from '../rules.ts';

/** The answer to a value that is refused: which one it is, it does not tell. */
export const invalid = detail(422, 'Settings validation failed');

const unreadable = detail(
  409,
  'Settings file is corrupted or encrypted with a different key: restore that key as OH_SECRET_KEY or add it to OH_PREVIOUS_SECRET_KEYS',
);

/** GET /api/settings. What is not stored, or cannot be read, is answered as its defaults. */
export async function getSettings(kind: AgentServerKind, call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  const exposure = exposureOf(call.headers['x-expose-secrets']);
  if (typeof exposure !== 'string') return exposure;
  const { settings } = await call.service.store.read();
  const now = call.service.now();
  const record = settings && openRecord(kind, settings, now);
  return encodable(answered(kind, record ?? emptyRecord(kind, now), exposure));
}

/** Source: contract `X-Expose-Secrets: "PlainText"`, `"true"`, `"false"`. */
export function exposureOf(header: string | string[] | undefined): Exposure | Answer {
  const sent = String(header ?? '');
  const asked = sent.trim().toLowerCase();
  if (asked === '') return 'masked';
  if (asked === 'plaintext') return 'plaintext';
  if (asked === 'encrypted' || asked === 'true') return 'encrypted';
  return detail(
    400,
    `Invalid X-Expose-Secrets header value: '${sent}'. Valid values are: 'encrypted', 'plaintext'.`,
  );
}

/** An answer that no encoding can carry is a failure. Source: contract "PATCH: a lone surrogate". */
function encodable(body: Json, status = 200): Answer {
  const found = surrogateIn(body);
  if (found === undefined) return json(status, body);
  const sentence = `can't encode character '${found.escaped}' in position ${found.position}: surrogates not allowed`;
  return failure(`Error serializing to JSON: UnicodeEncodeError: 'utf-8' codec ${sentence}`);
}

/** PATCH /api/settings: the body is read as JSON before the key is checked. */
export async function patchSettings(kind: AgentServerKind, call: Call): Promise<Answer> {
  const body = readSentBody(call);
  if (body.kind === 'refused') return body.answer;
  const read = readDiffs(kind, body.value);
  if (read.kind === 'refused') return read.answer;
  return change(
    kind,
    call,
    200,
    (record, now) =>
      missingProfile(record, read.diffs) ?? patched(kind, record, read.diffs, now) ?? invalid,
  );
}

/** Beside any member of the llm the name is not looked up. Source: contract "profiles: activate one that is not there". */
function missingProfile(record: JsonObject, { applies }: Diffs): Answer | undefined {
  if (applies === undefined || profileOf(record, applies) !== undefined) return undefined;
  return noProfile(applies);
}

export function noProfile(name: string): Answer {
  return detail(404, `Profile '${name}' not found`);
}

/** Stores what a change makes of the record and answers with it, or with the change's own answer, which stores nothing. */
export async function change(
  kind: AgentServerKind,
  call: Call,
  status: number,
  make: (record: JsonObject, now: number) => JsonObject | Answer,
): Promise<Answer> {
  return changeOf(kind, call, make, (record) =>
    encodable(answered(kind, record, 'masked'), status),
  );
}

/** The same, with another answer to a record that was stored. */
export async function changeOf(
  kind: AgentServerKind,
  { service }: Call,
  make: (record: JsonObject, now: number) => JsonObject | Answer,
  answerOf: (record: JsonObject) => Answer,
): Promise<Answer> {
  return service.store.update((before) => {
    const now = service.now();
    const record =
      before.settings === undefined
        ? emptyRecord(kind, now)
        : openRecord(kind, before.settings, now);
    if (record === undefined) return { contents: before, answer: unreadable };
    const made = make(record, now);
    if (isAnswer(made)) return { contents: before, answer: made };
    const contents = { ...before, settings: sealedRecord(kind, made) };
    return { contents, answer: answerOf(made) };
  });
}

function isAnswer(made: JsonObject | Answer): made is Answer {
  return Object.hasOwn(made, 'kind') && !Object.hasOwn(made, 'agent_settings');
}

const DIFFS = [
  ['agent_settings_diff', 'agent'],
  ['conversation_settings_diff', 'conversation'],
  ['misc_settings_diff', 'misc'],
] as const;
const POINTERS = ['active_profile', 'active_agent_profile_id', 'active_meta_profile'] as const;

const NOTHING = detail(
  400,
  'At least one of agent_settings_diff, conversation_settings_diff, misc_settings_diff, active_profile, ' +
    'active_agent_profile_id, or active_meta_profile must be provided',
);

export type ReadDiffs =
  | { readonly kind: 'diffs'; readonly diffs: Diffs }
  | { readonly kind: 'refused'; readonly answer: Answer };

/** What a PATCH asks for. Members that it does not know say nothing. Source: contract "PATCH {}". */
export function readDiffs(kind: AgentServerKind, body: Json): ReadDiffs {
  if (!isJsonObject(body)) {
    const msg = 'Input should be a valid dictionary or object to extract fields from';
    return refusedDiffs([bad('model_attributes_type', ['body'], msg, body)]);
  }
  const diffs: Partial<Record<(typeof DIFFS)[number][1], JsonObject>> = {};
  const pointers: Record<string, Json> = {};
  const verdicts: Verdict[] = [];
  for (const [name, part] of DIFFS) {
    const value = memberOf(body, name) ?? null;
    if (isJsonObject(value)) diffs[part] = value;
    else if (value !== null)
      verdicts.push(bad('dict_type', ['body', name], 'Input should be a valid dictionary', value));
  }
  for (const name of POINTERS) {
    const value = memberOf(body, name);
    if (value === undefined) continue;
    pointers[name] = value;
    const node = kind.snapshot.properties?.[name] ?? {};
    verdicts.push(fit(readingOf(kind), node, value, ['body', name]));
  }
  const whole = refusedDiffs(verdicts);
  if (whole.kind === 'refused') return whole;
  const says = Object.keys(diffs).length + Object.keys(pointers).length;
  if (says === 0) return { kind: 'refused', answer: NOTHING };
  const named = memberOf(pointers, 'active_profile') ?? null;
  const isLlmSaid = diffs.agent !== undefined && memberOf(diffs.agent, 'llm') !== undefined;
  const applies = typeof named === 'string' && !isLlmSaid ? { applies: named } : {};
  return { kind: 'diffs', diffs: { ...diffs, pointers, ...applies } };
}

function refusedDiffs(verdicts: readonly Verdict[]): ReadDiffs {
  const whole = allOf([...verdicts, good(null)]);
  if (whole.kind !== 'bad') return { kind: 'diffs', diffs: { pointers: {} } };
  return { kind: 'refused', answer: unprocessable(whole.problems) };
}
