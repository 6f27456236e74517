import { identityMember, identityOf, MCP_DEFAULTS, type McpList } from '../model/mcp.ts';
import type { Path } from '../model/path.ts';
import { Secret } from '../model/secret.ts';
import { isList, isRecord, type Json, type Value, type ValueRecord } from '../model/value.ts';
import { asWritten } from './as-written.ts';
import { isHidden } from './is-hidden.ts';
import { writtenArgument, writtenVariable, type StdioText } from './stdio-text.ts';
import { marked, markerOf, variableName, type Stub } from './stub.ts';

/** An mcp entry of the service as a file writes it: secrets as references, defaults left out. */
export interface WrittenEntry {
  readonly value: Json;
  readonly stubs: readonly Stub[];
}

/** Where an entry stands in the service's record, by its number among the entries, and what it is called in plans. */
export interface EntryPlace {
  readonly list: McpList;
  readonly index: number;
  readonly segment: string;
  /** What references stand for, and what is therefore never written as it is. */
  readonly hidden: readonly Secret[];
}

/** Null where a settings file cannot hold it. */
export function writtenEntry(place: EntryPlace, entry: ValueRecord): WrittenEntry | null {
  const members: [string, Json][] = [];
  const stubs: Stub[] = [];
  const names =
    place.list === 'stdio_servers'
      ? ['name', 'command', 'args', 'env']
      : ['url', 'api_key', ...(place.list === 'shttp_servers' ? ['timeout'] : [])];
  for (const name of names) {
    const value = entry[name] ?? null;
    if (isDefault(place.list, name, value)) continue;
    const written = writtenMember(place, entry, name, value);
    if (written === null) return null;
    members.push([name, written.value]);
    stubs.push(...written.stubs);
  }
  return { value: Object.fromEntries(members), stubs };
}

function writtenMember(
  place: EntryPlace,
  entry: ValueRecord,
  name: string,
  value: Value,
): WrittenEntry | null {
  if (name === 'args')
    return isList(value) ? collected(place, 'args', argumentsOf(place, entry, value)) : null;
  if (name === 'env')
    return isRecord(value) ? collected(place, 'env', variablesOf(place, entry, value)) : null;
  if (value instanceof Secret && (name === 'api_key' || name === 'url')) {
    const stub = urlStub(place, entry, name, value);
    return { value: stub.written, stubs: [stub] };
  }
  const written = isHidden(value, place.hidden) ? null : asWritten(value);
  return written === null ? null : { value: written.written, stubs: [] };
}

/** What need not be written: nothing, what is empty, and what the service fills in by itself. */
function isDefault(list: McpList, name: string, value: Value): boolean {
  if (name === identityMember(list) || name === 'command') return false;
  if (isList(value)) return value.length === 0;
  if (isRecord(value)) return Object.keys(value).length === 0;
  if (value instanceof Secret) return value.isEmpty();
  return value === null || value === '' || value === MCP_DEFAULTS[list][name];
}

/** The reference for a url or api_key: called after the host, or, where two share it, after the whole address. */
export function urlStub(
  { list, index, segment }: EntryPlace,
  entry: ValueRecord,
  name: 'api_key' | 'url',
  secret: Value,
): Stub {
  const { shown } = identityOf(list, entry);
  const address = shown.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
  const marker = markerOf(list, shown, name);
  return {
    marker,
    path: ['mcp_config', list, segment, name],
    at: ['mcp_config', list, String(index), name],
    secret,
    written: marked(marker),
    names: [variableName(address.split('/')[0] ?? '', name), variableName(address, name)],
  };
}

type Keyed = readonly [key: string, text: StdioText | null, value: Value];

export function argumentsOf(
  { list, hidden }: EntryPlace,
  entry: ValueRecord,
  args: readonly Value[],
): Keyed[] {
  const owner = identityOf(list, entry).shown;
  return args.map((value, index) => [
    String(index),
    writtenArgument(owner, args, index, hidden),
    value,
  ]);
}

export function variablesOf(
  { list, hidden }: EntryPlace,
  entry: ValueRecord,
  env: ValueRecord,
): Keyed[] {
  const owner = identityOf(list, entry).shown;
  return Object.entries(env).map(([name, value]) => [
    name,
    writtenVariable(owner, name, value, hidden),
    value,
  ]);
}

function collected(
  place: EntryPlace,
  member: 'args' | 'env',
  keyed: readonly Keyed[],
): WrittenEntry | null {
  const texts: [string, string][] = [];
  const stubs: Stub[] = [];
  for (const [key, text, secret] of keyed) {
    if (text === null) return null;
    texts.push([key, text.written]);
    if (text.names !== null) stubs.push(stdioStub(place, [member, key], text, text.names, secret));
  }
  return {
    value: member === 'args' ? texts.map(([, text]) => text) : Object.fromEntries(texts),
    stubs,
  };
}

export function stdioStub(
  { list, index, segment }: EntryPlace,
  inner: Path,
  { marker, written }: StdioText,
  names: readonly string[],
  secret: Value,
): Stub {
  return {
    marker,
    path: ['mcp_config', list, segment, ...inner],
    at: ['mcp_config', list, String(index), ...inner],
    secret,
    written,
    names,
  };
}
