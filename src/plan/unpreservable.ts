import { entriesOf, identityOf, segmentsOf, type McpList } from '../model/mcp.ts';
import type { Unpreservable } from '../model/plan.ts';
import { isRecord, type Value } from '../model/value.ts';
import { hiddenSecrets, type Hiding } from './mcp-entry.ts';

/** What a write would lose of mcp lists that the file does not declare. */
export function unpreservableMcp(
  config: Value | undefined,
  lists: readonly McpList[],
  hiding: Hiding,
): Unpreservable[] {
  if (!isRecord(config)) return [];
  return lists.flatMap((list) => {
    const entries = entriesOf(config[list]);
    const segments = segmentsOf(entries.map((entry) => identityOf(list, entry)));
    return entries.flatMap((entry, index) =>
      lost(list, segments[index] ?? '', hiddenSecrets(list, entry, hiding)),
    );
  });
}

/** What carrying an entry back would lose, with the entry to declare. */
export function lost(list: McpList, segment: string, members: readonly string[]): Unpreservable[] {
  return members.map((member) => ({
    path: ['mcp_config', list, segment, ...memberPath(member)],
    stops: 'always',
    remedy: 'declare the entry with it: a reference, or null for none',
  }));
}

/** `env.NAME` as two segments; the name of a variable may hold dots. */
function memberPath(member: string): string[] {
  return member.startsWith('env.') ? ['env', member.slice('env.'.length)] : [member];
}
