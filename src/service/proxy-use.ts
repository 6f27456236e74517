import { mayProxy, proxyAddress } from './network.ts';

/**
 * Whether a service is reached through the proxy of HTTPS_PROXY: `none` is set; only `https` to other machines is sent through
 * one; NO_PROXY names the host (`bypassed`); or it is `used`, and `via` is its host, without what may be a secret in it.
 */
export type ProxyUse =
  | { readonly kind: 'none' | 'not-https' | 'bypassed' }
  | { readonly kind: 'used'; readonly via: string };

/** Throws a usage error where HTTPS_PROXY holds no address. */
export function proxyUse(base: URL, proxy: string | null, bypass: string | null): ProxyUse {
  const address = proxyAddress(proxy);
  if (address === null) return { kind: 'none' };
  if (!mayProxy(base)) return { kind: 'not-https' };
  if (isBypassed(base, bypass ?? '')) return { kind: 'bypassed' };
  return { kind: 'used', via: new URL(address).host };
}

/** As undici reads NO_PROXY: `*`, or hosts with what lies under them, separated by commas or blanks, each with a port or without. */
function isBypassed(base: URL, bypass: string): boolean {
  if (bypass === '*') return true;
  const port = base.port === '' ? 443 : Number(base.port);
  return bypass
    .split(/[,\s]/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, host = entry, only] = /^(.+):(\d+)$/.exec(entry) ?? [];
      const name = host.replace(/^\*?\./, '').toLowerCase();
      const named = base.hostname === name || base.hostname.endsWith(`.${name}`);
      return named && (only === undefined || Number(only) === 0 || Number(only) === port);
    });
}
