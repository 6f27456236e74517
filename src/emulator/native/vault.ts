import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  randomBytes,
  randomUUID,
  scryptSync,
  timingSafeEqual,
} from 'node:crypto';

/** Encrypts the secrets of a store. */
export interface Vault {
  /** Returns a new token for a secret. It begins with `gAAAA`. */
  seal(text: string): string;
  /** Returns the secret in a token, or null if another key made the token. */
  open(token: string): string | null;
  /** Returns the secret in a token of the store. A token of another key gets a placeholder, which `seal` turns back into that token. */
  load(token: string): string;
  /** Reports whether a text is such a placeholder. */
  isUnknown(text: string): boolean;
}

const SALT = "setpoint's embedded service";

/**
 * A vault whose key comes from the service's API key. Without one each start draws another key: then the content of the store cannot be
 * decrypted, and a later service on it knows that a secret is set and not its value.
 */
export function openVault(apiKey: string | undefined): Vault {
  let randomKey: Buffer | undefined;
  const key = () =>
    (randomKey ??=
      apiKey === undefined || apiKey === '' ? randomBytes(32) : deriveVaultKey(apiKey));
  const tokens = new Map<string, string>();
  const placeholders = new Map<string, string>();
  const open = (token: string): string | null => openSealedToken(key(), token);
  return {
    seal: (text) => tokens.get(text) ?? sealText(key(), text),
    open,
    load: (token) => {
      const text = open(token);
      if (text !== null) return text;
      const placeholder = placeholders.get(token) ?? `unknown ${randomUUID()}`;
      placeholders.set(token, placeholder);
      tokens.set(placeholder, token);
      return placeholder;
    },
    isUnknown: (text) => tokens.has(text),
  };
}

/** The keys derived in this process; derivation takes long on purpose, and is the same each time. */
const derived = new Map<string, Buffer>();

function deriveVaultKey(apiKey: string): Buffer {
  const key = derived.get(apiKey) ?? scryptSync(apiKey, SALT, 32);
  derived.set(apiKey, key);
  return key;
}

const VERSION = 0x80;
const HEAD = 9;
const IV = 16;
const DIGEST = 32;

/** A token as Python's cryptography makes it (Fernet), which is what a server answers and stores. */
function sealText(key: Buffer, text: string): string {
  const head = Buffer.alloc(HEAD);
  head.writeUInt8(VERSION);
  head.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1000)), 1);
  const iv = randomBytes(IV);
  const cipher = createCipheriv('aes-128-cbc', key.subarray(16), iv);
  const body = Buffer.concat([head, iv, cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([body, tokenDigest(key, body)]).toString('base64url');
}

function openSealedToken(key: Buffer, token: string): string | null {
  if (!/^gAAAA[\w-]*=*$/.test(token)) return null;
  const bytes = Buffer.from(token, 'base64url');
  const body = bytes.subarray(0, -DIGEST);
  const digest = bytes.subarray(-DIGEST);
  if (body.length < HEAD + 2 * IV || digest.length !== DIGEST) return null;
  if (!timingSafeEqual(digest, tokenDigest(key, body))) return null;
  const decipher = createDecipheriv(
    'aes-128-cbc',
    key.subarray(16),
    body.subarray(HEAD, HEAD + IV),
  );
  return Buffer.concat([decipher.update(body.subarray(HEAD + IV)), decipher.final()]).toString();
}

function tokenDigest(key: Buffer, body: Buffer): Buffer {
  return createHmac('sha256', key.subarray(0, 16)).update(body).digest();
}
