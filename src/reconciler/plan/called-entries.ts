import { entriesOf, knownBy, MCP_LISTS, segmentsOf } from '../model/mcp.ts';
import { pathKey, type Path } from '../model/path.ts';
import { isRecord, type Value, type ValueRecord } from '../model/value.ts';

/** An mcp entry with the paths that may call it: by its name, if it has one, and by its address. Of those alike the second is `#2`. */
export interface CalledEntry {
  readonly value: ValueRecord;
  readonly path: Path;
  readonly called: readonly [name: Path, address: Path];
}

/** The entries of an mcp config. */
export function calledEntries(config: Value | undefined): readonly CalledEntry[] {
  return MCP_LISTS.flatMap((list) => {
    const entries = isRecord(config) ? entriesOf(config[list]) : [];
    const known = entries.map((entry) => knownBy(list, entry));
    const names = segmentsOf(known.map(({ name, place }) => name ?? place));
    const addresses = segmentsOf(known.map(({ place }) => place));
    return entries.map((value, index): CalledEntry => {
      const pathIn = (segments: readonly string[]) => ['mcp_config', list, segments[index] ?? ''];
      const path = pathIn(names);
      return { value, path, called: [path, pathIn(addresses)] };
    });
  });
}

/** Entries by the keys of the paths that call them: an address is taken before a name that reads like it. */
export function byCall(entries: readonly CalledEntry[]): ReadonlyMap<string, CalledEntry> {
  const keyed = (by: 0 | 1) => entries.map((entry) => [pathKey(entry.called[by]), entry] as const);
  return new Map([...keyed(0), ...keyed(1)]);
}
