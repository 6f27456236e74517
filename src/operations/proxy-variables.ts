import type { Options } from './options.ts';

/** The proxy that the environment names, and what it leaves out; null where it says nothing. */
export function proxyVariables(env: Options['env']): {
  readonly url: string | null;
  readonly bypass: string | null;
} {
  return {
    url: env['HTTPS_PROXY'] ?? env['https_proxy'] ?? null,
    bypass: env['NO_PROXY'] ?? env['no_proxy'] ?? null,
  };
}
