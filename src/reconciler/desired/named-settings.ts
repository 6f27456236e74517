import { fieldNamed, NATIVE_SERVERS, unnamedField } from '../model/field.ts';
import { formatPath, isUnmanaged, type Path, type Source } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { DesiredField, NamedSettings } from '../model/state.ts';
import { recordOf, type Value } from '../model/value.ts';
import { MARKETPLACES_FIELD } from './blocks/collections.ts';
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
} from './node.ts';
import { resolveServers, serverSource } from './resolve-mcp.ts';

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
  const value = declared.map((one, index): Value => {
    const at = [...path, String(index)];
    const inner = itemsIn(one.node).map(
      ({ key, node: own }) => [key, resolvedAt([...at, key], own, source)] as const,
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
