import type { Json } from '../model/value.ts';
import type { Style } from './style.ts';
import { visible } from './visible.ts';

const LONGEST = 120;

/** A value on one line; a long one is folded, and says by how much. */
export function inlineValue(value: Json, style: Style): string {
  if (value === '(sensitive)') return value;
  const text = visible(JSON.stringify(value));
  const limit = Math.min(LONGEST, Math.max(24, (style.width ?? LONGEST) - 30));
  if (style.verbose || text.length <= limit) return text;
  const characters = Array.from(text);
  const more = characters.length - limit;
  const close = typeof value === 'string' ? '"' : '';
  return more <= 0
    ? text
    : `${characters.slice(0, limit).join('')}…${close} (${more} more characters)`;
}

/** Whether a value has members, so that it is shown as a block and not on a line. */
export function isNested(value: Json): value is readonly Json[] | { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null;
}
