import { formatPath } from '../model/path.ts';
import type { Warning, WarningCode } from '../model/plan.ts';

/**
 * Warnings in the order in which they are shown: what an apply would refuse or lose, what guards report, the rest. Those
 * that differ only in the path they name become one with all the paths; documents keep them separate.
 */
export function groupedWarnings(warnings: readonly Warning[]): Warning[] {
  const groups = new Map<string, Group>();
  for (const warning of byWeight(warnings)) {
    const named = namedIn(warning);
    const key = JSON.stringify([warning.code, named?.before ?? warning.message, named?.after]);
    const group = groups.get(key);
    if (group === undefined)
      groups.set(key, { warning, named, names: new Set([named?.name ?? '']) });
    else group.names.add(named?.name ?? '');
  }
  return [...groups.values()].map(({ warning, named, names }) =>
    named === null || names.size === 1
      ? warning
      : { ...warning, message: named.before + nameList([...names]) + named.after },
  );
}

interface Group {
  readonly warning: Warning;
  readonly named: NamedPath | null;
  readonly names: Set<string>;
}

/** A message around the one path that it names. */
interface NamedPath {
  readonly before: string;
  readonly name: string;
  readonly after: string;
}

/** A path in an mcp list, as `formatPath` writes it: these are what a warning can name in large numbers. */
const MCP_PATH = /\bmcp_config\.\w+(?:\["(?:[^"\\]|\\.)*"\]|\[[^\]"]*\]|\.[A-Za-z_][\w-]*)+/g;

/** Null if a message names no path, or several. */
function namedIn({ message, path }: Warning): NamedPath | null {
  const own = path.length === 0 ? '' : formatPath(path);
  const names = own !== '' && message.includes(own) ? [own] : (message.match(MCP_PATH) ?? []);
  const [name] = names;
  if (name === undefined || names.length > 1) return null;
  const at = message.indexOf(name);
  return { before: message.slice(0, at), name, after: message.slice(at + name.length) };
}

const MOST_NAMES = 12;

function nameList(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return more > 0 ? `${names.slice(0, MOST_NAMES).join(', ')} and ${more} more` : names.join(', ');
}

function byWeight(warnings: readonly Warning[]): Warning[] {
  return warnings.toSorted((one, other) => weightOf(one.code) - weightOf(other.code));
}

/** 0: an apply would refuse or lose it; 1: a guard reports it; 2: anything else. */
export function weightOf(code: WarningCode): 0 | 1 | 2 {
  if (code === 'lose-unreadable') return 0;
  return code === 'guard' ? 1 : 2;
}
