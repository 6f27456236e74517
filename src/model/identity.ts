import { fitsLiterals } from './literals.ts';

/**
 * What an mcp entry is known by: its name, or its url without userinfo, query and fragment. `shown` is what people read; if the
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

  /** An identity that is not known here: masked, or behind a reference without a value. `literals` is the text around it. */
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

  /** Whether the two may be one, as far as it can be told. */
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

/** How often each identity is among some. */
export function countIdentities(identities: Iterable<Identity>): IdentityMap<number> {
  const counts = new IdentityMap<number>();
  for (const identity of identities) counts.set(identity, (counts.get(identity) ?? 0) + 1);
  return counts;
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

/** A url without its userinfo, query and fragment, and without blanks around it. */
export function bareUrl(url: string): string {
  const match = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^?#]*)/i.exec(url.trim());
  return match === null ? url.trim() : `${match[1]}${match[2]}`;
}

/** Whether a url carries something that may be a secret. */
export function isSensitiveUrl(url: string): boolean {
  return bareUrl(url) !== url.trim();
}
