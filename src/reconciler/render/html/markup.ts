import { visible } from '../text.ts';

const SOURCE = Symbol('source');

/** A piece of a page. Only `markup` makes one: a document read from a file cannot contain any. */
export interface Markup {
  readonly [SOURCE]: string;
}

export type MarkupPart = string | number | Markup | readonly MarkupPart[] | null;

/**
 * Our own markup with values in it. A string becomes text, invisible characters escaped, between tags as well as in an attribute
 * (in double quotes, as all of ours are); nothing in it can become markup. Null is left out.
 */
export function markup(own: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return {
    [SOURCE]: own.map((text, index) => text + htmlOf(parts[index] ?? null)).join(''),
  };
}

/** The HTML of a piece. */
export function markupSource(piece: Markup): string {
  return piece[SOURCE];
}

function htmlOf(part: MarkupPart): string {
  if (part === null) return '';
  if (typeof part === 'string' || typeof part === 'number')
    return withEntities(visible(String(part)));
  return SOURCE in part ? part[SOURCE] : part.map(htmlOf).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

function withEntities(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (char) => ENTITIES[char] ?? '');
}
