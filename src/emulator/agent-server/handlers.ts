import type { Call } from '../call.ts';
import { type Answer, detail, json, unauthorized } from '../http/answer.ts';
import type { Json, JsonObject } from '../json.ts';
import { failure, readSentBody } from './body.ts';
import { profileOf } from '../native/profiles.ts';
import { type Diffs, patched } from './patch.ts';
import { readDiffs } from './patch-body.ts';
import {
  answered,
  emptyRecord,
  type Exposure,
  type Kind,
  openRecord,
  sealedRecord,
} from './record.ts';
import { surrogateIn } from './surrogates.ts';

/** The answer to a value that is refused: which one it is, it does not tell. */
export const invalid = detail(422, 'Settings validation failed');

const unreadable = detail(
  409,
  'Settings file is corrupted or encrypted with a different key: restore that key as OH_SECRET_KEY or add it to OH_PREVIOUS_SECRET_KEYS',
);

/** GET /api/settings. What is not stored, or cannot be read, is answered as its defaults. */
export async function getSettings(kind: Kind, call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  const exposure = exposureOf(call.headers['x-expose-secrets']);
  if (typeof exposure !== 'string') return exposure;
  const { settings } = await call.service.store.read();
  const now = call.service.now();
  const record = settings && openRecord(kind, settings, now);
  return shown(answered(kind, record ?? emptyRecord(kind, now), exposure));
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
function shown(body: Json, status = 200): Answer {
  const found = surrogateIn(body);
  if (found === undefined) return json(status, body);
  const sentence = `can't encode character '${found.escaped}' in position ${found.position}: surrogates not allowed`;
  return failure(`Error serializing to JSON: UnicodeEncodeError: 'utf-8' codec ${sentence}`);
}

/** PATCH /api/settings: the body is read as JSON before the key is checked. */
export async function patchSettings(kind: Kind, call: Call): Promise<Answer> {
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
  kind: Kind,
  call: Call,
  status: number,
  make: (record: JsonObject, now: number) => JsonObject | Answer,
): Promise<Answer> {
  return changeOf(kind, call, make, (record) => shown(answered(kind, record, 'masked'), status));
}

/** The same, with another answer to a record that was stored. */
export async function changeOf(
  kind: Kind,
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
