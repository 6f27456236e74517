import {
  fieldAtNative,
  fields,
  hasTwoNames,
  NATIVE_PARTS,
  NATIVE_SERVERS,
  unnamedField,
  type Field,
} from '../model/field.ts';
import { faultsIn } from '../model/json-schema.ts';
import { declaredLists } from '../model/mcp-map.ts';
import { isOpenMap, isPart, isSecretPlace } from '../model/native-schema.ts';
import { samePath, type Path } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { DesiredField } from '../model/state.ts';
import { isRecord, recordOf, type Value } from '../model/value.ts';
import { readTyped, resolveText } from './lookup.ts';
import { member, memberAt, nodeAt, type MapNode, type Node } from './node.ts';
import { resolveServerMember } from './resolve-mcp.ts';
import { settingsNodes, takesText } from './schema-lookup.ts';
import { locate, type PlacedFinding } from './source-file.ts';

/** Where a target declares a field of the specification, from its settings: under its name, or at its native place. */
export function declaredPlace(
  settings: Node | undefined,
  { name, place }: Field,
): { readonly path: Path; readonly node: Node } | null {
  const own = member(settings, name);
  if (own !== undefined) return { path: [name], node: own };
  const node = nodeAt(settings, place);
  return node === undefined ? null : { path: place, node };
}

/** A native value that a target declares, with its path under `settings`. */
interface NativeLeaf {
  readonly path: Path;
  readonly node: Node;
}

/**
 * The native values of a target, without those that are fields of the specification. Maps are gone into; what is declared is a
 * scalar, a list, null or an empty map.
 */
export function nativeLeaves(settings: Node | undefined): readonly NativeLeaf[] {
  if (!hasNativeParts(settings)) return [];
  return [...settings.members.values()]
    .filter(({ key }) => NATIVE_PARTS.has(key))
    .flatMap(({ key, node }) => leavesIn([key], node));
}

function leavesIn(path: Path, node: Node): readonly NativeLeaf[] {
  if (fieldAtNative(path) !== undefined) return [];
  if (node.kind !== 'map') return [{ path, node }];
  const inner = [...node.members.values()].flatMap((one) => leavesIn([...path, one.key], one.node));
  const nodes = settingsNodes(path, node.file.lock);
  // Without a member a part says nothing, unless it is a map that takes any others, too.
  if (node.members.size > 0 || (isPart(nodes) && !isOpenMap(nodes))) return inner;
  return [{ path, node }];
}

/** A native value, references resolved. */
export function resolveLeaf({ path, node }: NativeLeaf, source: ReferenceSource): DesiredField {
  return {
    field: unnamedField(path, isSecretPlace(settingsNodes(path, node.file.lock))),
    value: resolvedAt(path, node, source),
    source: (inner = []) => {
      const found = nodeAt(node, inner) ?? node;
      return locate(found.file, found.at);
    },
  };
}

/** A value of the file: text that a place does not take as text is one reference to a number or a truth value. */
function resolvedAt(path: Path, node: Node, source: ReferenceSource): Value {
  if (node.kind === 'list')
    return node.items.map((item, index) => resolvedAt([...path, String(index)], item, source));
  if (node.kind === 'map')
    return recordOf(
      [...node.members.values()].map((one) => [
        one.key,
        resolvedAt([...path, one.key], one.node, source),
      ]),
    );
  if (typeof node.value !== 'string') return node.value;
  const nodes = settingsNodes(path, node.file.lock);
  if (takesText(nodes)) return resolveText(node.value, source);
  return readTyped(
    node.value,
    source,
    (value) => faultsIn(value, { anyOf: nodes }, {}).length === 0,
  );
}

/** The mcp servers that a file declares by their names, as the lists of the specification. */
export function resolveServers(node: Node, source: ReferenceSource): Value {
  if (node.kind !== 'map') return null;
  const servers = [...node.members.values()].map(
    ({ key, node: server }) => [key, resolveServer(server, source)] as const,
  );
  return declaredLists(recordOf(servers));
}

function resolveServer(node: Node, source: ReferenceSource): Value {
  if (node.kind !== 'map') return null;
  return recordOf(
    [...node.members.values()].map((one) => [
      one.key,
      resolveServerMember(one.key, one.node, source),
    ]),
  );
}

/** The place of a server that a native map declares, by its position in a list of the specification. */
export function serverSource(node: Node, lists: Value, [list = '', index = '']: Path): Node {
  const entries = isRecord(lists) ? lists[list] : undefined;
  const entry = Array.isArray(entries) ? (entries as readonly Value[])[Number(index)] : undefined;
  const name = isRecord(entry) ? entry['name'] : undefined;
  return (typeof name === 'string' ? nodeAt(node, [name]) : undefined) ?? node;
}

/** Whether a place is that of all mcp servers by their names. */
export function isServersPlace(path: Path): boolean {
  return samePath(path, NATIVE_SERVERS);
}

/** Whether settings declare anything by its native place. */
export function hasNativeParts(settings: Node | undefined): settings is MapNode {
  if (settings?.kind !== 'map') return false;
  for (const key of settings.members.keys()) if (NATIVE_PARTS.has(key)) return true;
  return false;
}

/** Fields that a target declares under their names and at their native places, too: reported at both. */
export function declaredTwice(settings: Node | undefined): PlacedFinding[] {
  if (!hasNativeParts(settings)) return [];
  return fields()
    .filter(hasTwoNames)
    .flatMap((field) => twice(settings, field));
}

function twice(settings: MapNode, { name, place }: Field): PlacedFinding[] {
  const [own, other] = [memberAt(settings, [name]), memberAt(settings, place)];
  if (own === null || other === null) return [];
  const at = (path: Path, elsewhere: Path, member: typeof own): PlacedFinding => ({
    file: member.keyFile,
    at: member.keyAt,
    finding: {
      code: 'declared-twice',
      message: `This is ${elsewhere.join('.')}, which the settings declare too.`,
      hint: 'Keep one of the two: both name the same field.',
      path: ['settings', ...path],
    },
  });
  return [at([name], place, own), at(place, [name], other)];
}
