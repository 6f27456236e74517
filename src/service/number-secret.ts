import { Secret } from '../model/secret.ts';

/** A sensitive number that keeps the digits the service wrote. */
export class NumberSecret extends Secret {
  readonly #token: string;

  constructor(token: string) {
    super(Number(token));
    this.#token = token;
  }

  /** The digits, for the body that carries them back. */
  revealToken(): string {
    return this.#token;
  }
}
