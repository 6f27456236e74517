import { SetpointError } from '../model/error.ts';
import { isReservedHeader } from '../model/reserved-header.ts';
import type { Secret } from '../model/secret.ts';
import type { ServerSettings } from '../model/state.ts';

/**
 * The headers of every request, by lower-case name. Each value is checked before anything else sees it, since libraries
 * quote what they refuse. What server.headers names wins over what setpoint would send.
 */
export function requestHeaders(
  server: ServerSettings,
  userAgent: string,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': userAgent,
  };
  if (server.apiKey !== null) {
    const key = headerValue(server.apiKey, 'server.api_key');
    if (server.auth !== 'bearer') headers['x-session-api-key'] = key;
    if (server.auth !== 'session-key') headers['authorization'] = `Bearer ${key}`;
  }
  for (const [name, secret] of server.headers) {
    const value = headerValue(secret, `server.headers.${name}`);
    const lower = name.toLowerCase();
    if (isReservedHeader(lower) || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower)) {
      throw new SetpointError('settings-invalid', `server.headers may not hold "${name}".`, {
        hint: 'Remove it; setpoint sets what a request needs to be sent.',
      });
    }
    headers[lower] = value;
  }
  return headers;
}

/** Whether anything is sent that a service could take for a key. */
export function sendsKey(server: ServerSettings): boolean {
  const names = [...server.headers.keys()].map((name) => name.toLowerCase());
  return (
    server.apiKey !== null || names.includes('authorization') || names.includes('x-session-api-key')
  );
}

function headerValue(secret: Secret, path: string): string {
  const value = String(secret.reveal());
  if (/^[\t\u0020-\u007E\u0080-\u00FF]*$/.test(value)) return value;
  const ref = secret.ref === null ? '' : ` (${secret.ref})`;
  throw new SetpointError(
    'reference-missing',
    `The value of ${path}${ref} has a character that no header can carry, such as a line break.`,
    { hint: 'Set it anew, without line breaks around or inside it.' },
  );
}
