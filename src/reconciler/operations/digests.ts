import { isEmbedded, urlOrigin } from '../model/address.ts';
import { SetpointError } from '../model/error.ts';
import type { Digests } from '../model/ports.ts';
import { readDeclaredAddress } from '../desired/blocks/server.ts';
import { member } from '../desired/node.ts';
import type { Target } from '../desired/target.ts';
import type { PreparedTarget } from './prepare.ts';

/** Digests for a document, under a new salt or that of a saved one. Loaded only here: most runs save nothing. */
export async function digestsFor(salt?: string): Promise<Digests> {
  const { digestsUnder } = await import('../host/digests.ts');
  return digestsUnder(salt);
}

/**
 * The digest of a target's resolved address with its path prefix; null if that is not known. An address from a reference is a secret, and
 * only a slow digest of it is stored.
 */
export async function addressDigest(
  prepared: Pick<PreparedTarget, 'server'>,
  digests: Digests,
): Promise<string | null> {
  const written = digestWrittenAddress(prepared, digests);
  if (written !== null || prepared.server instanceof SetpointError) return written;
  return digests.slow(addressText(prepared.server));
}

/** Returns the digest of an address that is written out; null if it came from a reference. */
export function digestWrittenAddress(
  { server }: Pick<PreparedTarget, 'server'>,
  { quick }: Digests,
): string | null {
  if (server instanceof SetpointError) return null;
  const { automation } = server;
  const all = automation === undefined ? [server] : [server, automation];
  if (all.some(({ url, origin }) => origin !== urlOrigin(url))) return null;
  return quick(addressText(server));
}

/** Returns the digest of the address in a file, without resolving references. */
export function digestDeclaredAddress(target: Target, { quick }: Digests): string | null {
  const url = readDeclaredAddress(target);
  const beside = readDeclaredAddress(target, 'automation_url');
  if (url === null || (beside === null && member(target.server, 'automation_url') !== undefined))
    return null;
  const automation = beside === null ? {} : { automation: { url: beside } };
  return quick(addressText({ url, ...automation }));
}

/** Returns where a target's requests go, its automation service included. */
export function addressText({
  url,
  automation,
}: {
  readonly url: string;
  readonly automation?: { readonly url: string };
}): string {
  const all = automation === undefined ? [url] : [url, automation.url];
  return JSON.stringify(['address', ...all.flatMap(splitAddress)]);
}

function splitAddress(url: string): readonly string[] {
  if (isEmbedded(url)) return [url];
  const { origin, pathname } = new URL(url);
  return [origin, pathname.replace(/\/+$/, '')];
}
