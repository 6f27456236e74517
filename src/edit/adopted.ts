import { fieldNamed } from '../model/field.ts';
import { isMcpList, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { formatPath, type Path } from '../model/path.ts';
import type { LeftAlone } from '../model/pulled.ts';
import { Secret } from '../model/secret.ts';
import type { ObservedState } from '../model/state.ts';
import { isRecord, type Value } from '../model/value.ts';
import { asWritten } from './as-written.ts';
import { fieldStub } from './field-stub.ts';
import { isExpressible } from './is-expressible.ts';
import { isHidden } from './is-hidden.ts';
import { pulledList, type ListPull, type ListRules } from './pulled-list.ts';
import { entriesOf } from '../model/mcp.ts';
import { REASONS } from './reasons.ts';
import type { Slot } from './slot.ts';

/** What a file that did not manage something takes in of it. */
export interface Adopted {
  readonly slots: readonly Slot[];
  readonly left: readonly LeftAlone[];
}

/** A field, or one mcp list, as the service has it: secrets as references, mcp lists that are empty left out. */
export function adopted(path: Path, observed: ObservedState, rules: ListRules): Adopted {
  const [name = '', list] = path;
  const value = observed.values[name] ?? null;
  const leave = (reason: string): Adopted => ({ slots: [], left: [{ path, reason, ref: null }] });
  const field = fieldNamed(name);
  if (field === undefined) return leave(REASONS.unknown);
  if (rules.excluded.has(formatPath(path))) return leave(REASONS.unlike);
  if (name === 'secrets_store') return leave(REASONS.unreadable);
  if (name === 'mcp_config')
    return adoptedLists(value, isMcpList(list) ? [list] : MCP_LISTS, rules);
  if (field.secret || value instanceof Secret || isHidden(value, rules.hidden)) {
    const stub = fieldStub(name, value);
    if (field.type !== 'string') return leave(REASONS.tainted);
    return { slots: [{ path: ['settings', name], value: stub.written, stubs: [stub] }], left: [] };
  }
  const written = asWritten(value);
  if (written === null || !isExpressible({ [name]: written.written }))
    return leave(REASONS.inexpressible);
  return { slots: [{ path: ['settings', name], value: written.written, stubs: [] }], left: [] };
}

/** A list is exhaustive: one that cannot be taken in whole is not taken in. */
function adoptedLists(config: Value, lists: readonly McpList[], rules: ListRules): Adopted {
  const slots: Slot[] = [];
  const left: LeftAlone[] = [];
  for (const list of lists) {
    const entries = isRecord(config) ? entriesOf(config[list]) : [];
    const pull: ListPull = pulledList(list, [], [], entries, { ...rules, unmanaged: [] });
    left.push(...pull.left);
    if (entries.length > 0 && pull.left.length === 0)
      slots.push({
        path: ['settings', 'mcp_config', list],
        value: pull.value,
        stubs: pull.stubs,
      });
  }
  return { slots, left };
}

/** The mcp lists that hold something though a file, which does manage others, says nothing of them. */
export function undeclaredLists(declared: Value | undefined, observed: ObservedState): Path[] {
  const config = observed.values['mcp_config'];
  if (!isRecord(declared) || !isRecord(config)) return [];
  return MCP_LISTS.filter(
    (list) => !Object.hasOwn(declared, list) && entriesOf(config[list]).length > 0,
  ).map((list) => ['mcp_config', list]);
}
