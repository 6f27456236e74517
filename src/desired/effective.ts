import type {
  EffectiveMap,
  EffectiveMember,
  EffectiveNode,
  EffectiveValue,
} from '../model/effective.ts';
import type { Path } from '../model/path.ts';
import { BLOCKS, type BlockName } from './is-block.ts';
import { memberAt, textOf, type Member, type Node } from './node.ts';
import { keyOrigin, originOf } from './origin.ts';
import { shownValue } from './shown-value.ts';
import type { Target } from './target.ts';

/**
 * The one file that says by itself what a target's blocks say together: a settings file that declares the same, references
 * as they are written. A key's origin is where the key stands, that of a single value where the value does.
 */
export function effectiveFile(target: Target): EffectiveMap {
  const version = target.root.members.get('version');
  const members = [
    ...(version === undefined ? [] : [effectiveMember(target, version)]),
    ...nameOf(target),
    ...BLOCKS.flatMap((block) => {
      const node = target[block];
      return node === undefined ? [] : [effectiveMember(target, holderOf(target, block, node))];
    }),
  ];
  return { kind: 'map', members };
}

/** The values in it, one after another, masked where a plan masks them. */
export function effectiveValues(target: Target): EffectiveValue[] {
  return BLOCKS.flatMap((block) => {
    const node = target[block];
    return node === undefined ? [] : valuesIn(target, node, [block]);
  });
}

/** `before` is the text that is before a value in a list: a flag says what its value is. */
function valuesIn(target: Target, node: Node, path: Path, before?: string): EffectiveValue[] {
  const inner: readonly (readonly [string, Node])[] =
    node.kind === 'map'
      ? [...node.members.values()].map((m) => [m.key, m.node])
      : node.kind === 'list'
        ? node.items.map((item, index) => [String(index), item])
        : [];
  return inner.length > 0
    ? inner.flatMap(([key, value], index) =>
        valuesIn(target, value, [...path, key], textOf(inner[index - 1]?.[1]) ?? ''),
      )
    : [{ path, value: shownValue(node, path, before), ...originOf(target, node) }];
}

/** A file of its own is called as the target is: by the environment's key, or by name. What a file's path gives is no name. */
function nameOf(target: Target): EffectiveMember[] {
  const { root, name } = target;
  const environment = memberAt(root, ['environments', name]);
  const own = environment ?? root.members.get('name');
  return own === undefined
    ? []
    : [{ key: 'name', origin: keyOrigin(target, own), node: { kind: 'scalar', value: name } }];
}

/** The key that holds a block: in the environment, at the top, or in the base. */
function holderOf({ root, base, name }: Target, block: BlockName, node: Node): Member {
  const members = [
    memberAt(root, ['environments', name, block]),
    memberAt(root, [block]),
    base === null ? null : memberAt(base, [block]),
  ];
  const found = members.find(
    (member) => member?.node.file === node.file && member.node.at === node.at,
  );
  return { key: block, keyFile: node.file, keyAt: found?.keyAt ?? node.at, node };
}

function effectiveMember(target: Target, member: Member): EffectiveMember {
  const { key, node } = member;
  const origin = node.kind === 'scalar' ? originOf(target, node) : keyOrigin(target, member);
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
          origin: originOf(target, item),
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
