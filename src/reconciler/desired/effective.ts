import { type BlockName, BLOCKS } from './blocks.ts';
import {
  type Member,
  findMember,
  type Node,
  readNodeText,
  locate,
  type SourceFile,
} from './node.ts';
import { formatNodeValue } from './shown-value.ts';
import type { Target } from './target.ts';
import type { EffectiveMap, EffectiveMember, EffectiveNode } from '../model/effective.ts';
import type { Block, EffectiveValue } from '../model/documents.gen.ts';
import type { Origin } from '../model/effective.ts';
import type { Path } from '../model/path.ts';

/**
 * One settings file that declares alone what a target's blocks declare together, references in their written form. The origin of a map or
 * list is the place of its key, that of a single value is its own place.
 */
export function effectiveFile(target: Target): EffectiveMap {
  const version = target.root.members.get('version');
  const members = [
    ...(version === undefined ? [] : [effectiveMember(target, version)]),
    ...nameMember(target),
    ...BLOCKS.flatMap(({ name }) => {
      const node = target[name];
      return node === undefined
        ? []
        : [effectiveMember(target, findHoldingKey(target, name, node))];
    }),
  ];
  return { kind: 'map', members };
}

/** The values in it, in order, masked as a plan masks them. */
export function effectiveValues(target: Target): EffectiveValue[] {
  return BLOCKS.flatMap(({ name }) => {
    const node = target[name];
    return node === undefined ? [] : listEffectiveValues(target, node, [name]);
  });
}

/** `before` is the text before a value in a list, which may be a flag that makes the value a secret. */
function listEffectiveValues(
  target: Target,
  node: Node,
  path: Path,
  before?: string,
): EffectiveValue[] {
  const inner: readonly (readonly [string, Node])[] =
    node.kind === 'map'
      ? [...node.members.values()].map((m) => [m.key, m.node])
      : node.kind === 'list'
        ? node.items.map((item, index) => [String(index), item])
        : [];
  return inner.length > 0
    ? inner.flatMap(([key, value], index) =>
        listEffectiveValues(
          target,
          value,
          [...path, key],
          readNodeText(inner[index - 1]?.[1]) ?? '',
        ),
      )
    : [{ path, value: formatNodeValue(node, path, before), ...nodeOrigin(target, node) }];
}

/** The file gets the target's name if it is an environment's key or a `name:`, not if it comes from the file's path. */
function nameMember(target: Target): EffectiveMember[] {
  const { root, name } = target;
  const environment = findMember(root, ['environments', name]);
  const own = environment ?? root.members.get('name');
  return own === undefined
    ? []
    : [{ key: 'name', origin: keyOrigin(target, own), node: { kind: 'scalar', value: name } }];
}

/** The key that holds a block: in the environment, at the top, or in a base. */
function findHoldingKey({ root, bases, name }: Target, block: BlockName, node: Node): Member {
  const members = [
    findMember(root, ['environments', name, block]),
    findMember(root, [block]),
    ...bases.map((base) => findMember(base, [block])),
  ];
  const found = members.find(
    (member) => member?.node.file === node.file && member.node.at === node.at,
  );
  return { key: block, keyFile: node.file, keyAt: found?.keyAt ?? node.at, node };
}

function effectiveMember(target: Target, member: Member): EffectiveMember {
  const { key, node } = member;
  const origin = node.kind === 'scalar' ? nodeOrigin(target, node) : keyOrigin(target, member);
  return { key, origin, node: effectiveNode(target, node) };
}

function effectiveNode(target: Target, node: Node): EffectiveNode {
  switch (node.kind) {
    case 'scalar':
      return { kind: 'scalar', value: node.value };
    case 'list':
      return {
        kind: 'list',
        items: node.items.map((item) => ({
          origin: nodeOrigin(target, item),
          node: effectiveNode(target, item),
        })),
      };
    case 'map':
      return {
        kind: 'map',
        members: [...node.members.values()].map((member) => effectiveMember(target, member)),
      };
  }
}

/** The place of a value of a target, and whether it is in the base, at the top or in an environment. */
export function nodeOrigin(target: Target, { file, at }: Pick<Node, 'file' | 'at'>): Origin {
  return { source: locate(file, at), block: findNamedBlock(target, file, at) };
}

/** Returns the origin of a key. */
export function keyOrigin(target: Target, { keyFile, keyAt }: Member): Origin {
  return nodeOrigin(target, { file: keyFile, at: keyAt });
}

/** The key above a place names the block: what a target has of `environments:` is its own environment. */
function findNamedBlock({ root }: Target, file: SourceFile, at: number): Block {
  if (file !== root.file) return 'base';
  let above: Member | null = null;
  for (const member of root.members.values())
    if (member.keyAt <= at && member.keyAt >= (above?.keyAt ?? 0)) above = member;
  return above?.key === 'environments' ? 'environment' : 'top';
}
