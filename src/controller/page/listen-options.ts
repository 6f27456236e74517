import { isLoopbackHost } from '../../reconciler/model/address.ts';
import { usageError } from '../../reconciler/model/error.ts';
import type { Variables } from '../../reconciler/model/ports.ts';
import { Secret } from '../../reconciler/model/secret.ts';

/** The address and the audience of the page. */
export interface ListenOptions {
  /** A name or an address; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The origin that browsers use, if a proxy stands before the page: `https://setpoint.example.com`. */
  readonly publicOrigin: string | null;
  /** The token for login by people and tools. Without one no actions are possible, and every client that reaches the page can read. */
  readonly token: Secret | null;
  /** PEM texts. */
  readonly tls: { readonly key: Secret; readonly cert: string } | null;
  /** True if a logged-in user can read now, plan, apply, suspend and resume. */
  readonly allowActions: boolean;
}

/** The address of the probes, and whether metrics are served there. */
export interface ProbeOptions extends Pick<ListenOptions, 'host' | 'port'> {
  readonly withMetrics: boolean;
}

/** The flags of `setpoint watch` about its page and its probes. */
export interface ListenFlags {
  readonly listen?: string | undefined;
  readonly probes?: string | undefined;
  readonly tls?: string | undefined;
  readonly allowActions?: boolean | undefined;
}

const TOKEN_VARIABLE = 'SETPOINT_WATCH_TOKEN';
const TOKEN_FILE_VARIABLE = 'SETPOINT_WATCH_TOKEN_FILE';
const SHORTEST_TOKEN = 20;

/** Reads a file that contains `what`; throws a SetpointError. */
export type ReadCredential = (path: string, what: 'PEM' | 'token') => string;

/** The files that hold the page's certificate with its key, and its token; empty for what is in none. */
export function credentialFiles(
  { tls }: ListenFlags,
  env: Variables,
): { readonly certificate: readonly string[]; readonly token: readonly string[] } {
  const file = env[TOKEN_FILE_VARIABLE] ?? '';
  return {
    certificate: tls === undefined ? [] : tls.split(','),
    token: file === '' ? [] : [file],
  };
}

/**
 * The options from flags and variables; null without --listen. Throws a usage error for options that would admit unauthorized visitors: off
 * loopback the page requires a token, and TLS or a proxy that has it.
 */
export function listenOptions(
  flags: ListenFlags,
  env: Variables,
  read: ReadCredential,
): ListenOptions | null {
  const { listen, allowActions = false } = flags;
  if (listen === undefined) {
    requireListen(flags);
    return null;
  }
  const [address = '', publicUrl] = splitListenFlag(listen);
  const { host, port } = parseListenAddress(address, '--listen');
  const token = watchToken(env, read);
  const publicOrigin = parsePublicOrigin(publicUrl);
  const tls = pageCertificate(flags, read);
  const isNear = isLoopbackHost(host.includes(':') ? `[${host}]` : host);
  if (token === null && allowActions)
    throw usageError('--allow-actions needs a token.', SET_A_TOKEN);
  if (token === null && (!isNear || publicOrigin !== null))
    throw usageError(
      isNear
        ? 'A page behind a proxy needs a token: it can be reached from other machines.'
        : `--listen ${address} needs a token: the page can be reached from other machines.`,
      `${SET_A_TOKEN} Or listen on 127.0.0.1.`,
    );
  if (!isNear && tls === null && publicOrigin === null)
    throw usageError(
      `--listen ${address} needs TLS: the token would cross the network in clear text.`,
      'Set --tls CERT,KEY. If a proxy with TLS stands before the page, add its https address: --listen ADDRESS=URL.',
    );
  return { host, port, publicOrigin, token, tls, allowActions };
}

/** The options of --probes; null without it. Throws a usage error if it is not an address. */
export function probeOptions({ probes }: ListenFlags): ProbeOptions | null {
  if (probes === undefined) return null;
  const address = probes.replace(/\/metrics$/, '');
  return { ...parseListenAddress(address, '--probes'), withMetrics: address !== probes };
}

const SET_A_TOKEN = `Set ${TOKEN_VARIABLE} to ${SHORTEST_TOKEN} random characters or more, or ${TOKEN_FILE_VARIABLE} to a file with them.`;

function requireListen(flags: ListenFlags): void {
  const others = {
    '--tls': flags.tls,
    '--allow-actions': flags.allowActions === true ? true : undefined,
  };
  const [given] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (given !== undefined)
    throw usageError(`${given} needs --listen.`, 'Add --listen 127.0.0.1:8080.');
}

/** The address to listen on and, behind a sign, the address of a proxy before it. */
function splitListenFlag(listen: string): readonly (string | undefined)[] {
  const sign = listen.indexOf('=');
  return sign < 0 ? [listen] : [listen.slice(0, sign), listen.slice(sign + 1)];
}

/** `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `8080`, `:8080`. */
export function parseListenAddress(
  listen: string,
  flag: '--listen' | '--probes' | '--port',
): { readonly host: string; readonly port: number } {
  const found = /^(?:(?:\[([\da-f:.]+)\]|([a-z\d.-]+)):)?(\d{1,5})$/i.exec(listen);
  const port = Number(found?.[3] ?? Number.NaN);
  if (found === null || port > 65_535)
    throw usageError(
      `${flag} takes an address and a port.`,
      'Write 127.0.0.1:8080, [::1]:8080, or 8080 for 127.0.0.1. 0.0.0.0:8080 listens on every address.',
    );
  return { host: found[1] ?? found[2] ?? '127.0.0.1', port };
}

/** The token of the page, for who serves it and who asks it; null without one. Throws a usage error if it cannot be one. */
export function watchToken(env: Variables, read: ReadCredential): Secret | null {
  const file = env[TOKEN_FILE_VARIABLE] ?? '';
  const given = env[TOKEN_VARIABLE] ?? '';
  if (file !== '' && given !== '')
    throw usageError(
      `${TOKEN_VARIABLE} and ${TOKEN_FILE_VARIABLE} are both set.`,
      'Unset one of them: a file is read again when it changes.',
    );
  // Editors and shells end a file with a line break.
  const text = file === '' ? given : read(file, 'token').replace(/\r?\n$/, '');
  if (text === '' && file === '') return null;
  const place = file === '' ? TOKEN_VARIABLE : file;
  if (text.length < SHORTEST_TOKEN || !/^[!-~]+$/.test(text))
    throw usageError(
      `The token in ${place} is too short, or has blanks or other characters than ASCII in it.`,
      `It takes ${SHORTEST_TOKEN} random characters or more: openssl rand -hex 32 makes them.`,
    );
  return new Secret(text, file === '' ? `\${env:${TOKEN_VARIABLE}}` : `\${file:${file}}`);
}

function parsePublicOrigin(text: string | undefined): string | null {
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'https:' && `${url.origin}/` === url.href) return url.origin;
  throw usageError(
    '--listen ADDRESS=URL takes the https address of the proxy, without a path.',
    'Write --listen 0.0.0.0:8080=https://setpoint.example.com.',
  );
}

/** The certificate and the key of the page; null without. */
export function pageCertificate({ tls }: ListenFlags, read: ReadCredential): ListenOptions['tls'] {
  if (tls === undefined) return null;
  const [cert = '', key = '', more] = tls.split(',');
  if (cert === '' || key === '' || more !== undefined)
    throw usageError(
      '--tls takes two files.',
      'Name the PEM files of the certificate and of its key: --tls tls.crt,tls.key.',
    );
  return { cert: read(cert, 'PEM'), key: new Secret(read(key, 'PEM')) };
}
