import { fieldNamed, NATIVE_SERVERS, unnamedField } from '../model/field.ts';
import { formatPath, isUnmanaged, type Path, type Source, samePath } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { DesiredField, NamedSettings } from '../model/state.ts';
import { recordOf, type Value, isRecord } from '../model/value.ts';
import { MARKETPLACE_PLACE, MARKETPLACES_FIELD } from './blocks/collections.ts';
import type { Blocks } from './blocks.ts';
import { resolvedAt } from './native.ts';
import {
  isNull,
  itemsIn,
  locate,
  member,
  memberAt,
  nodeAt,
  type MapNode,
  type Member,
  type Node,
  type PlacedFinding,
  textOf,
} from './node.ts';
import { declaredLists, declaredEntry } from '../model/mcp-map.ts';
import { bareUrl, isSensitiveAddress } from '../model/address.ts';
import { identityMember, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { Identity, Secret } from '../model/secret.ts';
import { faultsIn } from '../model/json-schema.ts';
import { shownArgument, shownVariable } from '../model/secret-words.ts';
import { envPairs, shellWords } from './lines.ts';
import { lookUp, readTimeout, readTyped, resolveText, unseen } from './lookup.ts';
import { settingsNodes } from './schema-lookup.ts';

/** A field of the settings that a block beside them declares, resolved when it is asked for. */
interface NamedField {
  readonly node: Node;
  /** Whether it is the node of a block that several targets share. */
  readonly isShared: boolean;
  readonly field: () => DesiredField;
}

interface Holder extends Blocks {
  readonly shared: Blocks;
}

/**
 * What the blocks of a target that name parts of the settings declare, as fields of the settings. `exhaustive` are the blocks that name all
 * that there may be.
 */
export function namedSettings(
  target: Holder,
  unmanaged: readonly Path[],
  exhaustive: ReadonlyMap<string, Source>,
  source: ReferenceSource,
): NamedField[] {
  return BLOCKS.flatMap(([name, resolve]) => {
    const others = exhaustive.get(name);
    const node = target[name] ?? (others === undefined ? undefined : noneOf(target.collections));
    if (node === undefined || isUnmanaged(unmanaged, [name])) return [];
    const left = unmanaged.filter((path) => path[0] === name);
    // What is left alone, or removed, differs between targets.
    const isShared = node === target.shared[name] && left.length === 0 && others === undefined;
    const field = (): DesiredField => {
      const declared = resolve(
        membersWhere(node, (key) => !isUnmanaged(left, [name, key])),
        source,
      );
      const { block } = declared;
      if (others === undefined || block === undefined) return declared;
      const isLeft = membersWhere(node, (key) => isUnmanaged(left, [name, key]));
      const names = left.flatMap(([, key]) => key ?? []);
      const lists = resolve(isLeft, source).value;
      return {
        ...declared,
        block: { ...block, others: { source: others, left: { names, lists } } },
      };
    };
    return [{ node, isShared, field }];
  });
}

/** A block that names nothing, in the place of the one that says that all else goes. */
export function noneOf(collections: Node | undefined): Node | undefined {
  return collections?.kind === 'map' ? { ...collections, members: new Map() } : undefined;
}

function membersWhere(node: Node, isKept: (key: string) => boolean): Node {
  if (node.kind !== 'map') return node;
  return { ...node, members: new Map([...node.members].filter(([key]) => isKept(key))) };
}

type Resolve = (node: Node, source: ReferenceSource) => DesiredField;

const BLOCKS: readonly (readonly [NamedSettings['name'], Resolve])[] = [
  ['mcp_servers', servers],
  ['marketplaces', marketplaces],
  ['disabled_skills', disabledSkills],
];

function servers(node: Node, source: ReferenceSource): DesiredField {
  const field = fieldNamed('mcp_config') ?? unnamedField(['mcp_config'], false);
  const declared = itemsIn(node).filter((one) => !isNull(one.node));
  const named = node.kind === 'map' ? { ...node, members: keyed(declared) } : node;
  const value = resolveServers(named, source);
  return {
    field,
    value,
    source: (inner = []) => placeOf(serverSource(named, value, inner)),
    block: {
      name: 'mcp_servers',
      removed: itemsIn(node)
        .filter((one) => isNull(one.node))
        .map(({ key }) => key),
    },
  };
}

function marketplaces(node: Node, source: ReferenceSource): DesiredField {
  const path = [MARKETPLACES_FIELD];
  const declared = itemsIn(node).filter((one) => !isNull(one.node));
  const value = declared.map((one): Value => {
    const inner = itemsIn(one.node).map(
      ({ key, node: own }) => [key, resolvedAt([...MARKETPLACE_PLACE, key], own, source)] as const,
    );
    return recordOf([['name', one.key], ...inner]);
  });
  return {
    field: unnamedField(path, false),
    value,
    source: () => placeOf(node),
    block: { name: 'marketplaces', removed: [] },
  };
}

function disabledSkills(node: Node, source: ReferenceSource): DesiredField {
  const path = ['disabled_skills'];
  return {
    field: unnamedField(path, false),
    value: resolvedAt(path, node, source),
    source: (inner = []) => placeOf(nodeAt(node, inner) ?? node),
    block: { name: 'disabled_skills', removed: [] },
  };
}

function keyed(members: readonly Member[]): MapNode['members'] {
  return new Map(members.map((one) => [one.key, one]));
}

function placeOf(node: Node) {
  return locate(node.file, node.at);
}

/** The places under `settings` that mean the same as a block. */
const PLACES: Readonly<Record<NamedSettings['name'], readonly Path[]>> = {
  mcp_servers: [['mcp_config'], NATIVE_SERVERS],
  marketplaces: [
    [MARKETPLACES_FIELD],
    ['agent_settings', 'agent_context', 'registered_marketplaces'],
  ],
  disabled_skills: [['disabled_skills'], ['agent_settings', 'agent_context', 'disabled_skills']],
};

export const NAMED_SETTINGS = ['mcp_servers', 'marketplaces', 'disabled_skills'] as const;

/** What a target declares both in a block and under `settings`: reported at both places. */
export function declaredBeside(blocks: Blocks): PlacedFinding[] {
  const { settings } = blocks;
  if (settings === undefined) return [];
  return NAMED_SETTINGS.flatMap((name) => {
    const node = blocks[name];
    if (node === undefined) return [];
    return PLACES[name].flatMap((place) => {
      const other = memberAt(settings, place);
      if (other === null) return [];
      const elsewhere = formatPath(['settings', ...place]);
      return [
        twice({ file: node.file, at: node.at }, [name], elsewhere),
        twice({ file: other.keyFile, at: other.keyAt }, ['settings', ...place], name),
      ];
    });
  });
}

function twice(at: Pick<PlacedFinding, 'file' | 'at'>, path: Path, elsewhere: string) {
  const finding = {
    code: 'declared-twice',
    message: `${elsewhere} declares the same, and both are here.`,
    hint: 'Keep one of the two.',
    path,
  } as const;
  return { ...at, finding };
}

/** What no server can have of an item: how a server is reached, where a marketplace is. */
export function incompleteNamed({ mcp_servers: servers, marketplaces: places }: Blocks) {
  return [
    ...itemsIn(servers).flatMap((one) =>
      isNull(one.node) || ['url', 'command'].some((key) => isSet(member(one.node, key)))
        ? []
        : [lacking(one, 'mcp_servers', 'url or command', 'Add url, or command for a program.')],
    ),
    ...itemsIn(places).flatMap((one) =>
      isNull(one.node) || isSet(member(one.node, 'source'))
        ? []
        : [lacking(one, 'marketplaces', 'source', 'Add source: github:owner/repo.')],
    ),
  ];
}

function isSet(node: Node | undefined): boolean {
  return node !== undefined && !(node.kind === 'scalar' && node.value === null);
}

function lacking(
  { key, keyFile, keyAt }: Member,
  block: string,
  what: string,
  hint: string,
): PlacedFinding {
  const finding = {
    code: 'missing-key',
    message: `${what} is missing here.`,
    hint,
    path: [block, key],
  } as const;
  return { file: keyFile, at: keyAt, finding };
}

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
function resolveServerMember(key: string, node: Node, source: ReferenceSource): Value {
  const inProgram = key === 'args' || key === 'env' || key === 'command';
  return resolveMember(inProgram ? 'stdio_servers' : 'sse_servers', key, node, source);
}

/** The url or name that identifies an entry. A secret one carries what may be shown of it. */
function identified(key: 'url' | 'name', text: string, source: ReferenceSource): Value {
  const found = lookUp(text, source);
  const bare = key === 'url' ? bareUrl : (name: string) => name.trim();
  if ('problem' in found) {
    const known = lookUp(bare(text), source);
    const shown = bare(found.ref);
    const identity =
      'problem' in known
        ? Identity.unseen(shown, known.literals)
        : new Identity(shown, bare(known.text));
    return unseen(found, identity);
  }
  const value = found.text.trim();
  if (found.ref !== null)
    return new Secret(value, found.ref, new Identity(bare(found.ref), bare(value)));
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
