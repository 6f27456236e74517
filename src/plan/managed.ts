import { isMcpList, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { isUnmanaged, isWithin, pathNamed } from '../model/path.ts';
import type { DesiredState } from '../model/state.ts';
import { isRecord } from '../model/value.ts';

/** Whether the file declares a field and does not list it as unmanaged. */
export function managesField({ fields, unmanaged }: DesiredState, name: string): boolean {
  const path = pathNamed(name);
  const declares = fields.some(
    ({ field }) => field.name === name || (field.isNative && isWithin(path, field.path)),
  );
  return declares && !isUnmanaged(unmanaged, path);
}

/** The mcp lists that the file declares: null and {} declare all three. */
export function managedLists(desired: DesiredState): readonly McpList[] {
  if (!managesField(desired, 'mcp_config')) return [];
  const declared = desired.fields.find(({ field }) => field.name === 'mcp_config')?.value;
  return isRecord(declared) ? Object.keys(declared).filter(isMcpList) : MCP_LISTS;
}

/** Whether the file manages an entry of a list; the segment is the entry's name in paths. */
export function managesEntry(desired: DesiredState, list: McpList, segment: string): boolean {
  return (
    managedLists(desired).includes(list) &&
    !isUnmanaged(desired.unmanaged, ['mcp_config', list, segment])
  );
}
