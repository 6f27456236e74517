import { SECRETS_FORM } from '../../model/collection-forms.ts';
import { secondName } from '../../model/collection.ts';
import { namedItems } from '../items.ts';
import { member, type MapNode, type Member, type Node, type PlacedFinding } from '../node.ts';
import type { Block, FilePath } from './block.ts';

export const secrets: Block<'secrets'> = {
  name: 'secrets',
  pulled: true,
  textKind: ([name, key]) =>
    name !== undefined && (key === undefined || key === 'value') ? 'secret' : 'plain',
  check: (holder, path) => clashingNames({ holder, path }),
  keyForm: ([, ...inner]) =>
    inner.length > 0
      ? ['A secret has no such member.', 'It has value and description.']
      : [
          'This is no name of a secret that every server takes.',
          'Use at most 64 letters, digits and _, and begin with a letter.',
        ],
  items: namedItems(SECRETS_FORM),
};

interface SecretHolder {
  readonly holder: MapNode;
  readonly path: FilePath;
}

/** Names that cannot both be kept. Of an environment, also those above it. */
export function clashingNames(own: SecretHolder, above?: Node): PlacedFinding[] {
  const block = member(own.holder, 'secrets');
  if (block?.kind !== 'map') return [];
  const mine = [...block.members.values()];
  const others = above?.kind === 'map' ? [...above.members.values()] : mine;
  return mine.flatMap((one) => {
    const { key, keyFile, keyAt } = one;
    const other = others.find(
      (it) => !block.members.has(it.key) === (above !== undefined) && clash(one, it) !== null,
    );
    const message = other === undefined ? null : clash(one, other);
    if (message === null) return [];
    const finding = {
      code: 'duplicate-entry',
      message,
      hint: 'Keep one of them.',
      path: [...own.path, 'secrets', key],
    } as const;
    return [{ file: keyFile, at: keyAt, finding }];
  });
}

function clash(one: Member, other: Member): string | null {
  if (secondName(one.key) === other.key || secondName(other.key) === one.key)
    return `${one.key} and ${other.key}: a value waits under one of these names when that of the other is rotated.`;
  // Some servers tell such names apart, and what runs there may not.
  if (one.key === other.key || one.key.toLowerCase() !== other.key.toLowerCase()) return null;
  if (isRemoved(one) || isRemoved(other)) return null;
  return `${one.key} and ${other.key} differ in upper and lower case alone.`;
}

function isRemoved({ node }: Member): boolean {
  return node.kind === 'scalar' && node.value === null;
}
