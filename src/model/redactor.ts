import { folded, formsOf, type Forms } from './encodings.ts';
import { Matcher } from './matcher.ts';
import { MASK, type Secret } from './secret.ts';
import { withoutUrlSecrets } from './address.ts';

/** The forms of secrets, in one case: whole texts with their reference, and parts of texts. */
interface Prepared {
  readonly whole: ReadonlyMap<string, string | null>;
  readonly inside: Matcher;
}

/** What redactors with values in common share: the forms of each value, and what masks the same values. */
export class SharedForms {
  readonly #forms = new Map<string, Forms>();
  readonly #prepared = new Map<string, Prepared>();

  of(value: string): Forms {
    return kept(this.#forms, value, () => formsOf(value));
  }

  prepared(values: string, make: () => Prepared): Prepared {
    return kept(this.#prepared, values, make);
  }
}

/** Values, and sets of values, that are kept for the redactors to come. */
const MOST_KEPT = 1000;

function kept<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= MOST_KEPT) known.clear();
  const made = make();
  known.set(key, made);
  return made;
}

/**
 * Masks the values of references in any text: the whole text if it is such a value, of any length, and what is inside of
 * other text from six characters on; as it is, in any case, and in every form of encodings.ts. Urls lose their userinfo,
 * query and fragment. Linear in the text; nothing is made ready before the first text.
 */
export class Redactor {
  readonly #shared: SharedForms;
  readonly #values = new Map<string, string | null>();
  readonly #numbers = new Set<number>();
  #ready: Prepared | null = null;

  constructor(shared = new SharedForms()) {
    this.#shared = shared;
  }

  /** Adds a value, and the text of the file that it is the whole of; null if it is a part, or not known. */
  add(value: string, ref: string | null): void {
    if (value.trim() === '' || folded(value) === MASKED) return;
    const known = this.#values.get(value);
    if (known !== undefined && (ref === null || ref === known)) return;
    this.#values.set(value, ref);
    this.#ready = null;
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
    if (this.#values.size === 0) return withoutUrlSecrets(text);
    const { whole, inside } = this.#prepared();
    const low = folded(text);
    if (whole.has(low) || whole.has(low.trim())) return MASK;
    return withoutUrlSecrets(replaced(text, inside.spans(low)));
  }

  /** Whether a text is, or holds, such a value. */
  holds(text: string): boolean {
    if (this.#values.size === 0) return false;
    const { whole, inside } = this.#prepared();
    const low = folded(text);
    return whole.has(low) || whole.has(low.trim()) || inside.spans(low).length > 0;
  }

  /** A number of a document; the mask if it is such a value. */
  number(number: number): number | string {
    return this.#numbers.has(number) ? MASK : number;
  }

  /** A text in documents: its reference if it is the whole value of one. */
  reference(text: string): string {
    const ref = this.#values.size === 0 ? undefined : this.#prepared().whole.get(folded(text));
    return ref ?? this.text(text);
  }

  #prepared(): Prepared {
    this.#ready ??= this.#shared.prepared(JSON.stringify([...this.#values]), () => this.#prepare());
    return this.#ready;
  }

  #prepare(): Prepared {
    const whole = new Map<string, string | null>();
    const inside = new Set<string>();
    for (const [value, ref] of this.#values) {
      const forms = this.#shared.of(value);
      for (const form of forms.whole) whole.set(form, ref);
      for (const form of forms.inside) if (!MASKED.includes(form)) inside.add(form);
    }
    return { whole, inside: new Matcher([...inside]) };
  }
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
