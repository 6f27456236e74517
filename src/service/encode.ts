import { SetpointError } from '../model/error.ts';
import { Secret } from '../model/secret.ts';
import { isList, WireNumber, type Value, type ValueRecord } from '../model/value.ts';
import { NumberSecret } from './number-secret.ts';

/** The JSON text of a record, secrets revealed: for the body of a write and nothing else. Digits and order are kept. */
export function encode(record: ValueRecord): string {
  return text(record);
}

function text(value: Value): string {
  if (value instanceof WireNumber) return value.token;
  if (value instanceof NumberSecret) return value.revealToken();
  if (value instanceof Secret) return text(value.reveal());
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new SetpointError('internal', 'A number without an end cannot be written as JSON.');
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(text).join(',')}]`;
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${text(member)}`,
  );
  return `{${members.join(',')}}`;
}
