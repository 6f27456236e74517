import { isRecord, type Value, type ValueRecord } from '../../model/value.ts';

/*
 * Members of the records of /api/v1. What is new or missing is no error; a record without an id is null. Source: behaviour 3 (the
 * specification leaves the shapes open).
 */

const LONGEST_ID = 300;
const LONGEST_STATE = 64;
const LONGEST_TIME = 64;

/** An id that can be part of an address: dots alone would lead elsewhere, and half a letter cannot be written there. */
export function idIn(value: Value): string | null {
  const id = isRecord(value) ? textIn(value, 'id') : null;
  return id === null || id.length > LONGEST_ID || /^\.*$/.test(id) || !isWhole(id) ? null : id;
}

/** Whether no letter of a text is cut in half. */
export function isWhole(text: string): boolean {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text);
}

function textIn(record: ValueRecord, key: string): string | null {
  const value = record[key];
  return typeof value === 'string' ? value : null;
}

/** The id of something else; null if it is longer than any id. */
export function nameIn(record: ValueRecord, key: string): string | null {
  const text = textIn(record, key);
  return text === null || text.length > LONGEST_ID ? null : text;
}

/** A state in the service's own word, cut to a length that no real word has. */
export function stateIn(record: ValueRecord, key: string): string | null {
  const text = textIn(record, key);
  return text === null || text.length <= LONGEST_STATE ? text : `${text.slice(0, LONGEST_STATE)}…`;
}

/** A time without a zone is UTC: the service writes both. */
export function timeIn(record: ValueRecord, key: string): number | null {
  const text = textIn(record, key) ?? '';
  if (text.length > LONGEST_TIME) return null;
  const time = Date.parse(/T.*(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? null : time;
}
