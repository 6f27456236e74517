import { fields, type Field } from '../model/field.ts';
import { isUnmanaged, type Path } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { entriesOf, identityOf, isMcpList } from '../model/mcp.ts';
import { UnseenSecret } from '../model/secret.ts';
import type { DesiredField, DesiredState, MissingReference } from '../model/state.ts';
import { isList, isRecord, recordOf, type Value } from '../model/value.ts';
import { guardsOf } from './blocks/guards.ts';
import { desiredSandboxes } from './blocks/sandboxes.ts';
import { unmanagedOf } from './blocks/unmanaged.ts';
import { type Node, nodeAt } from './node.ts';
import {
  declaredPlace,
  isServersPlace,
  resolveNative,
  resolveServers,
  serverSource,
} from './native.ts';
import { resolveMcp } from './resolve-mcp.ts';
import { readStrictly, resolveText } from './lookup.ts';
import { locate } from './source-file.ts';
import type { Target } from './target.ts';

/** The desired state of a target, references resolved. A reference without a value leaves its own value unknown and nothing else. */
export function resolveSettings(target: Target, source: ReferenceSource): DesiredState {
  const unmanaged = unmanagedOf(target.unmanaged);
  const resolved: DesiredField[] = [];
  for (const field of fields()) {
    if (isUnmanaged(unmanaged, field.path)) continue;
    const place = declaredPlace(target.settings, field);
    if (place !== null) resolved.push(resolvedField(field, place, source));
  }
  const native = resolveNative(target.settings, source);
  resolved.push(...native.filter(({ field }) => !isUnmanaged(unmanaged, field.path)));
  const { lock } = target.root.file;
  return {
    ...(lock === undefined ? {} : { lock }),
    fields: resolved,
    missing: resolved.flatMap(({ field, value }) =>
      missingReferences(field.path, value, unmanaged),
    ),
    unmanaged,
    sandboxes: desiredSandboxes(target.sandboxes),
    guards: guardsOf(target.guards),
  };
}

function resolvedField(
  field: Field,
  { path, node }: { readonly path: Path; readonly node: Node },
  source: ReferenceSource,
): DesiredField {
  if (isServersPlace(path)) {
    const value = resolveServers(node, source);
    const at = (inner: Path) => serverSource(node, value, inner);
    return { field, value, source: (inner = []) => sourceIn(at(inner), []) };
  }
  const value =
    field.name === 'mcp_config' ? resolveMcp(node, source) : resolveField(field, node, source);
  return { field, value, source: (inner = []) => sourceIn(node, inner) };
}

function resolveField(field: Field, node: Node, source: ReferenceSource): Value {
  if (node.kind !== 'scalar') return resolveDeep(node, source);
  if (typeof node.value !== 'string') return node.value;
  if (field.type === 'string') return resolveText(node.value, source);
  return readStrictly(field.name, node.value, source);
}

function resolveDeep(node: Node, source: ReferenceSource): Value {
  if (node.kind === 'scalar')
    return typeof node.value === 'string' ? resolveText(node.value, source) : node.value;
  if (node.kind === 'list') return node.items.map((item) => resolveDeep(item, source));
  return recordOf(
    [...node.members.values()].map(
      ({ key, node: value }) => [key, resolveDeep(value, source)] as const,
    ),
  );
}

/** The references without a value inside a declared value, each with the path of its own member. */
function missingReferences(
  path: Path,
  value: Value,
  unmanaged: readonly Path[],
): MissingReference[] {
  if (isUnmanaged(unmanaged, path)) return [];
  if (value instanceof UnseenSecret) {
    const { reason, missing } = value.unseen;
    return missing === null ? [] : [{ path, reason, ref: missing }];
  }
  const [field, list] = path;
  if (isList(value)) {
    const inMcp = field === 'mcp_config' && path.length === 2 && isMcpList(list);
    const names = inMcp ? entriesOf(value).map((entry) => identityOf(list, entry).shown) : [];
    return value.flatMap((item, index) =>
      missingReferences([...path, names[index] ?? String(index)], item, unmanaged),
    );
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    missingReferences([...path, key], inner, unmanaged),
  );
}

function sourceIn(node: Node, path: Path) {
  const found = nodeAt(node, path) ?? node;
  return locate(found.file, found.at);
}
