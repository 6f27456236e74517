/**
 * Finds many texts in one, in time linear to the text. The texts are secrets, which must not be put into a
 * regular expression. Most texts hold none, so that the automaton is made only for one that holds the beginning of a pattern.
 */
export class Matcher {
  readonly #patterns: readonly string[];
  readonly #beginnings: ReadonlySet<number>;
  #automaton: Automaton | null = null;

  /** Each pattern has six characters or more. */
  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
    this.#beginnings = new Set(patterns.map((pattern) => lastSix(pattern.slice(0, 6))));
  }

  /** Where patterns are in a text, as pairs of start and end; what overlaps or touches is one. */
  spans(text: string): readonly (readonly [number, number])[] {
    if (!this.#mayHold(text)) return [];
    this.#automaton ??= new Automaton(this.#patterns);
    return this.#automaton.spans(text);
  }

  #mayHold(text: string): boolean {
    let six = 0;
    for (let index = 0; index < text.length; index += 1) {
      six = shifted(six, text.charCodeAt(index));
      if (this.#beginnings.has(six)) return true;
    }
    return false;
  }
}

function lastSix(text: string): number {
  let six = 0;
  for (let index = 0; index < text.length; index += 1) six = shifted(six, text.charCodeAt(index));
  return six;
}

/** A number of 30 bits, of which each character shifts out the one six before. */
function shifted(six: number, unit: number): number {
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

  spans(text: string): [number, number][] {
    const spans: [number, number][] = [];
    let state = 0;
    for (let index = 0; index < text.length; index += 1) {
      state = this.#next(state, text.charCodeAt(index));
      const length = this.#longest[state] ?? 0;
      if (length > 0) unite(spans, index + 1 - length, index + 1);
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

function unite(spans: [number, number][], start: number, end: number): void {
  let from = start;
  for (let last = spans.at(-1); last !== undefined && last[1] >= from; last = spans.at(-1)) {
    from = Math.min(from, last[0]);
    spans.pop();
  }
  spans.push([from, end]);
}
