import { isJsonList, isJsonObject, type Json } from '../json.ts';

interface Surrogate {
  /** As Python writes it: `\ud800`. */
  readonly escaped: string;
  /** The character of its text that it is, from 0. */
  readonly position: number;
}

/** Half of a pair of UTF-16 without the other, in the first text of a value that has one; no encoding can carry it. */
export function surrogateIn(value: Json): Surrogate | undefined {
  if (typeof value === 'string') return surrogateOf(value);
  const inner = isJsonList(value) ? value : isJsonObject(value) ? Object.entries(value).flat() : [];
  for (const one of inner) {
    const found = surrogateIn(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function surrogateOf(text: string): Surrogate | undefined {
  const characters = Array.from(text);
  const position = characters.findIndex((one) => /^\p{Surrogate}$/u.test(one));
  const found = characters[position];
  if (found === undefined) return undefined;
  return { escaped: `\\u${found.charCodeAt(0).toString(16)}`, position };
}
