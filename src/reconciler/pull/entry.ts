import { member, type Node, plainValue } from '../desired/node.ts';
import { settingsNodes } from '../desired/schema-lookup.ts';
import {
  identityMember,
  createEntryIdentity,
  MCP_DEFAULTS,
  NAMED_DEFAULTS,
  type McpList,
} from '../model/mcp.ts';
import type { Path } from '../model/path.ts';
import type { LeftAlone } from '../model/documents.gen.ts';
import { Secret } from '../model/secret.ts';
import {
  isList,
  isRecord,
  type Json,
  maskSecrets,
  sameValue,
  collectSecrets,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { readMemberOrDefault, withoutServed } from '../plan/mcp-entry.ts';
import { isObject, type JsonObject } from '../yaml-edit/source.ts';
import {
  createVariableMarker,
  markerReference,
  type Placeholder,
  variableName,
  replaceMarkers,
} from './placeholder.ts';
import {
  newArguments,
  newVariables,
  type ObservedEntry,
  pullArguments,
  pullProgramTexts,
  type WrittenValue,
} from './program.ts';
import { toWritableScalar, isExpressible, hasHiddenSecret, REASONS } from './writable.ts';
import { writeDeepValue } from './written-deep.ts';

/** A declared mcp entry that differs from the service's, as the file will write it. */
export interface EntryPull extends WrittenValue {
  readonly left: readonly LeftAlone[];
}

/** Reports whether a settings file can declare this entry of a list, whatever names its variables get. */
export function isExpressibleEntry(list: McpList, value: Json): boolean {
  return isExpressible({ mcp_config: { [list]: [replaceMarkers(value, () => 'X')] } });
}

/** An entry that the file does not declare: secrets as references, defaults left out. Null if a file cannot hold it. */
export function newEntry(observed: ObservedEntry): EntryPull | null {
  const { list, segment, entry } = observed;
  const members: [string, Json][] = [];
  const placeholders: Placeholder[] = [];
  const left: LeftAlone[] = [];
  const needed = new Set(NEEDED[list]);
  for (const name of inWrittenOrder(list, Object.keys(entry))) {
    const value = entry[name] ?? null;
    if (isDefault(observed, name, value)) continue;
    const written = isMember(observed, name) ? newMember(observed, name, value) : null;
    const fits =
      written !== null && isExpressibleEntry(list, withMember(list, name, written.value));
    if (fits) {
      members.push([name, written.value]);
      placeholders.push(...written.placeholders);
    } else if (needed.has(name)) return null;
    else {
      const reason = isMember(observed, name) ? REASONS.inexpressible : REASONS.unknown;
      left.push({ path: ['mcp_config', list, segment, name], reason, ref: null });
    }
  }
  const value = Object.fromEntries(members);
  return isExpressibleEntry(list, value) ? { value, placeholders, left } : null;
}

/** The members without which an entry is another one, or does not work. */
const NEEDED: Readonly<Record<McpList, readonly string[]>> = {
  sse_servers: ['url', 'api_key'],
  stdio_servers: ['name', 'command', 'args', 'env'],
  shttp_servers: ['url', 'api_key'],
};

/** The usual order of an entry: identity, connection, then the rest in the order of the service. */
const ORDER = ['name', 'url', 'command', 'args', 'env', 'api_key', 'auth', 'headers', 'timeout'];

function inWrittenOrder(list: McpList, names: readonly string[]): string[] {
  const rank = (name: string): number =>
    ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length;
  return [...new Set([...NEEDED[list], ...names])].toSorted((a, b) => rank(a) - rank(b));
}

function isMember({ list, members }: ObservedEntry, name: string): boolean {
  return members === null ? listMemberNodes(list, name).length > 0 : members.includes(name);
}

function listMemberNodes(list: McpList, name: string): ReturnType<typeof settingsNodes> {
  return settingsNodes(['mcp_config', list, '0', name]);
}

/** An entry with nothing but one member, and what every entry must have. */
function withMember(list: McpList, name: string, value: Json): JsonObject {
  const least = list === 'stdio_servers' ? { name: 'x', command: 'x' } : { url: 'https://x' };
  return { ...least, [name]: value };
}

function newMember(observed: ObservedEntry, name: string, value: Value): WrittenValue | null {
  if (name === 'args') return isList(value) ? newArguments(observed, value) : null;
  if (name === 'env') return isRecord(value) ? newVariables(observed, value) : null;
  if (value instanceof Secret && isPlaceholderMember(name)) {
    const placeholder = memberPlaceholder(observed, name, value);
    return { value: placeholder.written, placeholders: [placeholder] };
  }
  const own = name === 'auth' ? withoutServed(value) : value;
  if (!OF_LISTS.has(name)) return writeDeepValue(own, createEntryMemberPlace(observed, name));
  const written = hasHiddenSecret(value, observed.hidden) ? null : toWritableScalar(value);
  return written === null ? null : { value: written.written, placeholders: [] };
}

/** Members that the lists of the specification have, whose values are references only if the service hides them. */
const OF_LISTS: ReadonlySet<string> = new Set(['name', 'url', 'command', 'api_key', 'timeout']);

function createEntryMemberPlace(
  { list, index, segment, entry, hidden }: ObservedEntry,
  name: string,
) {
  const [host, address] = nameEntryOwners(list, segment, entry);
  return {
    schema: ['mcp_config', list, '0', name],
    path: ['mcp_config', list, segment, name],
    at: ['mcp_config', list, String(index), name],
    names: (inner: Path) =>
      [host, address].map((owner) =>
        // A header's own name says what it is.
        name === 'headers' ? variableName(owner, ...inner) : variableName(owner, name, ...inner),
      ),
    hidden,
  };
}

function selectEntryDefaults({ members }: ObservedEntry) {
  return members === null ? NAMED_DEFAULTS : MCP_DEFAULTS;
}

/** Reports whether a member can be omitted: it is empty, or the service fills it in. */
function isDefault({ list, members }: ObservedEntry, name: string, value: Value): boolean {
  if (name === identityMember(list) || name === 'command') return false;
  if (isList(value)) return value.length === 0;
  if (isRecord(value)) return Object.keys(value).length === 0;
  if (value instanceof Secret) return value.isEmpty();
  if (value === null || value === '') return true;
  // A service whose entries have no further members fills in the defaults of the specification.
  const otherwise =
    members === null && !OF_LISTS.has(name)
      ? listMemberNodes(list, name).find((node) => node.default !== undefined)?.default
      : members === null
        ? null
        : MCP_DEFAULTS[list][name];
  return sameValue(value, otherwise);
}

/** A declared entry with the members that differ pulled. References and secrets stay, and are reported as left alone. */
export function pullEntry(
  observed: ObservedEntry,
  node: Node,
  declared: ValueRecord,
  differing: readonly string[],
  overReferences: boolean,
): EntryPull {
  const { list, segment, entry } = observed;
  const written = maskSecrets(plainValue(node));
  const members = new Map(Object.entries(isObject(written) ? written : { url: written }));
  const placeholders: Placeholder[] = [];
  const left: LeftAlone[] = [];
  const path = ['mcp_config', list, segment];
  for (const name of differing) {
    const found = readMemberOrDefault(list, name, entry, selectEntryDefaults(observed));
    const leave = (reason: string, ref: string | null = null, inner: readonly string[] = []) =>
      left.push({ path: [...path, name, ...inner], reason, ref });
    if (name === 'args' || name === 'env' || name === 'headers') {
      const given = [member(node, name), declared[name] ?? null, overReferences] as const;
      const pulled =
        name === 'args'
          ? pullArguments(observed, ...given)
          : pullProgramTexts(observed, name, ...given);
      if (pulled === null) leave(REASONS.inexpressible);
      if (pulled !== null && pulled.value !== null) members.set(name, pulled.value);
      placeholders.push(...(pulled?.placeholders ?? []));
      for (const { key, ref } of pulled?.kept ?? [])
        leave(REASONS.reference, ref, key === null ? [] : [key]);
      continue;
    }
    const own = declared[name];
    const ref = own instanceof Secret ? own.ref : null;
    if (ref !== null && !overReferences) leave(REASONS.reference, ref);
    else if (found instanceof Secret && isPlaceholderMember(name) && overReferences) {
      const placeholder = found.isEmpty() ? null : memberPlaceholder(observed, name, found);
      members.set(name, placeholder?.written ?? null);
      placeholders.push(...(placeholder === null ? [] : [placeholder]));
    } else {
      const isIdentity = name === identityMember(list) && name === 'name';
      const known = isIdentity || hasHiddenSecret(found, observed.hidden);
      const written = known || name === 'api_key' ? null : newMember(observed, name, found);
      const open = written !== null && (written.placeholders.length === 0 || overReferences);
      const refs = collectSecrets(own).flatMap((secret) => secret.ref ?? []);
      if (refs.length > 0 && !overReferences) leave(REASONS.reference, refs.join(', '));
      else if (open) {
        members.set(name, written.value);
        placeholders.push(...written.placeholders);
      } else if (known) leave(isIdentity ? REASONS.unlike : REASONS.tainted);
      else leave(name === 'api_key' ? REASONS.secret : REASONS.sensitive);
    }
  }
  const value = isObject(written) ? Object.fromEntries(members) : (members.get('url') ?? written);
  if (observed.isFit?.(value) ?? isExpressibleEntry(list, value))
    return { value, placeholders, left };
  return {
    value: written,
    placeholders: [],
    left: [{ path, reason: REASONS.inexpressible, ref: null }],
  };
}

function isPlaceholderMember(name: string): name is 'api_key' | 'url' {
  return name === 'api_key' || name === 'url';
}

/** A reference for a url or api_key, named after the host; if two entries share it, after the whole address. */
function memberPlaceholder(
  { list, index, segment, entry }: ObservedEntry,
  name: 'api_key' | 'url',
  secret: Value,
): Placeholder {
  const [host, address] = nameEntryOwners(list, segment, entry);
  const marker = createVariableMarker(list, segment, name);
  return {
    marker,
    path: ['mcp_config', list, segment, name],
    at: ['mcp_config', list, String(index), name],
    secret,
    written: markerReference(marker),
    names: [variableName(host, name), variableName(address, name)],
  };
}

/**
 * What the variables of an entry are named after: the name of the server, and, if others have it, its address too; of a server without
 * a name the host, and all of its address.
 */
function nameEntryOwners(
  list: McpList,
  segment: string,
  entry: ValueRecord,
): readonly [string, string] {
  const own = entry['name'];
  const { shown } = createEntryIdentity(list, entry);
  const address = shown.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
  if (typeof own === 'string' && own !== '' && list !== 'stdio_servers')
    return [own, `${own}_${address}`];
  const host = list === 'stdio_servers' ? shown : (address.split('/')[0] ?? '');
  // Two at one address are also called by their names.
  return segment === shown || segment !== entry['name']
    ? [host, address]
    : [`${host}_${segment}`, `${address}_${segment}`];
}
