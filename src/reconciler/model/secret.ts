import { inspect } from 'node:util';
import { type Identity, fitsLiterals } from './identity.ts';

/** Shown in place of every sensitive value. It is fixed, so that it shows neither length nor equality. */
export const MASK = '(sensitive)';

export type Scalar = string | number | boolean;

/**
 * A value that must not be seen: it came from a reference in the file, or from a secret path of the service.
 *
 * Every string form of it is the mask: `String(x)`, template text, JSON, `util.inspect`, arithmetic. The value leaves it in
 * two ways only. `reveal()` is for request headers and for the body that the actuator sends; `sameAs()` is for the plan,
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

  /** Whether the value fits; nothing else leaves. */
  fits(isFit: (value: string) => boolean): boolean {
    return this.compareWith((value) => (isFit(value) ? 'fits' : 'differs')) === 'fits';
  }

  /** Whether the value is an empty text, which the service answers if nothing is stored. */
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

/** Why the value of an UnseenSecret is not known, and what is known about it. */
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
