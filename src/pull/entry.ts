import { member, type Node, plainValue } from '../desired/node.ts';
import { identityMember, identityOf, MCP_DEFAULTS, type McpList } from '../model/mcp.ts';
import type { LeftAlone } from '../model/pulled.ts';
import { Secret } from '../model/secret.ts';
import {
  isList,
  isRecord,
  type Json,
  masked,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { isObject } from '../yaml-edit/json.ts';
import {
  markerOf,
  markerReference,
  type Placeholder,
  variableName,
  withNames,
} from './placeholder.ts';
import {
  newArguments,
  newVariables,
  type ObservedEntry,
  pulledArguments,
  pulledVariables,
  type WrittenValue,
} from './program.ts';
import { asWritten, isExpressible, isHidden, REASONS } from './writable.ts';

/** A declared mcp entry that differs from the service's, as the file will write it. */
export interface EntryPull extends WrittenValue {
  readonly left: readonly LeftAlone[];
}

/** Whether a settings file can hold this entry of a list, whatever names its variables get. */
export function isExpressibleEntry(list: McpList, value: Json): boolean {
  return isExpressible({ mcp_config: { [list]: [withNames(value, () => 'X')] } });
}

/** An entry that the file does not declare: secrets as references, defaults left out. Null if a file cannot hold it. */
export function newEntry(observed: ObservedEntry): WrittenValue | null {
  const { list, entry } = observed;
  const members: [string, Json][] = [];
  const placeholders: Placeholder[] = [];
  const names =
    list === 'stdio_servers'
      ? ['name', 'command', 'args', 'env']
      : ['url', 'api_key', ...(list === 'shttp_servers' ? ['timeout'] : [])];
  for (const name of names) {
    const value = entry[name] ?? null;
    if (isDefault(list, name, value)) continue;
    const written = newMember(observed, name, value);
    if (written === null) return null;
    members.push([name, written.value]);
    placeholders.push(...written.placeholders);
  }
  const value = Object.fromEntries(members);
  return isExpressibleEntry(list, value) ? { value, placeholders } : null;
}

function newMember(observed: ObservedEntry, name: string, value: Value): WrittenValue | null {
  if (name === 'args') return isList(value) ? newArguments(observed, value) : null;
  if (name === 'env') return isRecord(value) ? newVariables(observed, value) : null;
  if (value instanceof Secret && isPlaceholderMember(name)) {
    const placeholder = memberPlaceholder(observed, name, value);
    return { value: placeholder.written, placeholders: [placeholder] };
  }
  const written = isHidden(value, observed.hidden) ? null : asWritten(value);
  return written === null ? null : { value: written.written, placeholders: [] };
}

/** Whether a member need not be written: it is empty, or what the service fills in by itself. */
function isDefault(list: McpList, name: string, value: Value): boolean {
  if (name === identityMember(list) || name === 'command') return false;
  if (isList(value)) return value.length === 0;
  if (isRecord(value)) return Object.keys(value).length === 0;
  if (value instanceof Secret) return value.isEmpty();
  return value === null || value === '' || value === MCP_DEFAULTS[list][name];
}

/** A declared entry with the members that differ pulled. References and secrets stay, and are reported as left alone. */
export function pulledEntry(
  observed: ObservedEntry,
  node: Node,
  declared: ValueRecord,
  differing: readonly string[],
  overReferences: boolean,
): EntryPull {
  const { list, segment, entry } = observed;
  const written = masked(plainValue(node));
  const members = new Map(Object.entries(isObject(written) ? written : { url: written }));
  const placeholders: Placeholder[] = [];
  const left: LeftAlone[] = [];
  const path = ['mcp_config', list, segment];
  for (const name of differing) {
    const found = entry[name] ?? MCP_DEFAULTS[list][name] ?? null;
    const leave = (reason: string, ref: string | null = null, inner: readonly string[] = []) =>
      left.push({ path: [...path, name, ...inner], reason, ref });
    if (name === 'args' || name === 'env') {
      const pull = name === 'args' ? pulledArguments : pulledVariables;
      const pulled = pull(observed, member(node, name), declared[name] ?? null, overReferences);
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
      const known = name === 'name' || isHidden(found, observed.hidden);
      const value = known ? null : asWritten(found);
      if (value !== null) members.set(name, value.written);
      else if (known) leave(name === 'name' ? REASONS.unlike : REASONS.tainted);
      else leave(name === 'api_key' ? REASONS.secret : REASONS.sensitive);
    }
  }
  const value = isObject(written) ? Object.fromEntries(members) : (members.get('url') ?? written);
  if (isExpressibleEntry(list, value)) return { value, placeholders, left };
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
  const { shown } = identityOf(list, entry);
  const address = shown.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
  const marker = markerOf(list, shown, name);
  return {
    marker,
    path: ['mcp_config', list, segment, name],
    at: ['mcp_config', list, String(index), name],
    secret,
    written: markerReference(marker),
    names: [variableName(address.split('/')[0] ?? '', name), variableName(address, name)],
  };
}
