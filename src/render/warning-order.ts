import { formatPath } from '../model/path.ts';
import type { Warning, WarningCode } from '../model/plan.ts';

/**
 * Warnings as people read them: what an apply would refuse or lose first, then what guards report, then the rest. Those that
 * differ only in the path they name are one, with all the paths. Documents keep them apart.
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
      : { ...warning, message: named.before + listed([...names]) + named.after },
  );
}

interface Group {
  readonly warning: Warning;
  readonly named: Named | null;
  readonly names: Set<string>;
}

/** A message around the one path that it names. */
interface Named {
  readonly before: string;
  readonly name: string;
  readonly after: string;
}

/** A path of an mcp list, as `formatPath` writes it: warnings that come in numbers are about these. */
const MCP_PATH = /\bmcp_config\.\w+(?:\["(?:[^"\\]|\\.)*"\]|\[[^\]"]*\]|\.[A-Za-z_][\w-]*)+/g;

/** Null if a message names no path, or several. */
function namedIn({ message, path }: Warning): Named | null {
  const own = path.length === 0 ? '' : formatPath(path);
  const names = own !== '' && message.includes(own) ? [own] : (message.match(MCP_PATH) ?? []);
  const [name] = names;
  if (name === undefined || names.length > 1) return null;
  const at = message.indexOf(name);
  return { before: message.slice(0, at), name, after: message.slice(at + name.length) };
}

const MOST_NAMES = 12;

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return more > 0 ? `${names.slice(0, MOST_NAMES).join(', ')} and ${more} more` : names.join(', ');
}

function byWeight(warnings: readonly Warning[]): Warning[] {
  return warnings.toSorted((one, other) => weightOf(one.code) - weightOf(other.code));
}

/** 0 for what an apply would refuse or lose, 1 for what guards report, 2 for the rest. */
export function weightOf(code: WarningCode): 0 | 1 | 2 {
  if (code === 'lose-unreadable') return 0;
  return code === 'guard' ? 1 : 2;
}
