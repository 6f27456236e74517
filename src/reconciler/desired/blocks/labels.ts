import { KEY_FORM, VALUE_FORM } from '../../model/label.ts';
import { textOf, type Node } from '../node.ts';
import type { Block } from './block.ts';
import { isNumberOrWord, isPlainWord } from './quotable.ts';

export const labels: Block<'labels'> = {
  name: 'labels',
  pulled: false,
  isQuotable: (value) => isNumberOrWord(value) || isPlainWord(value),
  textForm: () => [
    `text of ${VALUE_FORM}`,
    'A letter or digit comes first and last; "" is a value, too.',
  ],
  keyForm: () => ['This is not a valid key of a label.', `Write ${KEY_FORM}.`],
};

/** The labels of a target. */
export function labelsOf(node: Node | undefined): ReadonlyMap<string, string> {
  if (node?.kind !== 'map') return new Map();
  return new Map(
    [...node.members.values()].map(({ key, node: value }) => [key, textOf(value) ?? '']),
  );
}
