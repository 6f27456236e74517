import { WireNumber, type Json, type Value } from '../model/value.ts';

/**
 * A scalar of the service as a settings file writes it, `${` escaped in text. Null where it is none: a secret, a map, a list,
 * or a number that a file cannot hold.
 */
export function asWritten(value: Value): { readonly written: Json } | null {
  if (typeof value === 'string') return { written: escaped(value) };
  if (value === null || typeof value === 'boolean' || typeof value === 'number')
    return { written: value };
  if (!(value instanceof WireNumber)) return null;
  const number = value.toJSON();
  return typeof number === 'number' ? { written: number } : null;
}

/** Text as a file writes it where references are looked up. */
export function escaped(text: string): string {
  return text.replaceAll('${', () => '$${');
}
