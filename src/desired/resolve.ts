import { fields, type Field } from '../model/field.ts';
import { isLetGo, parsePath, type Path } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { DesiredField, DesiredState, UnresolvedField } from '../model/state.ts';
import { recordOf, type Value } from '../model/value.ts';
import { guardsOf } from './guards-of.ts';
import { desiredSandboxes } from './desired-sandboxes.ts';
import { member, nodeAt, textOf, type Node } from './node.ts';
import { resolveMcp } from './resolve-mcp.ts';
import { resolveText } from './resolve-text.ts';
import { locate } from './source-file.ts';
import type { Target } from './target.ts';
import { Unresolved } from './unresolved.ts';
import { readStrictly } from './typed-reference.ts';

/** The desired state of a target, its references looked up. Fields whose references have no value stand under `unresolved`. */
export function resolveSettings(target: Target, source: ReferenceSource): DesiredState {
  const unmanaged = unmanagedOf(target);
  const resolved: DesiredField[] = [];
  const unresolved: UnresolvedField[] = [];
  for (const field of fields()) {
    const node = member(target.settings, field.name);
    if (node === undefined || isLetGo(unmanaged, [field.name])) continue;
    const value =
      field.name === 'mcp_config'
        ? resolveMcp(node, source, unmanaged)
        : resolveField(field, node, source);
    if (value instanceof Unresolved)
      unresolved.push({ field, reason: value.reason, ref: value.ref });
    else resolved.push({ field, value, source: (path = []) => placeIn(node, path) });
  }
  return {
    fields: resolved,
    unresolved,
    unmanaged,
    sandboxes: desiredSandboxes(target),
    guards: guardsOf(target.guards),
  };
}

function resolveField(field: Field, node: Node, source: ReferenceSource): Value | Unresolved {
  if (node.kind !== 'scalar') return resolveDeep(node, source);
  if (typeof node.value !== 'string') return node.value;
  if (field.type === 'string') return resolveText(node.value, source);
  return readStrictly(field.name, node.value, source);
}

function resolveDeep(node: Node, source: ReferenceSource): Value | Unresolved {
  if (node.kind === 'scalar')
    return typeof node.value === 'string' ? resolveText(node.value, source) : node.value;
  const entries: [string, Value][] = [];
  const children: Iterable<readonly [string, Node]> =
    node.kind === 'map'
      ? [...node.members.values()].map(({ key, node: value }) => [key, value] as const)
      : node.items.map((item, index) => [String(index), item] as const);
  for (const [key, child] of children) {
    const value = resolveDeep(child, source);
    if (value instanceof Unresolved) return value;
    entries.push([key, value]);
  }
  return node.kind === 'map' ? recordOf(entries) : entries.map(([, value]) => value);
}

function placeIn(node: Node, path: Path) {
  const found = nodeAt(node, path) ?? node;
  return locate(found.file, found.at);
}

/** What a target lets go of. */
export function unmanagedOf(target: Target): Path[] {
  if (target.unmanaged?.kind !== 'list') return [];
  return target.unmanaged.items.flatMap((item) => {
    const path = parsePath(textOf(item) ?? '');
    return path === null ? [] : [path];
  });
}
