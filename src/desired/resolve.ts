import { fields, type Field } from '../model/field.ts';
import { isUnmanaged, parsePath, type Path } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { entriesOf, identityOf, isMcpList } from '../model/mcp.ts';
import { UnseenSecret } from '../model/secret.ts';
import type { DesiredField, DesiredState, MissingReference } from '../model/state.ts';
import { isList, isRecord, recordOf, type Value } from '../model/value.ts';
import { guardsOf } from './guards-of.ts';
import { desiredSandboxes } from './desired-sandboxes.ts';
import { member, nodeAt, textOf, type Node } from './node.ts';
import { resolveMcp } from './resolve-mcp.ts';
import { resolveText } from './lookup.ts';
import { locate } from './source-file.ts';
import type { Target } from './target.ts';
import { readStrictly } from './typed-reference.ts';

/** The desired state of a target, its references resolved. A reference without a value hides its own value and nothing else. */
export function resolveSettings(target: Target, source: ReferenceSource): DesiredState {
  const unmanaged = unmanagedOf(target);
  const resolved: DesiredField[] = [];
  for (const field of fields()) {
    const node = member(target.settings, field.name);
    if (node === undefined || isUnmanaged(unmanaged, [field.name])) continue;
    const value =
      field.name === 'mcp_config' ? resolveMcp(node, source) : resolveField(field, node, source);
    resolved.push({ field, value, source: (path = []) => placeIn(node, path) });
  }
  return {
    fields: resolved,
    missing: resolved.flatMap(({ field, value }) => missingIn([field.name], value, unmanaged)),
    unmanaged,
    sandboxes: desiredSandboxes(target),
    guards: guardsOf(target.guards),
  };
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
function missingIn(path: Path, value: Value, unmanaged: readonly Path[]): MissingReference[] {
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
      missingIn([...path, names[index] ?? String(index)], item, unmanaged),
    );
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    missingIn([...path, key], inner, unmanaged),
  );
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
