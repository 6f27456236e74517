/** `1 change`, `2 changes`. */
export function formatCount(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${groupThousands(count)} ${noun}s`;
}

/** A time in ISO 8601 to the minute: `2026-03-01 11:08 UTC`. */
export function formatUtcMinute(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}

/** A sentence as a part of another one: without the full stop at its end. */
export function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

/** A whole number with commas between its thousands: `10,000`. */
export function groupThousands(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** The candidate that a person most likely meant: at most a third of the letters differ, or it goes on after them. Null if there is none. */
export function suggest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > LONGEST_WORD) return null;
  let best: string | null = null;
  let begun: string | null = null;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  const folded = normalizeWord(word);
  for (const candidate of candidates) {
    if (candidate.length > LONGEST_WORD) continue;
    const other = normalizeWord(candidate);
    const distance = editDistance(folded, other, least);
    if (distance < least) [best, least] = [candidate, distance];
    if (folded.length >= SHORTEST_BEGINNING && other.startsWith(folded)) begun ??= candidate;
  }
  return best ?? begun;
}

/** Letters of a word for which one is suggested. Comparing two words takes as long as the product of their lengths. */
const LONGEST_WORD = 100;

/** Suggests words for those of one file. After hundreds of words that are none of the candidates the file has another problem than its spelling. */
export class Suggestions {
  #letters = MOST_LETTERS;

  /** As the function `suggest`; null also after too many words. */
  suggest(word: string, candidates: readonly string[]): string | null {
    if (this.#letters < 0) return null;
    this.#letters -= (word.length + 1) * candidates.length;
    return suggest(word, candidates);
  }

  /** `Did you mean language?`, or nothing. */
  didYouMean(word: string, candidates: readonly string[]): string {
    return meant(this.suggest(word, candidates));
  }
}

/** Letters of words, for each candidate that they are compared with. */
const MOST_LETTERS = 100_000;

/** Letters that identify the beginning of a word. */
const SHORTEST_BEGINNING = 3;

/** `Did you mean language?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  return meant(suggest(word, candidates));
}

function meant(candidate: string | null): string {
  return candidate === null ? '' : `Did you mean ${candidate}?`;
}

/** Returns the hint for an unknown word: the intended choice, or all choices. */
export function choicesHint(word: string, candidates: readonly string[]): string {
  return didYouMean(word, candidates) || `Available: ${namesListed(candidates)}.`;
}

/** The number of names that one sentence lists, if its place has no other text. */
const MOST_NAMES = 20;

/** Names with commas between them; of many only the first ones, and how many more there are. */
export function namesListed(names: readonly string[], most: number = MOST_NAMES): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function normalizeWord(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours; gives up at `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? limit;
}

/** The types of JSON in words. */
export const TYPE_NOUNS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a map',
  array: 'a list',
  null: 'null',
};
