import { isMaskedName } from './field.ts';
import { bareUrl, Identity, IdentityMap } from './identity.ts';
import { MASK, Secret } from './secret.ts';
import { isList, isRecord, type Value, type ValueRecord } from './value.ts';

export const MCP_LISTS = ['sse_servers', 'stdio_servers', 'shttp_servers'] as const;
export type McpList = (typeof MCP_LISTS)[number];

export function isMcpList(name: string | undefined): name is McpList {
  return MCP_LISTS.some((list) => list === name);
}

/** What the service fills in where a member of an entry is left out. */
export const MCP_DEFAULTS: Readonly<Record<McpList, ValueRecord>> = {
  sse_servers: { api_key: null },
  stdio_servers: { args: [], env: {} },
  shttp_servers: { api_key: null, timeout: 60 },
};

/** What paths call an entry that has no name or url. */
export const UNNAMED = '(unnamed)';

/** The member an entry is known by. */
export function identityMember(list: McpList): 'name' | 'url' {
  return list === 'stdio_servers' ? 'name' : 'url';
}

export function identityOf(list: McpList, entry: ValueRecord): Identity {
  const value: Value | undefined = entry[identityMember(list)];
  if (value instanceof Secret) return value.identity ?? Identity.unseen(MASK);
  if (typeof value !== 'string') return new Identity(UNNAMED);
  if (isMaskedName(value)) return Identity.unseen(value);
  return new Identity(list === 'stdio_servers' ? value.trim() : bareUrl(value));
}

/** The identities of a list as paths name them: a second alike is `#2`. */
export function segmentsOf(identities: readonly Identity[]): string[] {
  const seen = new IdentityMap<number>();
  return identities.map((identity) => {
    const before = seen.get(identity) ?? 0;
    seen.set(identity, before + 1);
    return before === 0 ? identity.shown : `${identity.shown}#${before + 1}`;
  });
}

/** The entries of a list: whatever is not a map is none. */
export function entriesOf(value: Value | undefined): readonly ValueRecord[] {
  return isList(value) ? value.filter(isRecord) : [];
}
