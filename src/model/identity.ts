/**
 * What an mcp entry is known by: its name, or its url without userinfo, query and fragment. `shown` is what people read;
 * where the url came from a reference it is that reference, while entries are still matched by the url behind it.
 */
export class Identity {
  readonly shown: string;
  readonly #key: string;

  constructor(shown: string, key: string = shown) {
    this.shown = shown;
    this.#key = key;
  }

  sameAs(other: Identity): boolean {
    return this.#key === other.#key;
  }

  toJSON(): string {
    return this.shown;
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
