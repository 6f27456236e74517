import {
  memberPath,
  secretLeaves,
  untoldLeaf,
  type CollectionForm,
  type DesiredItem,
  type Leaf,
} from '../model/collection.ts';
import { samePath, type Path } from '../model/path.ts';
import { Secret } from '../model/secret.ts';
import { recordOf, type Value, type ValueRecord } from '../model/value.ts';
import type { Resolve } from './blocks/block.ts';
import { locate, type Member, type Node } from './node.ts';

/** What a block of a collection declares by name. */
export function namedItems(
  form: CollectionForm,
): (node: Node, resolve: Resolve) => readonly DesiredItem[] {
  return (node, resolve) =>
    node.kind === 'map'
      ? [...node.members.values()].map((one) => namedItem(form, one, resolve))
      : [];
}

/** `NAME: {MEMBER: VALUE}`, or `NAME: null` for one that is to be removed; `NAME: VALUE` stands for the main member alone. */
function namedItem(
  form: CollectionForm,
  { key: name, node, keyFile, keyAt }: Member,
  resolve: Resolve,
): DesiredItem {
  const members = membersIn(form, node, resolve);
  const values: readonly Own[] =
    members === null ? [{ member: [], value: null }] : ownLeaves(form, members);
  return {
    name,
    members,
    values: values.map(({ member, ...leaf }) => ({
      path: memberPath(form, name, member),
      ...leaf,
    })),
    source: locate(keyFile, keyAt),
  };
}

interface Own extends Leaf {
  readonly isText?: true;
}

/** The members that are rotated, or compared with what was last sent; of the others, text with references. */
function ownLeaves(form: CollectionForm, members: ValueRecord): readonly Own[] {
  const untold = untoldLeaf(form, members);
  const own = [...secretLeaves(form, members), ...(untold === null ? [] : [untold])];
  const isOwn = ({ member }: Leaf): boolean => own.some((leaf) => samePath(leaf.member, member));
  const texts = secretsWithin([], members).filter((leaf) => !isOwn(leaf));
  return [...own, ...texts.map((leaf) => ({ ...leaf, isText: true }) as const)];
}

function secretsWithin(member: Path, value: Value): readonly Leaf[] {
  if (value instanceof Secret) return [{ member, value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => secretsWithin([...member, key], inner));
}

function membersIn(form: CollectionForm, node: Node, resolve: Resolve): ValueRecord | null {
  if (node.kind === 'map')
    return recordOf(
      [...node.members.values()].map(({ key, node: inner }) => [
        key,
        valueOf(form, [key], inner, resolve),
      ]),
    );
  const { main } = form;
  if (main === undefined || (node.kind === 'scalar' && node.value === null)) return null;
  return recordOf([[main, valueOf(form, [main], node, resolve)]]);
}

function valueOf(form: CollectionForm, member: Path, node: Node, resolve: Resolve): Value {
  if (node.kind === 'list')
    return node.items.map((item, index) =>
      valueOf(form, [...member, String(index)], item, resolve),
    );
  if (node.kind === 'map')
    return recordOf(
      [...node.members.values()].map(({ key, node: inner }) => [
        key,
        valueOf(form, [...member, key], inner, resolve),
      ]),
    );
  if (typeof node.value !== 'string') return node.value;
  const value = resolve(node.value);
  return typeof value === 'string' && form.isSecret(member) ? new Secret(value) : value;
}
