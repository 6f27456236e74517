/** A word as a shell takes it. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9._-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
