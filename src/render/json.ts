/** A document as JSON, indented, with a line break at its end. Values are masked already. */
export function json(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
