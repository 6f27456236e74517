import { bareUrl, Identity } from '../model/identity.ts';
import { MASK, Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredState } from '../model/state.ts';
import { isList, isRecord, masked, recordOf, type Json, type Value } from '../model/value.ts';
import type { ValueRecord } from '../model/value.ts';
import { withoutTainted } from './tainted.ts';

const MASKED_PART = `?${MASK}`;

/** A record as a look shows and saves it: masked, but that a url whose query or userinfo is masked keeps the rest of it. */
export function settingsToSave(record: ValueRecord, desired: DesiredState): Json {
  return masked(mapped(withoutTainted(record, desired), addressOf));
}

/** The record of a saved look: what is masked in it is there, and is not known. */
export function savedSettings(saved: { readonly [name: string]: Json }): ValueRecord {
  const record = mapped(recordOf(Object.entries(saved)), unseen);
  return isRecord(record) ? record : recordOf([]);
}

function addressOf(value: Value): Value {
  const shown = value instanceof Secret ? value.identity?.shown : undefined;
  return shown === undefined ? value : `${shown}${MASKED_PART}`;
}

function unseen(value: Value): Value {
  if (value === MASK) return new UnseenSecret(null, Identity.unseen(MASK));
  const url = typeof value === 'string' && value.endsWith(MASKED_PART) ? bareUrl(value) : null;
  return url === null ? value : new UnseenSecret(null, new Identity(url));
}

function mapped(value: Value, map: (scalar: Value) => Value): Value {
  if (isList(value)) return value.map((item) => mapped(item, map));
  if (!isRecord(value)) return map(value);
  return recordOf(Object.entries(value).map(([key, member]) => [key, mapped(member, map)]));
}
