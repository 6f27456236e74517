import { fieldNamed, NATIVE_SERVERS, createUnnamedField } from '../model/field.ts';
import { formatPath, isUnmanaged, type Path, type Source, samePath } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { DesiredField, NamedSettings } from '../model/state.ts';
import { createRecord, type Value, isRecord } from '../model/value.ts';
import { findExhaustiveBlocks, MARKETPLACE_PLACE } from './blocks/collections.ts';
import { MARKETPLACES_FIELD } from './blocks/settings.ts';
import { isNodeSet } from './blocks/transports.ts';
import type { Blocks } from './blocks.ts';
import { resolveNativeValue } from './native.ts';
import {
  isNull,
  listMembers,
  locate,
  member,
  findMember,
  findNode,
  type MapNode,
  type Member,
  type Node,
  type PlacedFinding,
  readNodeText,
} from './node.ts';
import {
  convertDeclaredServers,
  normalizeDeclaredEntry,
  identityMember,
  LIST_TRANSPORTS,
  MCP_LISTS,
  type McpList,
} from '../model/mcp.ts';
import { bareUrl, isSensitiveAddress } from '../model/address.ts';
import { Identity, Secret } from '../model/secret.ts';
import { findSchemaFaults } from '../model/json-schema.ts';
import { maskProgramArgument, maskProgramVariable } from '../model/secret-words.ts';
import { envPairs, splitShellLine } from './lines.ts';
import { lookUp, readTimeout, readTransport, readTyped, resolveText, unseen } from './lookup.ts';
import { settingsNodes } from './schema-lookup.ts';
import { withUsable } from './text-use.ts';

/** A field of the settings that a block next to them declares, resolved on access. */
interface NamedField {
  readonly node: Node;
  /** True if it is the node of a block that several targets share. */
  readonly isShared: boolean;
  readonly field: () => DesiredField;
}

interface Holder extends Blocks {
  readonly shared: Blocks;
}

/**
 * The declarations of a target's blocks that name parts of the settings, as fields of the settings. `exhaustive` are the blocks that name
 * all that may exist.
 */
export function resolveNamedSettings(
  target: Holder,
  unmanaged: readonly Path[],
  exhaustive: ReadonlyMap<string, Source>,
  source: ReferenceSource,
): NamedField[] {
  return BLOCKS.flatMap(([name, resolve]) => {
    const others = exhaustive.get(name);
    const node =
      target[name] ?? (others === undefined ? undefined : emptyExhaustiveBlock(target.collections));
    if (node === undefined || isUnmanaged(unmanaged, [name])) return [];
    const left = unmanaged.filter((path) => path[0] === name);
    // Unmanaged or removed parts differ between targets.
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

/** A block that names nothing, instead of the one that removes all others. */
export function emptyExhaustiveBlock(collections: Node | undefined): Node | undefined {
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
  ['disabled_skills', resolveDisabledSkills],
];

function servers(node: Node, source: ReferenceSource): DesiredField {
  const field = fieldNamed('mcp_config') ?? createUnnamedField(['mcp_config'], false);
  const declared = listMembers(node).filter((one) => !isNull(one.node));
  const named = node.kind === 'map' ? { ...node, members: createMemberMap(declared) } : node;
  const value = resolveServers(named, source);
  return {
    field,
    value,
    source: (inner = []) => locateNode(serverSource(named, value, inner)),
    block: {
      name: 'mcp_servers',
      removed: listMembers(node)
        .filter((one) => isNull(one.node))
        .map(({ key }) => key),
    },
  };
}

function marketplaces(node: Node, source: ReferenceSource): DesiredField {
  const path = [MARKETPLACES_FIELD];
  const declared = listMembers(node).filter((one) => !isNull(one.node));
  const value = declared.map((one): Value => {
    const inner = listMembers(one.node).map(
      ({ key, node: own }) =>
        [key, resolveNativeValue([...MARKETPLACE_PLACE, key], own, source)] as const,
    );
    return createRecord([['name', one.key], ...inner]);
  });
  return {
    field: createUnnamedField(path, false),
    value,
    source: () => locateNode(node),
    block: { name: 'marketplaces', removed: [] },
  };
}

function resolveDisabledSkills(node: Node, source: ReferenceSource): DesiredField {
  const path = ['disabled_skills'];
  return {
    field: createUnnamedField(path, false),
    value: resolveNativeValue(path, node, source),
    source: (inner = []) => locateNode(findNode(node, inner) ?? node),
    block: { name: 'disabled_skills', removed: [] },
  };
}

function createMemberMap(members: readonly Member[]): MapNode['members'] {
  return new Map(members.map((one) => [one.key, one]));
}

function locateNode(node: Node) {
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

/** Finds fields that a target declares both in a block and under `settings`: reported at both places. */
export function findBlockAndSettingDoubles(blocks: Blocks): PlacedFinding[] {
  const { settings } = blocks;
  if (settings === undefined) return [];
  return NAMED_SETTINGS.flatMap((name) => {
    const node = blocks[name];
    // To remove all others without the block is to declare that there are none.
    const { collections } = blocks;
    const others =
      collections !== undefined && findExhaustiveBlocks(collections).has(name)
        ? findMember(collections, [name])
        : null;
    const own =
      node !== undefined
        ? { path: [name], at: { file: node.file, at: node.at } }
        : others && {
            path: ['collections', name],
            at: { file: others.keyFile, at: others.keyAt },
          };
    if (own === null) return [];
    return PLACES[name].flatMap((place) => {
      const other = findMember(settings, place);
      if (other === null) return [];
      const path = ['settings', ...place];
      const at = { file: other.keyFile, at: other.keyAt };
      return [
        createRepeatedFinding(own.at, own.path, formatPath(path)),
        createRepeatedFinding(at, path, formatPath(own.path)),
      ];
    });
  });
}

function createRepeatedFinding(
  at: Pick<PlacedFinding, 'file' | 'at'>,
  path: Path,
  elsewhere: string,
) {
  const finding = {
    code: 'declared-twice',
    message: `${elsewhere} declares the same, and both are here.`,
    hint: 'Keep one of the two.',
    path,
  } as const;
  return { ...at, finding };
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
  return createRecord(
    declared.map((list) => {
      const entries = member(node, list);
      const items = entries?.kind === 'list' ? entries.items : [];
      return [list, items.map((entry) => resolveEntry(list, entry, source))] as const;
    }),
  );
}

/** Lists the names of an entry as written in the file, references included: its address, if it has one, and its name. */
export function listWrittenNames(list: McpList, entry: Node): readonly string[] {
  const name = readNodeText(member(entry, 'name'))?.trim() ?? '';
  const url = bareUrl(readNodeText(entry) ?? readNodeText(member(entry, 'url')) ?? '');
  const names = identityMember(list) === 'url' ? [url, name] : [name];
  return names.filter((one) => one !== '');
}

function resolveEntry(list: McpList, entry: Node, source: ReferenceSource): Value {
  const nodes: readonly (readonly [string, Node])[] =
    entry.kind === 'map'
      ? [...entry.members.values()].map((m) => [m.key, m.node] as const)
      : [['url', entry]];
  return normalizeDeclaredEntry(
    createRecord(
      nodes.map(([key, node]) => [key, resolveMember(list, key, node, source)] as const),
    ),
  );
}

function resolveMember(list: McpList, key: string, node: Node, source: ReferenceSource): Value {
  const text = readNodeText(node);
  if (key === 'args') return resolveArgs(node, text, source);
  if (key === 'env') return resolveEnv(node, text, source);
  // What an entry is stored as follows from the words in its auth.
  if (text === undefined)
    return withUsable(resolveNodeValue(node, source), [...NATIVE_SERVERS, '', key]);
  if (key === 'timeout' && list === 'shttp_servers') return readTimeout(text, source);
  if (TYPED.has(key)) return readTyped(text, source, (value) => fitsMember(key, value));
  if (key === 'url' || key === 'name') return resolveIdentity(key, text, source);
  if (key === 'transport') return readTransport(text, LIST_TRANSPORTS[list], source);
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
  return findSchemaFaults(value, { anyOf: nodes }, {}).length === 0;
}

/** A map, a list or a scalar unchanged, texts with their references resolved. */
export function resolveNodeValue(node: Node, source: ReferenceSource): Value {
  if (node.kind === 'scalar')
    return typeof node.value === 'string' ? resolveText(node.value, source) : node.value;
  if (node.kind === 'list') return node.items.map((item) => resolveNodeValue(item, source));
  return createRecord(
    [...node.members.values()].map((one) => [one.key, resolveNodeValue(one.node, source)] as const),
  );
}

/** A member of a server that a native map declares: a program's are those of a program, its name is the key of the map. */
function resolveServerMember(
  key: string,
  node: Node,
  server: Node,
  source: ReferenceSource,
): Value {
  const text = readNodeText(node);
  if (key === 'transport' && text !== undefined) {
    const has = (name: string): boolean => isNodeSet(member(server, name));
    const fitting = MCP_LISTS.filter((list) => has(list === 'stdio_servers' ? 'command' : 'url'));
    return readTransport(
      text,
      fitting.flatMap((list) => LIST_TRANSPORTS[list]),
      source,
    );
  }
  if (key === 'args' && text !== undefined) return resolveText(text, source);
  const inProgram = key === 'args' || key === 'env' || key === 'command';
  return resolveMember(inProgram ? 'stdio_servers' : 'sse_servers', key, node, source);
}

/** The url or name that identifies an entry. A secret one carries what may be shown of it. */
function resolveIdentity(key: 'url' | 'name', text: string, source: ReferenceSource): Value {
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
  const items = node.kind === 'list' ? node.items.map((item) => readNodeText(item) ?? '') : [];
  const texts = line === undefined ? items : splitShellLine(line);
  return texts.map((text, index) =>
    resolveLiteral(text, maskProgramArgument(text, texts[index - 1] ?? null) !== text, source),
  );
}

function resolveEnv(node: Node, line: string | undefined, source: ReferenceSource): Value {
  const members = listMembers(node);
  const pairs =
    line === undefined
      ? members.flatMap(({ key, node: value }) =>
          // Null takes a variable away; a key with nothing after it is an empty one.
          isNull(value) ? [] : [[key, readNodeText(value) ?? ''] as const],
        )
      : envPairs(line).map(({ name, text }) => [name, text ?? ''] as const);
  return createRecord(
    pairs.map(([name, text]) => [
      name,
      resolveLiteral(text, maskProgramVariable(name, text) !== text, source),
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
    ({ key, node: server }) => [key, resolveServerEntry(server, source)] as const,
  );
  return convertDeclaredServers(createRecord(servers));
}

function resolveServerEntry(node: Node, source: ReferenceSource): Value {
  if (node.kind !== 'map') return null;
  return createRecord(
    [...node.members.values()].map((one) => [
      one.key,
      resolveServerMember(one.key, one.node, node, source),
    ]),
  );
}

/** The place of a server that a native map declares, by its position in a list of the specification. */
export function serverSource(node: Node, lists: Value, [list = '', index = '']: Path): Node {
  const entries = isRecord(lists) ? lists[list] : undefined;
  const entry = Array.isArray(entries) ? (entries as readonly Value[])[Number(index)] : undefined;
  const name = isRecord(entry) ? entry['name'] : undefined;
  return (typeof name === 'string' ? findNode(node, [name]) : undefined) ?? node;
}

/** Reports whether a place is that of all mcp servers by their names. */
export function isServersPlace(path: Path): boolean {
  return samePath(path, NATIVE_SERVERS);
}
