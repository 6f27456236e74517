import { escapeJsonText } from './text.ts';

/** A document, masked already, as indented JSON with a line break at its end; invisible characters are escaped. */
export function renderJson(document: unknown): string {
  return `${toIndentedJson(document)}\n`;
}

function toIndentedJson(value: unknown): string {
  return escapeJsonText(JSON.stringify(value, null, 2));
}

/**
 * Returns the same in parts: the first members with the opening of a list, then its items, then its end with the last members. `isFirst` is
 * whether no item came before.
 */
export function startOfJson(head: unknown, list: string): string {
  return `${toIndentedJson(head).slice(0, -'\n}'.length)},\n  ${JSON.stringify(list)}: [`;
}

export function partOfJson(item: unknown, isFirst: boolean): string {
  return `${isFirst ? '' : ','}\n    ${toIndentedJson(item).replaceAll('\n', '\n    ')}`;
}

export function endOfJson(tail: unknown, isFirst: boolean): string {
  return `${isFirst ? '' : '\n  '}],${toIndentedJson(tail).slice('{'.length)}\n`;
}
