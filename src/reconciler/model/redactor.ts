import { folded, formsOf, SHORTEST_INSIDE } from './encodings.ts';
import { Matcher } from './matcher.ts';
import { MASK, type Secret } from './secret.ts';
import { withoutUrlSecrets } from './address.ts';

/** The values that redactors have in common: from six characters on, each of them masks the values of all. */
export class SharedValues {
  readonly #known = new Set<string>();
  readonly #numbers = new Set<number>();
  readonly #inside = new Matcher();

  /** How many values there are. */
  get size(): number {
    return this.#known.size;
  }

  all(): readonly string[] {
    return [...this.#known];
  }

  add(value: string): void {
    if (isShort(value) || this.#known.has(value)) return;
    this.#known.add(value);
    for (const form of formsOf(value).inside) if (!MASKED.includes(form)) this.#inside.add(form);
    const number = Number(value);
    if (!Number.isNaN(number)) this.#numbers.add(number);
  }

  /** Where values are in a text in one case. */
  spans(low: string): readonly (readonly [number, number])[] {
    return this.#inside.spans(low);
  }

  hasNumber(number: number): boolean {
    return this.#numbers.has(number);
  }
}

/** Whether a value is found only as the whole of a text: it is short, or the mask holds it. */
function isShort(value: string): boolean {
  return value.length < SHORTEST_INSIDE || MASKED.includes(folded(value));
}

/**
 * Masks the values of references in any text: the whole text if it is such a value, of any length, and what is inside of
 * other text from six characters on; as it is, in any case, and in every form of encodings.ts. Urls lose their userinfo,
 * query and fragment. Linear in the text. What is shared masks the values of other redactors, too, but for short ones: those would
 * mask words and numbers that have nothing to do with them.
 */
export class Redactor {
  readonly #shared: SharedValues;
  readonly #values = new Map<string, string | null>();
  readonly #numbers = new Set<number>();
  /** The forms of short values. */
  readonly #short = new Set<string>();
  /** The forms of values as a whole, with their reference. */
  #refs: ReadonlyMap<string, string | null> | null = null;

  constructor(shared = new SharedValues()) {
    this.#shared = shared;
  }

  /** Adds a value, and the text of the file that it is the whole of; null if it is a part, or not known. */
  add(value: string, ref: string | null): void {
    if (value.trim() === '' || folded(value) === MASKED) return;
    const known = this.#values.get(value);
    if (known !== undefined && (ref === null || ref === known)) return;
    this.#values.set(value, ref);
    this.#refs = null;
    this.#shared.add(value);
    if (isShort(value)) for (const form of formsOf(value).whole) this.#short.add(form);
    const number = Number(value);
    if (!Number.isNaN(number)) this.#numbers.add(number);
  }

  addSecret(secret: Secret): void {
    secret.compareWith((value) => {
      this.add(value, secret.ref);
      return '';
    });
  }

  text(text: string): string {
    if (text === '' || text === MASK) return text;
    const low = folded(text);
    const spans = this.#spans(low);
    const [first] = spans;
    if (first !== undefined && first[0] === 0 && first[1] === low.length) return MASK;
    return withoutUrlSecrets(replaced(text, spans));
  }

  /** Whether a text is, or holds, such a value. */
  holds(text: string): boolean {
    return this.#spans(folded(text)).length > 0;
  }

  /** A number of a document; the mask if it is such a value. */
  number(number: number): number | string {
    return this.#numbers.has(number) || this.#shared.hasNumber(number) ? MASK : number;
  }

  /** A text in documents: its reference if it is the whole value of one. */
  reference(text: string): string {
    const shown = this.text(text);
    if (shown === text || this.#values.size === 0) return shown;
    this.#refs ??= refsOf(this.#values);
    return this.#refs.get(folded(text)) ?? shown;
  }

  #spans(low: string): readonly (readonly [number, number])[] {
    const whole = low.trim();
    if (this.#short.size > 0 && (this.#short.has(low) || this.#short.has(whole)))
      return [[0, low.length]];
    const spans = this.#shared.spans(low);
    const [first] = spans;
    if (first === undefined || first[1] - first[0] < whole.length) return spans;
    return [[0, low.length]];
  }
}

function refsOf(values: ReadonlyMap<string, string | null>): ReadonlyMap<string, string | null> {
  const refs = new Map<string, string | null>();
  for (const [value, ref] of values) for (const form of formsOf(value).whole) refs.set(form, ref);
  return refs;
}

const MASKED = folded(MASK);

function replaced(text: string, spans: readonly (readonly [number, number])[]): string {
  if (spans.length === 0) return text;
  let shown = '';
  let from = 0;
  for (const [start, end] of spans) {
    shown += text.slice(from, start) + MASK;
    from = end;
  }
  return shown + text.slice(from);
}
