import { identityOf, segmentsOf, type McpList } from '../model/mcp.ts';
import type { Unpreservable } from '../model/plan.ts';
import { isRecord, type Value } from '../model/value.ts';
import { entriesOf, unreadableSecrets } from './mcp-entry.ts';

/** What a write would lose of mcp lists that the file does not speak of. */
export function unpreservableMcp(
  config: Value | undefined,
  lists: readonly McpList[],
): Unpreservable[] {
  if (!isRecord(config)) return [];
  return lists.flatMap((list) => {
    const entries = entriesOf(config[list]);
    const segments = segmentsOf(entries.map((entry) => identityOf(list, entry)));
    return entries.flatMap((entry, index) =>
      lost(list, segments[index] ?? '', unreadableSecrets(list, entry)),
    );
  });
}

/** What carrying an entry back would lose, with the entry to declare. */
export function lost(list: McpList, segment: string, members: readonly string[]): Unpreservable[] {
  return members.map((member) => ({
    path: ['mcp_config', list, segment, ...member.split('.')],
    stops: 'always',
    remedy: 'declare the entry with it: a reference, or null for none',
  }));
}
