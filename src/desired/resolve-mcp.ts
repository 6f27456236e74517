import { bareUrl, Identity, isSensitiveUrl } from '../model/identity.ts';
import { identityMember, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { isLetGo, type Path } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { Secret } from '../model/secret.ts';
import { recordOf, type Value } from '../model/value.ts';
import { envPairs, shellWords } from './lines.ts';
import { lookUp } from './lookup.ts';
import { member, textOf, type Node } from './node.ts';
import { resolveText } from './resolve-text.ts';
import { readTimeout } from './typed-reference.ts';
import { Unresolved } from './unresolved.ts';

/**
 * `mcp_config` in the one form the plan compares: every entry a map, urls and names trimmed, args a list, env a map, and
 * everything wrapped that must not be seen (api_key, args, env, urls with userinfo or query, whatever came from a reference).
 */
export function resolveMcp(
  node: Node,
  source: ReferenceSource,
  unmanaged: readonly Path[],
): Value | Unresolved {
  if (node.kind !== 'map') return null;
  const lists: [string, Value][] = [];
  const declared =
    node.members.size === 0 ? MCP_LISTS : MCP_LISTS.filter((list) => node.members.has(list));
  for (const list of declared) {
    const entries = member(node, list);
    const resolved: Value[] = [];
    for (const entry of entries?.kind === 'list' ? entries.items : []) {
      const value = resolveEntry(list, entry, source);
      if (!(value instanceof Unresolved)) resolved.push(value);
      else if (!isLetGo(unmanaged, ['mcp_config', list, writtenIdentity(list, entry)]))
        return value;
    }
    lists.push([list, resolved]);
  }
  return recordOf(lists);
}

/** What an entry is known by as the file writes it, references and all. */
export function writtenIdentity(list: McpList, entry: Node): string {
  const key = identityMember(list);
  const text = textOf(entry) ?? textOf(member(entry, key)) ?? '';
  return key === 'url' ? bareUrl(text) : text.trim();
}

function resolveEntry(list: McpList, entry: Node, source: ReferenceSource): Value | Unresolved {
  const members: [string, Value][] = [];
  const nodes: Iterable<readonly [string, Node]> =
    entry.kind === 'map'
      ? [...entry.members.values()].map((m) => [m.key, m.node] as const)
      : [['url', entry] as const];
  for (const [key, node] of nodes) {
    const value = resolveMember(list, key, node, source);
    if (value instanceof Unresolved) return value;
    members.push([key, value]);
  }
  return recordOf(members);
}

function resolveMember(
  list: McpList,
  key: string,
  node: Node,
  source: ReferenceSource,
): Value | Unresolved {
  const text = textOf(node);
  if (key === 'args')
    return text === undefined ? resolveArgs(node, source) : argsLine(text, source);
  if (key === 'env') return text === undefined ? resolveEnv(node, source) : envLine(text, source);
  if (text === undefined) return node.kind === 'scalar' ? node.value : null;
  if (key === 'timeout') return readTimeout(text, source);
  if (key === 'url' || (key === 'name' && list === 'stdio_servers'))
    return identified(key, text, source);
  return resolveText(key === 'command' ? text.trim() : text, source);
}

/** A url or name: what entries are known by. Where it is sensitive, what may be shown of it goes along. */
function identified(
  key: 'url' | 'name',
  text: string,
  source: ReferenceSource,
): Value | Unresolved {
  const looked = lookUp(text, source);
  if ('problem' in looked) return new Unresolved(looked.problem, looked.ref);
  const value = looked.text.trim();
  const bare = key === 'url' ? bareUrl : (name: string) => name.trim();
  if (looked.ref !== null)
    return new Secret(value, looked.ref, new Identity(bare(text), bare(value)));
  return key === 'url' && isSensitiveUrl(value)
    ? new Secret(value, null, new Identity(bareUrl(value)))
    : value;
}

function resolveArgs(node: Node, source: ReferenceSource): Value | Unresolved {
  if (node.kind !== 'list') return [];
  return wrapAll(
    node.items.map((item) => textOf(item) ?? ''),
    source,
  );
}

function argsLine(line: string, source: ReferenceSource): Value | Unresolved {
  return wrapAll(shellWords(line), source);
}

function wrapAll(texts: readonly string[], source: ReferenceSource): Value | Unresolved {
  const values: Value[] = [];
  for (const text of texts) {
    const value = wrap(text, source);
    if (value instanceof Unresolved) return value;
    values.push(value);
  }
  return values;
}

function resolveEnv(node: Node, source: ReferenceSource): Value | Unresolved {
  if (node.kind !== 'map') return recordOf([]);
  return wrapRecord(
    [...node.members.values()].map(({ key, node: value }) => [key, textOf(value) ?? ''] as const),
    source,
  );
}

function envLine(line: string, source: ReferenceSource): Value | Unresolved {
  const pairs = envPairs(line).map(({ name, text }) => [name, text ?? ''] as const);
  return wrapRecord(pairs, source);
}

function wrapRecord(
  pairs: readonly (readonly [string, string])[],
  source: ReferenceSource,
): Value | Unresolved {
  const values: [string, Value][] = [];
  for (const [name, text] of pairs) {
    const value = wrap(text, source);
    if (value instanceof Unresolved) return value;
    values.push([name, value]);
  }
  return recordOf(values);
}

/** A text that is masked though it may stand in the file: stdio args and env hold secrets often enough. */
function wrap(text: string, source: ReferenceSource): Secret | Unresolved {
  const looked = lookUp(text, source);
  if ('problem' in looked) return new Unresolved(looked.problem, looked.ref);
  return new Secret(looked.text, looked.ref);
}
