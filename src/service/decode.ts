import { parse } from 'lossless-json';

import { recordOf, WireNumber, type Value } from '../model/value.ts';
import { prescan, type Excess } from './prescan.ts';

/** `not-json` stands for a text that is cut off, too. No problem quotes the text. */
export type Decoding =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'problem'; readonly problem: 'not-json' | Excess };

/**
 * Reads JSON as the service wrote it: a number that a JavaScript number would not write the same way keeps its digits, and
 * `__proto__` is a key like any other. Keys keep their order, but those that look like array indexes come first. Nothing is
 * wrapped yet: see conceal.
 */
export function decode(bytes: Uint8Array): Decoding {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const excess = prescan(text);
    if (excess !== null) return { kind: 'problem', problem: excess };
    return { kind: 'value', value: held(parse(text, null, numberOf)) };
  } catch {
    return { kind: 'problem', problem: 'not-json' };
  }
}

function numberOf(token: string): number | WireNumber {
  const number = Number(token);
  return String(number) === token ? number : new WireNumber(token);
}

function held(parsed: unknown): Value {
  if (Array.isArray(parsed)) return parsed.map(held);
  if (typeof parsed !== 'object' || parsed === null || parsed instanceof WireNumber) {
    return parsed as Value;
  }
  return recordOf(Object.entries(parsed).map(([key, value]) => [key, held(value)] as const));
}
