import { listRecordEntries, createKnownEntry, type McpList } from '../model/mcp.ts';
import type { Path } from '../model/path.ts';
import { isUndeclared, type Change } from '../model/plan.ts';
import { REASONS, type Reason } from '../model/reasons.ts';
import type { NamedSettings } from '../model/state.ts';
import { isRecord, collectSecrets, type Value, type ValueRecord } from '../model/value.ts';

/* Which mcp servers of a service are removed, and why. */

/** The servers that a block names: others are left alone, unless it removes them. */
export interface NamedServers {
  readonly declared: ReadonlySet<Value | undefined>;
  readonly block: NamedSettings;
}

/** Explains why an entry that its list does not declare is removed; null if it stays. */
export function removalReason(
  list: McpList,
  entry: ValueRecord,
  certain: boolean,
  named: NamedServers | null,
): Reason | null {
  const undeclared = certain ? REASONS.undeclared : REASONS['undeclared-uncertain'];
  if (named === null) return undeclared;
  const { declared, block } = named;
  const { name } = entry;
  if (typeof name === 'string' && block.removed.includes(name)) return REASONS['null-in-file'];
  if (declared.has(name)) return REASONS['other-list'];
  return isOtherServer(block, list, entry) ? undeclared : null;
}

/** Reports whether a server is removed unless the block names it: other servers go, and the file does not list this one as unmanaged. */
export function isOtherServer(
  { others }: NamedSettings,
  list: McpList,
  entry: ValueRecord,
): boolean {
  if (others === undefined) return false;
  const { names, lists } = others.left;
  const { name, place } = createKnownEntry(list, entry);
  if (names.some((one) => one === entry['name'])) return false;
  if (name !== null) return true;
  const left = isRecord(lists) ? listRecordEntries(lists[list]) : [];
  return left.every((one) => !createKnownEntry(list, one).place.mayBe(place));
}

/** The removal of an entry; that of a server that the file does not name has the place of the declaration that removes others. */
export function createEntryRemoval(
  path: Path,
  entry: ValueRecord,
  reason: Reason,
  named: NamedServers | null,
): Change {
  return {
    resource: 'settings',
    path,
    action: 'remove',
    before: entry,
    after: null,
    sensitive: collectSecrets(entry).length > 0,
    ref: null,
    ...reason,
    source: isUndeclared(reason) ? (named?.block.others?.source ?? null) : null,
  };
}
