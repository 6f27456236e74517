import { resolveToolName } from './collection-forms.ts';
import type { DesiredItem } from './collection.ts';
import { createKnownEntry, listRecordEntries, mayBeOne, MCP_LISTS } from './mcp.ts';
import { formatPath, type Path, type Source } from './path.ts';
import { Secret, UnseenSecret } from './secret.ts';
import type { DesiredField, DesiredState } from './state.ts';
import { isList, isRecord, type Value } from './value.ts';

/** A list whose entries a server distinguishes by one member. `*` in its place is any item of a block. */
export interface KeyedList {
  readonly place: Path;
  readonly key: string;
  readonly noun: string;
  /** Returns the form in which a server compares the member. */
  readonly normalize: (text: string) => string;
}

export const KEYED_LISTS: readonly KeyedList[] = [
  {
    place: ['settings', 'registered_marketplaces'],
    key: 'name',
    noun: 'marketplace',
    normalize: (text) => text.trim(),
  },
  {
    place: ['settings', 'agent_settings', 'agent_context', 'skills'],
    key: 'name',
    noun: 'skill',
    normalize: (text) => text,
  },
  {
    place: ['agent_profiles', '*', 'tools'],
    key: 'name',
    noun: 'tool',
    normalize: resolveToolName,
  },
];

/** Two entries of a list that are one to a server, by their positions. */
export interface Repeat {
  readonly again: number;
  readonly first: number;
}

/** Finds entries with a key that an earlier one has. Null is a key that is not known. */
export function findRepeats(keys: readonly (string | null)[]): readonly Repeat[] {
  const firsts = new Map<string, number>();
  return keys.flatMap((key, again) => {
    if (key === null) return [];
    const first = firsts.get(key);
    if (first !== undefined) return [{ again, first }];
    firsts.set(key, again);
    return [];
  });
}

/** Describes, a sentence each, entries that their references make the same. No value is in it. */
export function describeRepeatedEntries({
  fields,
  items,
}: Pick<DesiredState, 'fields' | 'items'>): readonly string[] {
  return [
    ...fields.flatMap(describeRepeatsOfField),
    ...[...items].flatMap(([block, declared]) =>
      (declared as readonly DesiredItem[]).flatMap(({ name, members, source }) =>
        Object.entries(members ?? {}).flatMap(([member, value]) =>
          describeRepeatsOfList([block, name, member], value, () => source),
        ),
      ),
    ),
  ];
}

function describeRepeatsOfField({ field, value, source, block }: DesiredField): readonly string[] {
  if (field.name !== 'mcp_config')
    return describeRepeatsOfList(['settings', ...field.path], value, (index) => source([index]));
  if (block !== undefined || !isRecord(value)) return [];
  return MCP_LISTS.flatMap((list) => {
    const known = listRecordEntries(value[list]).map((entry) => createKnownEntry(list, entry));
    const noun = list === 'stdio_servers' ? 'program' : 'server';
    const earlierAt = new Map<string, number[]>();
    return known.flatMap((own, again) => {
      const { key } = own.place;
      if (key === null) return [];
      const earlier = earlierAt.get(key) ?? [];
      const first = earlier.find((index) => mayBeOne(own, known[index] ?? own));
      earlierAt.set(key, earlier);
      earlier.push(again);
      if (first === undefined) return [];
      const at = (index: number) => source([list, String(index)]);
      return [describeRepeat(['mcp_config', list], noun, { again, first }, at)];
    });
  });
}

function describeRepeatsOfList(
  path: Path,
  value: Value,
  sourceOf: (index: string) => Source,
): readonly string[] {
  const list = KEYED_LISTS.find(({ place }) => fitsPattern(path, place));
  if (list === undefined || !isList(value)) return [];
  return findRepeats(value.map((entry) => readKey(entry, list))).map((repeat) =>
    describeRepeat(toPlanPath(path), list.noun, repeat, (index) => sourceOf(String(index))),
  );
}

function describeRepeat(
  path: Path,
  noun: string,
  { again, first }: Repeat,
  sourceOf: (index: number) => Source,
): string {
  const [own, other] = [again, first].map((index) => {
    const { file, line } = sourceOf(index);
    return `${formatPath([...path, String(index)])} (${file}:${line})`;
  });
  return `${own} is the same ${noun} as ${other}.`;
}

/** Returns a path of the file as plans have it: those of settings begin below them. */
export function toPlanPath(path: Path): Path {
  return path[0] === 'settings' ? path.slice(1) : path;
}

function fitsPattern(path: Path, place: Path): boolean {
  return (
    path.length === place.length && place.every((one, index) => one === '*' || one === path[index])
  );
}

function readKey(entry: Value, { key, normalize }: KeyedList): string | null {
  const value = isRecord(entry) ? (entry[key] ?? null) : null;
  if (value instanceof UnseenSecret) return null;
  const text = value instanceof Secret ? value.compareWith((one) => one) : value;
  return typeof text === 'string' && text !== '' ? normalize(text) : null;
}
