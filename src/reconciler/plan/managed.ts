import type { Dialect } from '../model/dialect.ts';
import {
  entriesOf,
  isMcpList,
  isUnmanagedEntry,
  knownBy,
  MCP_LISTS,
  type McpList,
} from '../model/mcp.ts';
import { placeNamed } from '../model/field.ts';
import { isUnmanaged, isWithin, pathNamed, type Path } from '../model/path.ts';
import type { DesiredState } from '../model/state.ts';
import { isRecord, type ValueRecord } from '../model/value.ts';

/** Whether the file declares what plans call by a name: itself, or a map around it. */
export function declaresField({ fields }: Pick<DesiredState, 'fields'>, name: string): boolean {
  const place = placeNamed(name);
  return fields.some(({ field }) => isWithin(place, field.place));
}

/** Whether the file declares a field and does not list it as unmanaged. */
export function managesField({ fields, unmanaged }: DesiredState, name: string): boolean {
  return declaresField({ fields }, name) && !isUnmanaged(unmanaged, pathNamed(name));
}

/** The mcp lists that the file declares: null and {} declare all three. */
export function managedLists(desired: DesiredState): readonly McpList[] {
  if (!managesField(desired, 'mcp_config')) return [];
  const declared = desired.fields.find(({ field }) => field.name === 'mcp_config')?.value;
  return isRecord(declared) ? Object.keys(declared).filter(isMcpList) : MCP_LISTS;
}

/**
 * Which entries of the service are declared in another list than theirs, whose own list the file does not declare: where every server
 * has a name, it has it in one list only.
 */
export function movedEntries(
  declared: ValueRecord,
  unmanaged: readonly Path[],
  { entryMembers }: Dialect,
): (list: McpList, entry: ValueRecord) => boolean {
  if (entryMembers !== undefined) return () => false;
  const names = new Set(
    MCP_LISTS.flatMap((list) =>
      entriesOf(declared[list]).flatMap((entry) =>
        isUnmanagedEntry(unmanaged, list, entry) ? [] : (knownBy(list, entry).name?.key ?? []),
      ),
    ),
  );
  return (list, entry) =>
    declared[list] === undefined &&
    names.has(knownBy(list, entry).name?.key ?? '') &&
    !isUnmanagedEntry(unmanaged, list, entry);
}

/** Whether the file manages an entry of a list of the service. */
export function managesEntry(desired: DesiredState, list: McpList, entry: ValueRecord): boolean {
  return managedLists(desired).includes(list) && !isUnmanagedEntry(desired.unmanaged, list, entry);
}
