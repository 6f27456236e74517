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

/** An address in four parts: what it begins with, its userinfo, the host with its path, and the query or fragment. */
interface AddressParts {
  readonly prefix: string;
  readonly userinfo: string;
  readonly body: string;
  readonly tail: string;
}

/** The schemes for which browsers read `\\` as `/`, and do not count the slashes behind the colon. */
const SPECIAL = /^(?:(?:https?|wss?|ftp):[\\/]*|[\\/]{2,})/i;
const OTHER = /^[a-z][a-z0-9+.-]*:\/\//i;
/** A colon without a port number after it: the text before it is no host. */
const NO_PORT = /:(?!\d*$)/;

/**
 * The parts of a text that is taken for an address, with or without a scheme. The authority ends where browsers end it,
 * unless what would be its host cannot be one: then a password holds the character, and the last `@` ends the userinfo.
 */
export function addressParts(address: string): AddressParts {
  const flat = address.trim().replaceAll(/[\t\n\r]/g, '');
  const special = SPECIAL.exec(flat)?.[0];
  const text = special === undefined ? address.trim() : flat;
  const prefix = special ?? OTHER.exec(text)?.[0] ?? '';
  const rest = text.slice(prefix.length);
  // Punctuation inside of a reference is part of the reference.
  const known = rest.includes('${')
    ? rest.replaceAll(/\$\{[^{}]*\}/g, (reference) => '$'.repeat(reference.length))
    : rest;
  const end = indexIn(known, special === undefined && prefix !== '' ? /[/?#]/ : /[/\\?#]/);
  const authority = known.slice(0, end);
  let at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1).replace(/^\[[^\]]*\]/, '');
  const isHost = !NO_PORT.test(host) && (at === -1 || host !== '');
  if (!isHost && end < known.length) {
    const before = known.lastIndexOf('@', indexIn(known, /[?#]/));
    at = Math.max(at, before > at ? before : known.lastIndexOf('@'));
  }
  const tail = at + 1 + indexIn(known.slice(at + 1), /[?#]/);
  return {
    prefix,
    userinfo: rest.slice(0, Math.max(at, 0)),
    body: rest.slice(at + 1, tail),
    tail: rest.slice(tail),
  };
}

function indexIn(text: string, pattern: RegExp): number {
  const index = text.search(pattern);
  return index === -1 ? text.length : index;
}

/** An address without its userinfo, query and fragment, and without blanks around it; a scheme is not needed. */
export function bareUrl(url: string): string {
  const { prefix, body } = addressParts(url);
  return prefix + body;
}

/** Credentials before a host, a query with a name in it, or `//` and an `@`: an address though it has no scheme. */
const BARE_CREDENTIALS = /^[^\s/?#@:]*:[^\s?#]*@[^\s/?#@:]+(?::\d{1,5})?(?:[/?#]|$)/;
const NAMED_QUERY = /^[^\s?#]*\?[^\s=&?#]{1,80}=/;

/**
 * Whether a text that may be anything is an address with something in it that may be a secret. Without a scheme it takes
 * credentials (`user:password@host`) or a query with a name (`host/path?key=x`): an email address is none.
 */
export function isSensitiveUrl(text: string): boolean {
  const trimmed = text.trim();
  const certain = OTHER.test(trimmed) || SPECIAL.test(trimmed.replaceAll(/[\t\n\r]/g, ''));
  if (certain) return isSensitiveAddress(trimmed);
  if (/\s/.test(trimmed) || trimmed.startsWith('mailto:')) return false;
  return BARE_CREDENTIALS.test(trimmed) || NAMED_QUERY.test(trimmed);
}

/** The same for a text that is known to be an address: every userinfo, query and fragment counts. */
export function isSensitiveAddress(address: string): boolean {
  const { userinfo, tail } = addressParts(address);
  return userinfo !== '' || tail !== '';
}
