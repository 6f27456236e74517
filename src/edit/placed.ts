import { nodeAt, type Node } from '../desired/node.ts';
import { sameValue } from '../model/value.ts';
import { sameJson } from './json-value.ts';
import type { Slot } from './slot.ts';

/** A block of a file: the top, an environment, or the base that the file extends. */
export interface Block {
  readonly file: string;
  readonly prefix: readonly string[];
  readonly node: Node | undefined;
}

/** A target as the blocks that are merged for it, its own first. `slots` are what it takes in; null where it was not chosen. */
export interface Layered {
  readonly name: string;
  readonly blocks: readonly Block[];
  readonly slots: readonly Slot[] | null;
}

/** A value with the block it goes to, and the targets it comes from. */
export interface Placed {
  readonly block: Block;
  readonly slot: Slot;
  readonly targets: readonly string[];
}

/**
 * Each value goes to the block it came from, the first that declares it, if every target that this block reaches takes in the
 * same; else to each target's own block, which is merged over that one, so that the others keep theirs. What no block
 * declares goes to the top of the file where every target of the file takes it in. `overlay`: everything goes to the
 * targets' own blocks.
 */
export function placed(targets: readonly Layered[], overlay: boolean): Placed[] {
  const all: Placed[] = [];
  const shares = new Map<string, Share>();
  for (const target of targets) {
    const [own] = target.blocks;
    for (const slot of target.slots ?? []) {
      const home = homeOf(target, slot.path);
      if (own === undefined || home === undefined) continue;
      const key = JSON.stringify([home.file, home.prefix, slot.path]);
      const known = shares.get(key);
      const share = known ?? shareOf(targets, home, slot.path);
      shares.set(key, share);
      if (overlay || !share.agreed) all.push({ block: own, slot, targets: [target.name] });
      else if (known === undefined) all.push({ block: home, slot, targets: share.names });
    }
  }
  return all;
}

/** The targets that have a value from a block, and whether all that the block reaches take in the same in its place. */
interface Share {
  readonly names: readonly string[];
  readonly agreed: boolean;
}

function shareOf(targets: readonly Layered[], home: Block, path: readonly string[]): Share {
  const isNew = home.node === undefined || nodeAt(home.node, path) === undefined;
  const users = targets.filter((target) =>
    isNew ? target.blocks.some((block) => isSameBlock(block, home)) : sees(target, home, path),
  );
  const slots = users.map((user) => user.slots?.find((slot) => sameKeys(slot.path, path)));
  const [first] = slots;
  const agreed = slots.every(
    (slot) => slot !== undefined && first !== undefined && isSameSlot(slot, first),
  );
  const own = users.filter((user) => isSameBlock(homeOf(user, path) ?? home, home));
  return { names: own.map(({ name }) => name), agreed };
}

/** The block that a target has a value from; where none declares it, the top of the file that names the target. */
function homeOf({ blocks }: Layered, path: readonly string[]): Block | undefined {
  const declaring = blocks.find(
    ({ node }) => node !== undefined && nodeAt(node, path) !== undefined,
  );
  return declaring ?? blocks.findLast(({ file }) => file === blocks[0]?.file);
}

/** Whether what a block says of a value reaches a target: it does unless a block above says something that replaces it. */
function sees({ blocks }: Layered, home: Block, path: readonly string[]): boolean {
  const index = blocks.findIndex((block) => isSameBlock(block, home));
  return index !== -1 && blocks.slice(0, index).every((block) => !hides(block, path));
}

function hides({ node }: Block, path: readonly string[]): boolean {
  return path.some((_, index) => {
    const above = node === undefined ? undefined : nodeAt(node, path.slice(0, index + 1));
    return above !== undefined && above.kind !== 'map';
  });
}

function isSameBlock(one: Block, other: Block): boolean {
  return one.file === other.file && sameKeys(one.prefix, other.prefix);
}

function isSameSlot(one: Slot, other: Slot): boolean {
  return (
    sameJson(one.value, other.value) &&
    one.stubs.length === other.stubs.length &&
    one.stubs.every((stub, index) => sameValue(stub.secret, other.stubs[index]?.secret))
  );
}

function sameKeys(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index]);
}
