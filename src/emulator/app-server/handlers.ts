import type { Call } from '../call.ts';
import { type Answer, json, unauthorized, unprocessable } from '../http/answer.ts';
import { decodeBody } from '../http/body.ts';
import { isJsonObject, memberOf } from '../json.ts';
import { refusalText } from '../native/refusal-text.ts';
import type { StoreContents } from '../store/store-document.ts';
import { type Kind, PARTS } from './kind.ts';
import { answered, answeredUser, loadedRecord, openRecord, sealedRecord } from './record.ts';
import { checkedBody, writtenRecord } from './write.ts';

/** GET /api/v1/settings. A record that cannot be read is a crash. Source: contract "load on an empty store". */
export async function getSettings(kind: Kind, { service, authorized }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const { settings } = await service.store.read();
  if (settings === undefined) return json(404, { error: 'Settings not found' });
  const loaded = loadedRecord(kind, openRecord(kind, settings), service.now());
  return loaded.kind === 'good' ? json(200, answered(kind, loaded.value)) : { kind: 'crash' };
}

/** GET /api/v1/users/me: of an empty store, the defaults. */
export async function getUser(kind: Kind, { service, authorized }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const { settings } = await service.store.read();
  const record = settings === undefined ? {} : openRecord(kind, settings);
  const loaded = loadedRecord(kind, record, service.now());
  return loaded.kind === 'good' ? json(200, answeredUser(kind, loaded.value)) : { kind: 'crash' };
}

/** POST /api/v1/settings: the body is read as JSON before the key is checked. Source: contract "body is not JSON, no key". */
export async function postSettings(kind: Kind, call: Call): Promise<Answer> {
  const decoded = decodeBody(call.body, call.contentType);
  if (decoded.kind === 'refused') return decoded.answer;
  if (!call.authorized) return unauthorized;
  const checked = checkedBody(decoded.value);
  if (checked.kind === 'bad') return unprocessable(checked.problems);
  const { value: body } = decoded;
  if (!isJsonObject(body)) return { kind: 'crash' };
  const keys = PARTS.filter((name) => memberOf(body, name) !== undefined);
  if (keys.length > 0) return json(422, { error: LEGACY, keys });
  const { service } = call;
  return service.store.update<Answer>((before) => {
    const now = service.now();
    const record = before.settings === undefined ? {} : openRecord(kind, before.settings);
    const loaded = loadedRecord(kind, record, now);
    if (loaded.kind !== 'good')
      return refused(before, refusalText('Settings', loaded.kind === 'bad' ? loaded.problems : []));
    const written = writtenRecord(kind, record, loaded.value, body, now);
    if (written.kind === 'failed')
      return {
        contents: before,
        answer: json(500, { error: 'Something went wrong storing settings' }),
      };
    if (written.kind === 'refused') return refused(before, written.reason);
    const settings = sealedRecord(kind, written.record);
    return { contents: { ...before, settings }, answer: json(200, STORED) };
  });
}

const LEGACY = 'Use *_diff nested settings payloads instead of legacy keys';
const STORED = { message: 'Settings stored' };

function refused(contents: StoreContents, error: string) {
  return { contents, answer: json(400, { error }) };
}
