import { isList, isRecord, WireNumber, type Value, type ValueRecord } from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import type { TimeLimits } from '../request.ts';
import { ServiceError } from '../service-error.ts';
import { getV1 } from './request.ts';

const PAGE = 100;
const MOST_PAGES = 1000;
/** The size limit of all pages of one list together. */
const MOST_BYTES = 64 * 1_048_576;
const MOST_ITEMS = 50_000;
const LONGEST_PAGE_ID = 1024;
/** If items move back while a page is read, one page may add nothing; several never do. */
const MOST_BARREN = 2;

export interface Listing<T> {
  readonly items: readonly T[];
  /** The time at which the first page was answered. */
  readonly at: number;
}

/**
 * A list to its last page. Pages are offsets, so one may show again what another has shown: an id counts once. An implausible list is an
 * error and never a shorter list: a page come to twice, one after another that adds nothing, one without items, an item without an id. So
 * is one of more than 50,000 items, or of 64 MiB in all its pages.
 */
export async function listPages<T extends { readonly id: string }>(
  connection: Connection,
  path: string,
  read: (item: Value) => T | null,
  limits: TimeLimits,
  signal?: AbortSignal,
): Promise<Listing<T>> {
  const place = connection.place('GET', path);
  const items = new Map<string, T>();
  const seen = new Set<string>();
  let at: number | null = null;
  let barren = 0;
  let size = 0;
  for (let next: string | null = null, pages = 1; ; pages += 1) {
    const query: string = next === null ? '' : `&page_id=${encodeURIComponent(next)}`;
    const answer = await getV1(connection, `${path}?limit=${PAGE}${query}`, limits, signal);
    at ??= answer.at;
    size += answer.size;
    if (size > MOST_BYTES)
      throw createListSizeError(place, `with pages of more than ${MOST_BYTES} bytes`);
    const before = items.size;
    const page = readV1Page(place, answer.json);
    for (const item of readItems(place, page.items, read)) items.set(item.id, item);
    if (items.size > MOST_ITEMS) throw createItemLimitError(place);
    next = page.next;
    if (next === null) return { items: [...items.values()], at };
    barren = items.size === before ? barren + 1 : 0;
    if (seen.has(next) || barren > MOST_BARREN || pages === MOST_PAGES) throw endless(place);
    seen.add(next);
  }
}

/** The items of an answer that is a page or a whole list. */
export function readItems<T>(
  place: string,
  items: readonly Value[],
  read: (item: Value) => T | null,
): T[] {
  if (items.length > MOST_ITEMS) throw createItemLimitError(place);
  return items.map((item) => {
    const one = read(item);
    if (one === null)
      throw unlike(
        place,
        'with an item that has no id it could have, so that its list cannot be believed',
      );
    return one;
  });
}

export interface Page {
  readonly items: readonly Value[];
  readonly next: string | null;
}

export function readV1Page(place: string, json: Value): Page {
  const items = isRecord(json) ? json['items'] : undefined;
  if (!isRecord(json) || !isList(items)) throw unlike(place, 'with a value that is not a list');
  const next = readNextPageId(json);
  if (next === undefined)
    throw unlike(
      place,
      `with a next page that is not text of at most ${LONGEST_PAGE_ID} characters`,
    );
  return { items, next };
}

/** Returns the id of the next page, null after the last one; undefined if it is neither text nor a number, or no page can have it. */
export function readNextPageId(page: ValueRecord): string | null | undefined {
  const next = page['next_page_id'] ?? null;
  if (next === null || next === '') return null;
  const text = next instanceof WireNumber ? next.token : next;
  if (typeof text !== 'string' && typeof text !== 'number') return undefined;
  const id = String(text);
  return id.length > LONGEST_PAGE_ID || !isWhole(id) ? undefined : id;
}

function unlike(place: string, words: string): ServiceError {
  return new ServiceError('bad-response', `${place} was answered ${words}.`);
}

function createItemLimitError(place: string): ServiceError {
  return createListSizeError(place, `with more than ${MOST_ITEMS} items`);
}

function createListSizeError(place: string, words: string): ServiceError {
  return new ServiceError('bad-response', `${place} was answered ${words}.`, {
    hint: 'setpoint reads no more of one list; check server.url.',
  });
}

function endless(place: string): ServiceError {
  return new ServiceError(
    'bad-response',
    `${place} was answered with pages that do not end, so that its list cannot be believed.`,
  );
}

/*
 * Members of the records of /api/v1. What is new or missing is no error; a record without an id is null. Source: behaviour 3 (the
 * specification leaves the shapes open).
 */

const LONGEST_ID = 300;
const LONGEST_STATE = 64;
const LONGEST_TIME = 64;

/** An id that can be part of an address: dots alone would lead elsewhere, and half a letter cannot be written there. */
export function readId(value: Value): string | null {
  const id = isRecord(value) ? readRecordText(value, 'id') : null;
  return id === null || id.length > LONGEST_ID || /^\.*$/.test(id) || !isWhole(id) ? null : id;
}

/** Reports whether no letter of a text is cut in half. */
export function isWhole(text: string): boolean {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text);
}

function readRecordText(record: ValueRecord, key: string): string | null {
  const value = record[key];
  return typeof value === 'string' ? value : null;
}

/** The id of something else; null if it is longer than any id. */
export function readIdText(record: ValueRecord, key: string): string | null {
  const text = readRecordText(record, key);
  return text === null || text.length > LONGEST_ID ? null : text;
}

/** A state in the service's own word, cut to a length that no real word has. */
export function readStateWord(record: ValueRecord, key: string): string | null {
  const text = readRecordText(record, key);
  return text === null || text.length <= LONGEST_STATE ? text : `${text.slice(0, LONGEST_STATE)}…`;
}

/** A time without a zone is UTC: the service writes both. */
export function readUtcTime(record: ValueRecord, key: string): number | null {
  const text = readRecordText(record, key) ?? '';
  if (text.length > LONGEST_TIME) return null;
  const time = Date.parse(/T.*(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? null : time;
}
