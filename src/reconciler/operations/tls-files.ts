import { createPrivateKey, X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { SetpointError } from '../model/error.ts';
import type { Secret } from '../model/secret.ts';
import type { ServerSettings } from '../model/state.ts';
import { readText } from '../host/read-text.ts';
import { readExtraAuthorities } from '../host/extra-authorities.ts';
import type { ConnectOptions } from '../service/connect.ts';
import type { ClientIdentity } from '../service/network.ts';
import { assertAnswers } from './load.ts';
import type { Options } from './options.ts';
import type { PreparedTarget } from './prepare.ts';
import type { Running } from './redacting.ts';
import { isPem } from '../desired/blocks/server.ts';

type TlsOptions = Pick<ConnectOptions, 'ca' | 'identity'>;

const PEM_LIMIT = 1024 * 1024;

/** Reads the PEM files that the server of a target names. Throws a SetpointError that names the member and its problem. */
export function readTlsFiles(
  { target }: Pick<PreparedTarget, 'target'>,
  { caFile, clientCert, clientKey }: ServerSettings,
  options: Running<Options>,
): TlsOptions {
  const read = new PemReader(dirname(target.file), options);
  return {
    ca:
      caFile === null
        ? null
        : `${read.certificates('ca_file', caFile).text}\n${readExtraAuthorities()}`,
    identity: readIdentity(read, clientCert, clientKey, (text) =>
      options.resolved.add(target.name, text, null),
    ),
  };
}

function readIdentity(
  read: PemReader,
  certificate: string | null,
  secret: Secret | null,
  mask: (text: string) => void,
): ClientIdentity | null {
  if (certificate === null || secret === null) return null;
  const cert = read.certificates('client_cert', certificate);
  const key = read.key('client_key', String(secret.reveal()));
  mask(key.text);
  const [leaf] = cert.certificates;
  if (leaf?.checkPrivateKey(key.key) !== true)
    throw new SetpointError(
      'file-unreadable',
      'The private key of server.client_key does not belong to the first certificate of server.client_cert.',
      {
        hint: 'Give the key with which that certificate was requested, and the certificate before its intermediate ones.',
      },
    );
  return { cert: cert.text, key: key.text, expires: new Date(leaf.validTo).getTime() };
}

/**
 * Reads the text of PEM members. In a pipeline, and for files of a branch, all that can be wrong with a file is one error: a branch may
 * name any path, and must not learn whether there is a file.
 */
class PemReader {
  readonly #folder: string;
  readonly #options: Running<Options>;

  constructor(folder: string, options: Running<Options>) {
    this.#folder = folder;
    this.#options = options;
  }

  certificates(
    member: string,
    given: string,
  ): { readonly text: string; readonly certificates: readonly X509Certificate[] } {
    const { text, place } = this.#read(member, given);
    const blocks = text.match(CERTIFICATE) ?? [];
    try {
      const certificates = blocks.map((block) => new X509Certificate(block));
      if (certificates.length > 0) return { text, certificates };
    } catch {
      // The error of OpenSSL has no more than a number.
    }
    throw this.#error(place, 'contains no certificates in PEM form', CERTIFICATE_HINT);
  }

  key(
    member: string,
    given: string,
  ): { readonly text: string; readonly key: ReturnType<typeof createPrivateKey> } {
    const { text, place } = this.#read(member, given);
    try {
      return { text, key: createPrivateKey(text) };
    } catch {
      if (/^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(text))
        throw this.#error(place, 'contains a private key with a passphrase', PASSPHRASE_HINT);
      throw this.#error(place, 'contains no private key in PEM form', KEY_HINT);
    }
  }

  #read(member: string, given: string): { readonly text: string; readonly place: string } {
    const name = `server.${member}`;
    if (isPem(given)) return { text: given, place: `The value of ${name}` };
    const path = resolve(this.#folder, given);
    const place = member === 'ca_file' ? path : `${path} (${name})`;
    assertAnswers(path, this.#options);
    try {
      const found = readText(path, PEM_LIMIT);
      if ('text' in found) return { text: found.text, place };
    } catch (thrown) {
      if (!(thrown instanceof SetpointError)) throw thrown;
      if (member !== 'ca_file' && !this.#isForeign())
        throw new SetpointError(thrown.code, `${name}: ${thrown.message}`);
    }
    return { text: '', place };
  }

  #isForeign(): boolean {
    const { env, checkout } = this.#options;
    return (env['CI'] ?? '') !== '' || checkout !== undefined;
  }

  #error(place: string, problem: string, hint: string): SetpointError {
    return new SetpointError('file-unreadable', `${place} ${problem}.`, { hint });
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const CERTIFICATE_HINT = 'Give a text file with BEGIN CERTIFICATE lines.';
const KEY_HINT =
  'Give a text file with a BEGIN PRIVATE KEY, BEGIN RSA PRIVATE KEY or BEGIN EC PRIVATE KEY line.';
const PASSPHRASE_HINT =
  'setpoint asks for no passphrase. Write the key without one: openssl pkey -in KEY -out client.key, and protect that file.';
