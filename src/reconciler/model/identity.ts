/**
 * What identifies an mcp entry: its name, or its url without userinfo, query and fragment. `shown` is what people read; if the
 * url came from a reference it is that reference, while entries are still matched by the url behind it.
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

  /** What maps are keyed by, and nothing else: it may be a resolved reference. Null if the identity is not known. */
  get key(): string | null {
    return this.#key;
  }

  sameAs(other: Identity): boolean {
    return this.#key !== null && this.#key === other.#key;
  }

  /** Whether the two may be the same, as far as is known. */
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
    return this.#values.get(keyOf(identity));
  }

  set(identity: Identity, value: T): void {
    this.#values.set(keyOf(identity), value);
  }
}

/** Identities that are not known are alike if they are shown alike. */
function keyOf({ key, shown }: Identity): string {
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

/** Whether a text starts with the first literal, ends with the last, and has the others between them in order. */
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
