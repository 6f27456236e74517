const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const PLAIN_IDENTITY = /^[!#-Z\\^-~]+$/;

/*
 * Places in the spec of a SettingsTarget, as `valuesFrom` and `clear` write them, and parsePath reads them: keys and, in brackets, the identity of
 * an entry, or its position in a list without identities, as in `settings.mcp_config.stdio_servers[files].args[1]`.
 */

/** The place of a member of what is at a place; of a block, if that is the spec itself: ''. */
export function formatMemberPlace(place: string, key: string): string {
  if (!PLAIN_KEY.test(key)) return entryPlace(place, key);
  return place === '' ? key : `${place}.${key}`;
}

/** The place of an entry of the list that is at a place. */
export function entryPlace(place: string, identity: string): string {
  return `${place}[${PLAIN_IDENTITY.test(identity) ? identity : JSON.stringify(identity)}]`;
}
