import { COLLECTION_FORMS } from './collection-forms.ts';
import { fieldNamed, NATIVE_PARTS } from './field.ts';
import { isNativeWord } from './native-schema.ts';
import { MCP_DEFAULTS, MCP_LISTS } from './mcp.ts';
import type { Path } from './path.ts';
import type { Redactor } from './redactor.ts';
import { isById } from './plan.ts';
import type { Json } from './value.ts';

type Part = Json | undefined;
type JsonRecord = { readonly [key: string]: Json };

/**
 * Members that contain words of the documents themselves, or names that a person gave outside of any reference: a code, an enum, a time,
 * the name of an environment or variable, a file, a reference in its written form. Secrets do not change them.
 */
const KEPT: ReadonlySet<string> = new Set([
  'action',
  'allowed',
  'block',
  'class',
  'code',
  'created_at',
  'dialect',
  'environment',
  'file',
  'finished_at',
  'format_version',
  'kind',
  'meaning',
  'name',
  'observed_at',
  'on_null',
  'part',
  'reads',
  'ref',
  'requests',
  'resource',
  'resources',
  'result',
  'rule',
  'rules',
  'severity',
  'source',
  'started_at',
  'tool',
  'verdict',
  'writes',
]);

/** Members that hold a value of the file or the service: any JSON, keys and all. */
const VALUES: ReadonlySet<string> = new Set([
  'before',
  'after',
  'expected',
  'actual',
  'settings',
  'value',
]);

/** The known statuses of documents, and those that services report of what they run. */
const STATUSES: ReadonlySet<string> = new Set(
  (
    'in-sync differs error applied partial not-converged refused failed stored empty pulled skipped unchanged written ' +
    'created extended passed warning observed not-observed ready STARTING RUNNING PAUSED ERROR MISSING WORKING READY ' +
    'idle running paused finished stopped stuck waiting_for_confirmation'
  ).split(' '),
);

/** The blocks of collections. */
const COLLECTIONS: ReadonlySet<string> = new Set(COLLECTION_FORMS.map(({ block }) => block));

/** Names inside of settings that follow from the schema. */
const MEMBERS: ReadonlySet<string> = new Set([
  ...MCP_LISTS,
  ...Object.values(MCP_DEFAULTS).flatMap(Object.keys),
  'url',
  'name',
  'command',
  'provider_tokens',
]);

/**
 * A document, or a part of one, as it may leave the process: the one function that every document goes through before it is
 * rendered. What is free text, a path, a key or a value is masked; the vocabulary of documents, and names of the schema in
 * paths, stay.
 */
export function redactDocument<D>(document: D, redactor: Redactor): D {
  return part(document as Part, '', redactor) as D;
}

/** Parts without a masked value are returned unchanged. */
function part(value: Part, key: string, redactor: Redactor): Part {
  if (value === null || value === undefined || KEPT.has(key)) return value;
  if (VALUES.has(key)) return jsonPart(value, redactor);
  if (typeof value === 'string') return textPart(value, key, redactor);
  if (typeof value !== 'object') return value;
  if (!isRedactableList(value)) return recordPart(value, redactor);
  if (key === 'path') return pathPart(value, redactor);
  if (COLLECTIONS.has(key)) return mapChangedList(value, (item) => redactListItem(item, redactor));
  const inner = key === 'unmanaged' ? 'path' : key;
  return mapChangedList(
    value,
    (item) => part(item, isRedactableList(item) ? inner : key, redactor) ?? null,
  );
}

/** An item that a service lists: its name is the service's text, and may be a value that a user put in the wrong place. */
function redactListItem(item: Json, redactor: Redactor): Json {
  if (typeof item !== 'object' || item === null || isRedactableList(item))
    return jsonPart(item, redactor);
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, jsonPart(value, redactor)]),
  );
}

function textPart(text: string, key: string, redactor: Redactor): string {
  if (key === 'status' && STATUSES.has(text)) return text;
  return key === 'origin' ? redactor.reference(text) : redactor.text(text);
}

function recordPart(record: JsonRecord, redactor: Redactor): JsonRecord {
  let altered: { [name: string]: Part } | null = null;
  for (const name of Object.keys(record)) {
    const member = record[name] ?? null;
    const shown = memberPart(record, name, member, redactor);
    if (shown !== member) (altered ??= {})[name] = shown;
  }
  if (altered === null) return record;
  if (('before' in altered || 'after' in altered) && record['sensitive'] === false)
    altered['sensitive'] = true;
  return { ...record, ...altered } as JsonRecord;
}

function memberPart(record: JsonRecord, name: string, member: Json, redactor: Redactor): Part {
  if (name !== 'path' || !isRedactableList(member)) return part(member, name, redactor);
  // A person wrote the path of an explanation; outside of the settings it leads to what only the file has.
  if (record['kind'] === 'explanation' && record['part'] !== 'settings') return member;
  const noun = record['resource'];
  return typeof noun === 'string' && isById({ resource: noun })
    ? idPath(member, redactor)
    : pathPart(member, redactor);
}

function mapChangedList(
  list: readonly Json[],
  shown: (item: Json, index: number) => Json,
): readonly Json[] {
  const items = list.map(shown);
  return items.every((item, index) => item === list[index]) ? list : items;
}

/** The path of what a service names by an id: the id; before it is started its spec, or `default`, and a number. */
function idPath(path: readonly Json[], redactor: Redactor): readonly Json[] {
  const segments = path.map(String);
  return mapChangedList(path, (segment, index) => {
    const text = segments[index] ?? '';
    const word = path.length === 2 && (index === 1 ? /^#\d+$/.test(text) : text === 'default');
    return word ? segment : redactor.text(text);
  });
}

function pathPart(path: readonly Json[], redactor: Redactor): readonly Json[] {
  const segments = path.map(String);
  return mapChangedList(path, (segment, index) =>
    isStructural(segments, index) ? segment : redactor.text(segments[index] ?? ''),
  );
}

/** Reports whether a segment is a schema name or a position. The identity of an entry, and names under env, are neither. */
function isStructural(path: Path, index: number): boolean {
  const segment = path[index] ?? '';
  const from = path[0] === 'settings' && path.length > 1 ? 1 : 0;
  const inner = index - from;
  if (inner <= 0)
    return isBlockOfPaths(segment) || isNameOfField(segment) || NATIVE_PARTS.has(segment);
  if (NATIVE_PARTS.has(path[from] ?? '')) return isNativeWord(segment) || /^\d{1,4}$/.test(segment);
  const name = { mcp_config: 2, mcp_servers: 1 }[path[from] ?? ''];
  if (name !== undefined && inner === name && from === 0) return false;
  if (name !== undefined && inner >= name + 2 && path[from + name + 1] === 'env') return false;
  return MEMBERS.has(segment) || /^\d{1,4}$/.test(segment);
}

/** Only answers of later servers have such names: the tables are read for nothing else. */
function isNativeName(key: string): boolean {
  return /^[a-z][a-z0-9_]*$/.test(key) && isNativeWord(key);
}

/** The blocks that paths begin with. */
function isBlockOfPaths(segment: string): boolean {
  return segment === 'settings' || COLLECTIONS.has(segment);
}

function isNameOfField(name: string): boolean {
  return (
    fieldNamed(name) !== undefined ||
    (name.endsWith('_set') && fieldNamed(name.slice(0, -'_set'.length)) !== undefined) ||
    name === 'provider_tokens_set'
  );
}

/** A value of the file or the service. Two keys that are masked alike stay two. */
function jsonPart(value: Json, redactor: Redactor): Json {
  if (typeof value === 'string') return redactor.text(value);
  if (typeof value === 'number') return redactor.number(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isRedactableList(value)) return mapChangedList(value, (item) => jsonPart(item, redactor));
  const alike = new Map<string, number>();
  const members = Object.entries(value).map(([key, member]) => {
    const shown = jsonPart(member, redactor);
    if (isNameOfField(key) || MEMBERS.has(key) || isNativeName(key)) return [key, shown] as const;
    const name = redactor.text(key);
    const count = (alike.get(name) ?? 0) + 1;
    alike.set(name, count);
    return [count === 1 ? name : `${name}#${count}`, shown] as const;
  });
  const same = members.every(([key, member]) => Object.hasOwn(value, key) && value[key] === member);
  return same ? value : Object.fromEntries(members);
}

function isRedactableList(value: Part): value is readonly Json[] {
  return Array.isArray(value);
}
