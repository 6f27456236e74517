import { visible } from '../visible.ts';

const SOURCE = Symbol('source');

/** A piece of a page. `markup` alone makes one: a document that was read from a file cannot hold any. */
export interface Markup {
  readonly [SOURCE]: string;
}

export type Part = string | number | Markup | readonly Part[] | null;

/**
 * Our own markup with values in it. A string stands as the text it is, what cannot be seen written out, whether between tags or
 * in an attribute (in double quotes, as all of ours are); nothing in it can become markup. Null is left out.
 */
export function markup(own: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return {
    [SOURCE]: own.map((text, index) => text + sourceOf(parts[index] ?? null)).join(''),
  };
}

/** A piece as it is written into a file. */
export function markupSource(piece: Markup): string {
  return piece[SOURCE];
}

function sourceOf(part: Part): string {
  if (part === null) return '';
  if (typeof part === 'string' || typeof part === 'number') return escaped(visible(String(part)));
  return SOURCE in part ? part[SOURCE] : part.map(sourceOf).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (char) => ENTITIES[char] ?? '');
}
