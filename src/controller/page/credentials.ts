import { asSetpointError, type SetpointError } from '../../reconciler/model/error.ts';
import type { Secret } from '../../reconciler/model/secret.ts';
import type { ListenOptions } from './listen-options.ts';

type Certificate = NonNullable<ListenOptions['tls']>;

/** Reads credentials from their files as they are now; null for what is in no file. Each throws a SetpointError if it cannot be used. */
export interface CredentialSource {
  readonly certificate: (() => Promise<Certificate>) | null;
  readonly token: (() => Promise<Secret>) | null;
}

export type CredentialKind = keyof CredentialSource;

/** A user of the credentials. If it throws, the new credential is rejected and the previous one stays in effect. */
export interface CredentialUser {
  readonly takeCertificate: (certificate: Certificate) => void;
  readonly takeToken: (token: Secret) => void;
  /** Receives the reason why a file cannot be used, at every look, and null when it can. */
  readonly problem: (kind: CredentialKind, problem: SetpointError | null) => void;
  /** Called when another one is in use. */
  readonly taken: (kind: CredentialKind) => void;
}

/** Milliseconds between two looks. Files are read, not watched: a mounted Secret changes by links, and not every system reports those. */
const EVERY = 5000;

/** Reads the certificate and the token of a page again and again, and takes those that have changed. */
export class Credentials {
  readonly #source: CredentialSource;
  readonly #user: CredentialUser;
  readonly #timer: NodeJS.Timeout;
  #certificate: Certificate | null;
  #token: Secret | null;
  #isLooking = false;

  constructor(
    { tls, token }: Pick<ListenOptions, 'tls' | 'token'>,
    source: CredentialSource,
    user: CredentialUser,
    every: number = EVERY,
  ) {
    this.#certificate = tls;
    this.#token = token;
    this.#source = source;
    this.#user = user;
    this.#timer = setInterval(() => void this.#look(), every).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** One look at a time: a disk may hang. Each credential counts on its own. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { certificate, token } = this.#source;
    const { takeCertificate, takeToken } = this.#user;
    await this.#follow('certificate', async () => {
      const found = (await certificate?.()) ?? this.#certificate;
      if (found === null || isSameCertificate(found, this.#certificate)) return false;
      takeCertificate(found);
      this.#certificate = found;
      return true;
    });
    await this.#follow('token', async () => {
      const found = (await token?.()) ?? this.#token;
      if (found === null || found.sameAs(this.#token)) return false;
      takeToken(found);
      this.#token = found;
      return true;
    });
    this.#isLooking = false;
  }

  async #follow(kind: CredentialKind, take: () => Promise<boolean>): Promise<void> {
    try {
      const isOther = await take();
      this.#user.problem(kind, null);
      if (isOther) this.#user.taken(kind);
    } catch (thrown) {
      this.#user.problem(kind, asSetpointError(thrown));
    }
  }
}

function isSameCertificate(one: Certificate, other: Certificate | null): boolean {
  return one.cert === other?.cert && one.key.sameAs(other.key);
}
