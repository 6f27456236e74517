import { escaped } from './visible.ts';

/** A document as JSON, indented, with a line break at its end; what a terminal would not show is escaped. Values are masked already. */
export function json(document: unknown): string {
  return `${escaped(JSON.stringify(document, null, 2))}\n`;
}
