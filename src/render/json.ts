import { escaped } from './visible.ts';

/** A document, masked already, as indented JSON with a line break at its end; invisible characters are escaped. */
export function json(document: unknown): string {
  return `${escaped(JSON.stringify(document, null, 2))}\n`;
}
