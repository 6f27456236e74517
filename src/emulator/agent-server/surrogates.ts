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

/**
 * A value as a server has it that stored it: of half a pair in a key each of its three bytes becomes U+FFFD, so that the key is another one.
 * Source: release 1.57.0 answers `a\ufffd\ufffd\ufffd` for `{"misc_settings_diff": {"a\ud800": 1}}`.
 */
export function withStoredKeys(value: Json): Json {
  if (isJsonList(value)) return value.map(withStoredKeys);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key.replaceAll(/\p{Surrogate}/gu, '\uFFFD'.repeat(3)),
      withStoredKeys(member),
    ]),
  );
}
