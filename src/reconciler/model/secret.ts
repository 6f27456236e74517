import { inspect } from 'node:util';

/** Shown instead of every sensitive value. It is fixed, so that it shows neither length nor equality. */
export const MASK = '(sensitive)';

export type Scalar = string | number | boolean;

/**
 * A value that must not be seen: it came from a reference in the file, or from a secret path of the service.
 *
 * Every string form of it is the mask: `String(x)`, template text, JSON, `util.inspect`, arithmetic. The value leaves it in
 * two ways only. `reveal()` is for request headers and for the body that a writer sends; `sameAs()` is for the plan,
 * which may know that two values differ but not what they are.
 *
 * `ref` is the reference the value came from, as the file writes it; null for what the service answered. `identity` is what
 * may be shown of a url: see Identity.
 */
export class Secret {
  readonly #value: Scalar;
  readonly ref: string | null;
  readonly identity: Identity | null;

  constructor(value: Scalar, ref: string | null = null, identity: Identity | null = null) {
    this.#value = value;
    this.ref = ref;
    this.identity = identity;
  }

  reveal(): Scalar {
    return this.#value;
  }

  sameAs(other: unknown): boolean {
    return this.#value === (other instanceof Secret ? other.#value : other);
  }

  /** The verdict of a comparison of the value; only the verdict leaves. */
  compareWith<T extends string>(compare: (value: string) => T): T {
    return compare(String(this.#value));
  }

  /** Reports whether the value matches; nothing else leaves. */
  fits(isFit: (value: string) => boolean): boolean {
    return this.compareWith((value) => (isFit(value) ? 'fits' : 'differs')) === 'fits';
  }

  /** Reports whether the value is an empty text, which the service answers if nothing is stored. */
  isEmpty(): boolean {
    return this.#value === '';
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  valueOf(): string {
    return MASK;
  }

  [Symbol.toPrimitive](): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

/** The reason that the value of an UnseenSecret is unknown, and what is known about it. */
export interface Unseen {
  readonly reason: string;
  /** The reference that has no value here; null for a value that a snapshot masks. */
  readonly missing: string | null;
  /** The text around the references; null if any text may be meant. */
  readonly literals: readonly string[] | null;
}

const MASKED: Unseen = { reason: 'masked', missing: null, literals: null };

/**
 * A value that is not known here: a reference without a value, or what a snapshot masks. It equals nothing, and it is never sent: `reveal()` gives no text. `mayBe` is whether a text fits the literal text around the references.
 */
export class UnseenSecret extends Secret {
  readonly unseen: Unseen;

  constructor(
    ref: string | null = null,
    identity: Identity | null = null,
    unseen: Unseen = MASKED,
  ) {
    super(Number.NaN, ref, identity);
    this.unseen = unseen;
  }

  mayBe(text: string): boolean {
    return fitsLiterals(text, this.unseen.literals);
  }

  override compareWith<T extends string>(compare: (value: string) => T): T {
    return compare(MASK);
  }
}

/**
 * The identity of an mcp entry: its name, or its url without userinfo, query and fragment. `shown` is the text for people; if the url came
 * from a reference it is that reference, while entries are still matched by the url behind it.
 */
export class Identity {
  readonly shown: string;
  readonly #key: string | null;
  readonly #literals: readonly string[] | null;

  constructor(
    shown: string,
    key: string | null = shown,
    literals: readonly string[] | null = null,
  ) {
    this.shown = shown;
    this.#key = key;
    this.#literals = literals;
  }

  /** An unknown identity: masked, or behind a reference without a value. `literals` is the text around it. */
  static unseen(shown: string, literals: readonly string[] | null = null): Identity {
    return new Identity(shown, null, literals);
  }

  /** The key for maps, and for nothing else: it may be a resolved reference. Null if the identity is unknown. */
  get key(): string | null {
    return this.#key;
  }

  sameAs(other: Identity): boolean {
    return this.#key !== null && this.#key === other.#key;
  }

  /** Reports whether the two may be the same, by what is known. */
  mayBe(other: Identity): boolean {
    if (this.#key !== null && other.#key !== null) return this.#key === other.#key;
    if (this.#key === null && other.#key === null) return true;
    return this.#key === null
      ? fitsLiterals(other.#key ?? '', this.#literals)
      : fitsLiterals(this.#key, other.#literals);
  }

  toJSON(): string {
    return this.shown;
  }
}

/** Values by identity, so that entries are matched without comparing each with each. */
export class IdentityMap<T> {
  readonly #values = new Map<string, T>();

  get(identity: Identity): T | undefined {
    return this.#values.get(mapKey(identity));
  }

  set(identity: Identity, value: T): void {
    this.#values.set(mapKey(identity), value);
  }
}

/** Identities that are not known are alike if they are shown alike. */
function mapKey({ key, shown }: Identity): string {
  return key === null ? `\0${shown}` : key;
}

/** Values that are taken by their identity, of those alike the first that is left. */
export class IdentityQueues<T> {
  readonly #queues = new IdentityMap<T[]>();

  constructor(pairs: readonly (readonly [Identity, T])[]) {
    for (const [identity, value] of pairs.toReversed()) {
      const queue = this.#queues.get(identity);
      if (queue === undefined) this.#queues.set(identity, [value]);
      else queue.push(value);
    }
  }

  take(identity: Identity): T | undefined {
    if (identity.key === null) return undefined;
    return this.#queues.get(identity)?.pop();
  }
}

/** Reports whether a text starts with the first literal, ends with the last, and has the others between them in order. */
export function fitsLiterals(text: string, literals: readonly string[] | null): boolean {
  if (literals === null) return true;
  const [first = '', ...rest] = literals;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const literal of rest) {
    const at = text.indexOf(literal, from);
    if (at === -1 || at + literal.length > end) return false;
    from = at + literal.length;
  }
  return text.endsWith(last);
}
