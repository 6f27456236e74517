/**
 * Finds many texts in one, in time linear to the text. The texts are secrets, which must not be put into a
 * regular expression. Most texts hold none: an automaton is made only of the patterns whose beginning a text holds.
 */
export class Matcher {
  readonly #groups = new Map<number, Group>();
  /** States of all automata. */
  #states = 0;

  /** Adds a pattern of six characters or more. */
  add(pattern: string): void {
    const beginning = lastSix(pattern.slice(0, 6));
    const group = this.#groups.get(beginning);
    if (group === undefined) this.#groups.set(beginning, { patterns: [pattern], automaton: null });
    else {
      group.patterns.push(pattern);
      this.#states -= group.automaton?.size ?? 0;
      group.automaton = null;
    }
  }

  /** Returns the places of patterns in a text, as pairs of start and end; overlapping or touching ones are merged. */
  spans(text: string): readonly Span[] {
    const found = this.#findBeginnings(text);
    if (found === null) return [];
    const spans = [...found].flatMap(([group, starts]) =>
      this.#automaton(group).spans(text, starts),
    );
    return found.size === 1 ? spans : mergeSpans(spans.toSorted(([a], [b]) => a - b));
  }

  /** Returns the places of beginnings in a text, by those that begin alike; null if it contains no beginning. */
  #findBeginnings(text: string): Map<Group, number[]> | null {
    if (this.#groups.size === 0) return null;
    let found: Map<Group, number[]> | null = null;
    let six = 0;
    for (let index = 0; index < text.length; index += 1) {
      six = shiftHash(six, text.charCodeAt(index));
      const group = this.#groups.get(six);
      if (group === undefined || index < 5) continue;
      found ??= new Map();
      const starts = found.get(group);
      if (starts === undefined) found.set(group, [index - 5]);
      else starts.push(index - 5);
    }
    return found;
  }

  #automaton(group: Group): Automaton {
    if (group.automaton !== null) return group.automaton;
    if (this.#states > MOST_STATES) {
      for (const one of this.#groups.values()) one.automaton = null;
      this.#states = 0;
    }
    const made = new Automaton(group.patterns);
    group.automaton = made;
    this.#states += made.size;
    return made;
  }
}

export type Span = readonly [number, number];

/** Patterns that begin alike. */
interface Group {
  readonly patterns: string[];
  automaton: Automaton | null;
}

/** States from which on automata are given up. */
const MOST_STATES = 500_000;

function lastSix(text: string): number {
  let six = 0;
  for (let index = 0; index < text.length; index += 1) six = shiftHash(six, text.charCodeAt(index));
  return six;
}

/** A number of 30 bits; each character shifts out the one six before. */
function shiftHash(six: number, unit: number): number {
  return ((six << 5) ^ unit) & 0x3f_ff_ff_ff;
}

/** The automaton of Aho and Corasick. Children of a state are a list of siblings. */
class Automaton {
  readonly #root = new Map<number, number>();
  readonly #unit = [0];
  readonly #child = [0];
  readonly #sibling = [0];
  readonly #fallback = [0];
  /** The length of the longest pattern that ends in a state; 0 for none. */
  readonly #longest = [0];

  constructor(patterns: Iterable<string>) {
    for (const pattern of patterns) this.#add(pattern);
    this.#link();
  }

  get size(): number {
    return this.#unit.length;
  }

  /** Returns the places of patterns in a text; they begin only at one of the starts, which ascend. */
  spans(text: string, starts: readonly number[]): [number, number][] {
    const spans: [number, number][] = [];
    let [state, at] = [0, 0];
    for (const start of starts) {
      // A place that was checked already was followed from its own start on.
      for (at = Math.max(at, start); at < text.length && (state !== 0 || at === start); at += 1) {
        state = this.#next(state, text.charCodeAt(at));
        const length = this.#longest[state] ?? 0;
        if (length > 0) unite(spans, at + 1 - length, at + 1);
      }
    }
    return spans;
  }

  #add(pattern: string): void {
    let state = 0;
    for (let index = 0; index < pattern.length; index += 1) {
      const unit = pattern.charCodeAt(index);
      state = this.#step(state, unit) || this.#grow(state, unit);
    }
    this.#longest[state] = pattern.length;
  }

  #grow(state: number, unit: number): number {
    const added = this.#unit.length;
    this.#unit.push(unit);
    this.#child.push(0);
    this.#fallback.push(0);
    this.#longest.push(0);
    if (state === 0) {
      this.#root.set(unit, added);
      this.#sibling.push(0);
    } else {
      this.#sibling.push(this.#child[state] ?? 0);
      this.#child[state] = added;
    }
    return added;
  }

  /** The next state for a unit; 0 if there is none. */
  #step(state: number, unit: number): number {
    if (state === 0) return this.#root.get(unit) ?? 0;
    let child = this.#child[state] ?? 0;
    while (child !== 0 && this.#unit[child] !== unit) child = this.#sibling[child] ?? 0;
    return child;
  }

  #next(from: number, unit: number): number {
    let state = from;
    for (;;) {
      const found = this.#step(state, unit);
      if (found !== 0 || state === 0) return found;
      state = this.#fallback[state] ?? 0;
    }
  }

  /** Level by level: a state falls back to the longest end of it that is a beginning of a pattern. */
  #link(): void {
    let level = [...this.#root.values()];
    while (level.length > 0) {
      const below: number[] = [];
      for (const state of level) {
        for (let child = this.#child[state] ?? 0; child !== 0; child = this.#sibling[child] ?? 0) {
          const fallback = this.#next(this.#fallback[state] ?? 0, this.#unit[child] ?? 0);
          this.#fallback[child] = fallback;
          this.#longest[child] ||= this.#longest[fallback] ?? 0;
          below.push(child);
        }
      }
      level = below;
    }
  }
}

/** Merges spans that overlap or touch; they ascend by their starts. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const all: [number, number][] = [];
  for (const [start, end] of spans) unite(all, start, end);
  return all;
}

function unite(spans: [number, number][], start: number, end: number): void {
  let [from, to] = [start, end];
  for (let last = spans.at(-1); last !== undefined && last[1] >= from; last = spans.at(-1)) {
    from = Math.min(from, last[0]);
    to = Math.max(to, last[1]);
    spans.pop();
  }
  spans.push([from, to]);
}

/**
 * Reports whether one of the globs matches a text as a whole; `*` matches any characters but a slash. Slashes at a glob's end do not count.
 * Without backtracking: each part between two stars is searched for once, from left to right, so that neither a glob nor a text takes more
 * steps than the product of their lengths.
 */
export function isGlobMatch(text: string, globs: readonly string[]): boolean {
  return globs.some((glob) => globMatcher(glob)(text));
}

/** Returns a matcher of one glob for many texts. */
export function globMatcher(glob: string): (text: string) => boolean {
  const [first = '', ...rest] = withoutSlashes(glob).split('*');
  const last = rest.pop();
  return last === undefined
    ? (text) => text === first
    : (text) => matchesParts(text, first, rest, last);
}

function matchesParts(
  text: string,
  first: string,
  between: readonly string[],
  last: string,
): boolean {
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of between) {
    const found = text.indexOf(part, at);
    if (found === -1 || crosses(text, at, found)) return false;
    at = found + part.length;
  }
  return at <= end && !crosses(text, at, end);
}

/**
 * Taking the first place of a part is right: a later one that leaves out a slash does not exist, because the star before it
 * would have to take in that slash.
 */
function crosses(text: string, from: number, to: number): boolean {
  const slash = text.indexOf('/', from);
  return slash !== -1 && slash < to;
}

function withoutSlashes(glob: string): string {
  let end = glob.length;
  while (end > 0 && glob[end - 1] === '/') end -= 1;
  return glob.slice(0, end);
}
