import { MASK } from './secret.ts';

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
/** A colon without a port number after it: the text before it is not a host. */
const NO_PORT = /:(?!\d*$)/;

/**
 * The parts of a text that is read as an address, with or without a scheme. The authority ends where browsers end it,
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
  const end = findIndexOrEnd(known, special === undefined && prefix !== '' ? /[/?#]/ : /[/\\?#]/);
  const authority = known.slice(0, end);
  let at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1).replace(/^\[[^\]]*\]/, '');
  const isHost = !NO_PORT.test(host) && (at === -1 || host !== '');
  if (!isHost && end < known.length) {
    const before = known.lastIndexOf('@', findIndexOrEnd(known, /[?#]/));
    at = Math.max(at, before > at ? before : known.lastIndexOf('@'));
  }
  const tail = at + 1 + findIndexOrEnd(known.slice(at + 1), /[?#]/);
  return {
    prefix,
    userinfo: rest.slice(0, Math.max(at, 0)),
    body: rest.slice(at + 1, tail),
    tail: rest.slice(tail),
  };
}

function findIndexOrEnd(text: string, pattern: RegExp): number {
  const index = text.search(pattern);
  return index === -1 ? text.length : index;
}

let last: { readonly text: string; readonly url: URL } | null = null;

/** A url that can be parsed. The last one is stored: callers ask several things of an address in a row. */
export function parseUrlCached(text: string): Readonly<URL> {
  if (last?.text !== text) last = { text, url: new URL(text) };
  return last.url;
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
 * Reports whether any text is an address with a part that may be a secret. Without a scheme it must have credentials (`user:password@host`)
 * or a query with a name (`host/path?key=x`): an email address does not count.
 */
export function isSensitiveUrl(text: string): boolean {
  if (!mayHold(text)) return false;
  const trimmed = text.trim();
  const certain = OTHER.test(trimmed) || SPECIAL.test(trimmed.replaceAll(/[\t\n\r]/g, ''));
  if (certain) return isSensitiveAddress(trimmed);
  if (/\s/.test(trimmed) || trimmed.startsWith('mailto:')) return false;
  return BARE_CREDENTIALS.test(trimmed) || NAMED_QUERY.test(trimmed);
}

/** Reports the same for a text that is known to be an address: every userinfo, query and fragment counts. */
export function isSensitiveAddress(address: string): boolean {
  const { userinfo, tail } = addressParts(address);
  return userinfo !== '' || tail !== '';
}

/** Reports whether a host, as a URL writes it, is this machine: its traffic passes no network and no proxy. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.toLowerCase();
  return (
    host === 'localhost' ||
    /^127(\.\d{1,3}){3}$/.test(host) ||
    host === '[::1]' ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(host)
  );
}

const WORD = /[^\s"<>`]+/g;
const SCHEME = /(?:[a-z][a-z0-9+.-]{0,30}:)?[\\/]{2}|(?:https?|wss?|ftp):/i;
/** Characters that may follow a url in a sentence, or enclose it. */
const ENDINGS = new Set(")].,;:!?'}");

/** The suffix of a path's second equal entry. */
const ORDINAL = /^#\d{1,4}(?:$|\])/;

/** The dialect of an embedded service: one of three words. */
const DIALECT = /^\?dialect=(?:settings-v0|app-server|agent-server)$/;

/** A text whose urls have lost their userinfo, query and fragment: what may be a secret in them is the mask. */
export function withoutUrlSecrets(text: string): string {
  if (!mayHold(text)) return text;
  return text.replaceAll(WORD, (word) => (mayHold(word) ? maskWord(word) : word));
}

/** Reports whether a text contains a delimiter of an address part that may be a secret. */
function mayHold(text: string): boolean {
  return text.includes('@') || text.includes('?') || text.includes('#');
}

function maskWord(word: string): string {
  const scheme = word.search(SCHEME);
  const start = scheme === -1 ? (/^[('[{]*/.exec(word)?.[0].length ?? 0) : scheme;
  const end = wordEnd(word);
  const address = word.slice(start, end);
  if (scheme === -1 && !isSensitiveUrl(address)) return word;
  const { prefix, userinfo, body, tail } = addressParts(address);
  const harmless = ORDINAL.test(tail) || DIALECT.test(tail) || isEmptyOrMask(tail.slice(1));
  if (isEmptyOrMask(userinfo) && harmless) return word;
  const before = userinfo === '' ? '' : `${MASK}@`;
  const behind = harmless ? tail : `${tail.slice(0, 1)}${MASK}`;
  return word.slice(0, start) + prefix + before + body + behind + word.slice(end);
}

function isEmptyOrMask(part: string): boolean {
  return part === '' || part === MASK;
}

/** Returns the end of a word before punctuation; the brackets of a mask belong to the word. */
function wordEnd(word: string): number {
  let end = word.length;
  while (end > 0 && ENDINGS.has(word.charAt(end - 1)) && !word.endsWith(MASK, end)) end -= 1;
  return end;
}

/** The APIs that the embedded service supports: the dialects of a service. */
export const EMBEDDED_DIALECTS = ['settings-v0', 'app-server', 'agent-server'] as const;

export type EmbeddedDialect = (typeof EMBEDDED_DIALECTS)[number];

/** The parts of an address of the embedded service: `embedded:`, `embedded:PATH`, either with `?dialect=NAME` at its end. */
export interface EmbeddedAddress {
  /** The file of the store; empty for the one next to the settings. */
  readonly path: string;
  /** Null if the address names none. */
  readonly dialect: EmbeddedDialect | null;
}

const EMBEDDED_SCHEME = 'embedded:';
const MARK = '?dialect=';

export function isEmbedded(url: string): boolean {
  return url.startsWith(EMBEDDED_SCHEME);
}

/** The parts of an address; null if it is not one of the embedded service, or names a dialect that there is not. */
export function parseEmbeddedAddress(url: string): EmbeddedAddress | null {
  if (!isEmbedded(url)) return null;
  const rest = url.slice(EMBEDDED_SCHEME.length);
  const at = rest.lastIndexOf(MARK);
  if (at < 0) return { path: rest, dialect: null };
  const named = rest.slice(at + MARK.length);
  const dialect = EMBEDDED_DIALECTS.find((one) => one === named);
  return dialect === undefined ? null : { path: rest.slice(0, at), dialect };
}

/**
 * Reports whether a text is the address of a service: http or https without userinfo, query and fragment, or embedded, with an existing
 * dialect.
 */
export function isServiceAddress(text: string): boolean {
  return (
    parseEmbeddedAddress(text) !== null ||
    (/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i.test(text) && URL.canParse(text))
  );
}

/** The origin of an address as documents name it. An `embedded:` address is its own origin. */
export function urlOrigin(url: string): string {
  return isEmbedded(url) ? url : parseUrlCached(url).origin;
}

/** Headers of routing, framing and content, and the one that asks for secrets in clear, which only the client sets. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-expose-secrets',
]);

/** Reports whether `server.headers` may not name a header, in whatever case. */
export function isReservedHeader(name: string): boolean {
  return RESERVED.has(name.toLowerCase());
}
