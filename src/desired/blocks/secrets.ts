import { member, type MapNode } from '../node.ts';
import type { PlacedFinding } from '../source-file.ts';
import type { Block, FilePath } from './block.ts';

export const secrets: Block<'secrets'> = {
  name: 'secrets',
  pulled: false,
  textKind: ([name, key]) =>
    name !== undefined && (key === undefined || key === 'value') ? 'secret' : 'plain',
  check: (holder, path) => namesThatDifferInCase(holder, path),
  keyForm: ([, ...inner]) =>
    inner.length > 0
      ? ['A secret has no such member.', 'It has value and description.']
      : [
          'This is no name of a secret that every server takes.',
          'Use at most 64 letters, digits and _, and begin with a letter.',
        ],
  holdsItems: true,
};

/** Some servers tell such names apart, and what runs there may not. */
function namesThatDifferInCase(holder: MapNode, path: FilePath): PlacedFinding[] {
  const block = member(holder, 'secrets');
  if (block?.kind !== 'map') return [];
  const all = [...block.members.values()];
  return all.flatMap(({ key, keyFile, keyAt }) => {
    const other = all.find((one) => one.key !== key && one.key.toLowerCase() === key.toLowerCase());
    if (other === undefined) return [];
    return [
      {
        file: keyFile,
        at: keyAt,
        finding: {
          code: 'duplicate-entry',
          message: `${key} and ${other.key} differ in upper and lower case alone.`,
          hint: 'Keep one of them.',
          path: [...path, 'secrets', key],
        },
      },
    ];
  });
}
