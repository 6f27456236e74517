import type { Path } from '../model/path.ts';

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const PLAIN_IDENTITY = /^[!#-Z\\^-~]+$/;

/**
 * A place in the spec of a SettingsTarget, as `valuesFrom` and `clear` write it, and parsePath reads it: keys, the identity of an entry,
 * or its position in a list without identities, as in `settings.mcp_config.stdio_servers[files].args[1]`.
 */
export function placeText(path: Path): string {
  return path
    .map((segment, index) => {
      if (PLAIN_KEY.test(segment)) return index === 0 ? segment : `.${segment}`;
      return PLAIN_IDENTITY.test(segment) ? `[${segment}]` : `[${JSON.stringify(segment)}]`;
    })
    .join('');
}
