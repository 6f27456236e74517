import { escaped } from './text.ts';

/** A document, masked already, as indented JSON with a line break at its end; invisible characters are escaped. */
export function json(document: unknown): string {
  return `${indented(document)}\n`;
}

function indented(value: unknown): string {
  return escaped(JSON.stringify(value, null, 2));
}

/**
 * The same in parts: the first members with the opening of a list, then its items, then its end with the last members. `isFirst`
 * is whether no item came before.
 */
export function startOfJson(head: unknown, list: string): string {
  return `${indented(head).slice(0, -'\n}'.length)},\n  ${JSON.stringify(list)}: [`;
}

export function partOfJson(item: unknown, isFirst: boolean): string {
  return `${isFirst ? '' : ','}\n    ${indented(item).replaceAll('\n', '\n    ')}`;
}

export function endOfJson(tail: unknown, isFirst: boolean): string {
  return `${isFirst ? '' : '\n  '}],${indented(tail).slice('{'.length)}\n`;
}
