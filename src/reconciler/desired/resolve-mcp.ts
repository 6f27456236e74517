import { NATIVE_SERVERS } from '../model/field.ts';
import { declaredLists, declaredEntry } from '../model/mcp-map.ts';
import { samePath, type Path } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { isRecord, recordOf, type Value } from '../model/value.ts';
import { itemsIn, isNull, nodeAt, type Node, member, textOf } from './node.ts';
import { bareUrl, isSensitiveAddress } from '../model/address.ts';
import { identityMember, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { Identity, Secret } from '../model/secret.ts';
import { faultsIn } from '../model/json-schema.ts';
import { shownArgument, shownVariable } from '../model/secret-words.ts';
import { envPairs, shellWords } from './lines.ts';
import { lookUp, readTimeout, readTyped, resolveText, unseen } from './lookup.ts';
import { settingsNodes } from './schema-lookup.ts';

/**
 * `mcp_config` in the one form the plan compares: every entry a map, urls and names trimmed, args a list, env a map. Secrets are
 * wrapped: what came from a reference, literals under the name or flag of a secret, urls with userinfo or query. A reference
 * without a value leaves only its own member unknown.
 */
export function resolveMcp(node: Node, source: ReferenceSource): Value {
  if (node.kind !== 'map') return null;
  const declared =
    node.members.size === 0 ? MCP_LISTS : MCP_LISTS.filter((list) => node.members.has(list));
  return recordOf(
    declared.map((list) => {
      const entries = member(node, list);
      const items = entries?.kind === 'list' ? entries.items : [];
      return [list, items.map((entry) => resolveEntry(list, entry, source))] as const;
    }),
  );
}

/** What an entry is called as the file writes it, references included: by its address, if it has one, and by its name. */
export function writtenNames(list: McpList, entry: Node): readonly string[] {
  const name = textOf(member(entry, 'name'))?.trim() ?? '';
  const url = bareUrl(textOf(entry) ?? textOf(member(entry, 'url')) ?? '');
  const names = identityMember(list) === 'url' ? [url, name] : [name];
  return names.filter((one) => one !== '');
}

function resolveEntry(list: McpList, entry: Node, source: ReferenceSource): Value {
  const nodes: readonly (readonly [string, Node])[] =
    entry.kind === 'map'
      ? [...entry.members.values()].map((m) => [m.key, m.node] as const)
      : [['url', entry]];
  return declaredEntry(
    recordOf(nodes.map(([key, node]) => [key, resolveMember(list, key, node, source)] as const)),
  );
}

function resolveMember(list: McpList, key: string, node: Node, source: ReferenceSource): Value {
  const text = textOf(node);
  if (key === 'args') return resolveArgs(node, text, source);
  if (key === 'env') return resolveEnv(node, text, source);
  if (text === undefined) return resolvedInside(node, source);
  if (key === 'timeout' && list === 'shttp_servers') return readTimeout(text, source);
  if (TYPED.has(key)) return readTyped(text, source, (value) => fitsMember(key, value));
  if (key === 'url' || key === 'name') return identified(key, text, source);
  return resolveText(key === 'command' ? text.trim() : text, source);
}

/** Members of a server that are numbers or truth values. */
const TYPED: ReadonlySet<string> = new Set([
  'timeout',
  'sse_read_timeout',
  'keep_alive',
  'enabled',
]);

function fitsMember(key: string, value: Value): boolean {
  const nodes = settingsNodes([...NATIVE_SERVERS, '', key]);
  return faultsIn(value, { anyOf: nodes }, {}).length === 0;
}

/** A map, a list or a scalar as it is, texts with their references resolved. */
export function resolvedInside(node: Node, source: ReferenceSource): Value {
  if (node.kind === 'scalar')
    return typeof node.value === 'string' ? resolveText(node.value, source) : node.value;
  if (node.kind === 'list') return node.items.map((item) => resolvedInside(item, source));
  return recordOf(
    [...node.members.values()].map((one) => [one.key, resolvedInside(one.node, source)] as const),
  );
}

/** A member of a server that a native map declares: a program's are those of a program, its name is the key of the map. */
export function resolveServerMember(key: string, node: Node, source: ReferenceSource): Value {
  const inProgram = key === 'args' || key === 'env' || key === 'command';
  return resolveMember(inProgram ? 'stdio_servers' : 'sse_servers', key, node, source);
}

/** The url or name that identifies an entry. A secret one carries what may be shown of it. */
function identified(key: 'url' | 'name', text: string, source: ReferenceSource): Value {
  const found = lookUp(text, source);
  const bare = key === 'url' ? bareUrl : (name: string) => name.trim();
  if ('problem' in found) {
    const known = lookUp(bare(text), source);
    const identity =
      'problem' in known
        ? Identity.unseen(bare(text), known.literals)
        : new Identity(bare(text), bare(known.text));
    return unseen(found, identity);
  }
  const value = found.text.trim();
  if (found.ref !== null)
    return new Secret(value, found.ref, new Identity(bare(text), bare(value)));
  return key === 'url' && isSensitiveAddress(value)
    ? new Secret(value, null, new Identity(bareUrl(value)))
    : value;
}

function resolveArgs(node: Node, line: string | undefined, source: ReferenceSource): Value {
  const items = node.kind === 'list' ? node.items.map((item) => textOf(item) ?? '') : [];
  const texts = line === undefined ? items : shellWords(line);
  return texts.map((text, index) =>
    resolveLiteral(text, shownArgument(text, texts[index - 1] ?? null) !== text, source),
  );
}

function resolveEnv(node: Node, line: string | undefined, source: ReferenceSource): Value {
  const members = itemsIn(node);
  const pairs =
    line === undefined
      ? members.flatMap(({ key, node: value }) =>
          // Null takes a variable away; a key with nothing after it is an empty one.
          isNull(value) ? [] : [[key, textOf(value) ?? ''] as const],
        )
      : envPairs(line).map(({ name, text }) => [name, text ?? ''] as const);
  return recordOf(
    pairs.map(([name, text]) => [
      name,
      resolveLiteral(text, shownVariable(name, text) !== text, source),
    ]),
  );
}

/** A text of a program. A literal of the committed file is not a secret, unless its name, flag or form is that of one. */
function resolveLiteral(text: string, secret: boolean, source: ReferenceSource): Value {
  const value = resolveText(text, source);
  return secret && typeof value === 'string' && value !== '' ? new Secret(value) : value;
}

/** The mcp servers that a file declares by their names, as the lists of the specification. */
export function resolveServers(node: Node, source: ReferenceSource): Value {
  if (node.kind !== 'map') return null;
  const servers = [...node.members.values()].map(
    ({ key, node: server }) => [key, resolveServer(server, source)] as const,
  );
  return declaredLists(recordOf(servers));
}

function resolveServer(node: Node, source: ReferenceSource): Value {
  if (node.kind !== 'map') return null;
  return recordOf(
    [...node.members.values()].map((one) => [
      one.key,
      resolveServerMember(one.key, one.node, source),
    ]),
  );
}

/** The place of a server that a native map declares, by its position in a list of the specification. */
export function serverSource(node: Node, lists: Value, [list = '', index = '']: Path): Node {
  const entries = isRecord(lists) ? lists[list] : undefined;
  const entry = Array.isArray(entries) ? (entries as readonly Value[])[Number(index)] : undefined;
  const name = isRecord(entry) ? entry['name'] : undefined;
  return (typeof name === 'string' ? nodeAt(node, [name]) : undefined) ?? node;
}

/** Whether a place is that of all mcp servers by their names. */
export function isServersPlace(path: Path): boolean {
  return samePath(path, NATIVE_SERVERS);
}
