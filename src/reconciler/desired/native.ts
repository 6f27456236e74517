import {
  fieldAtNative,
  fields,
  hasTwoNames,
  NATIVE_PARTS,
  createUnnamedField,
  type Field,
} from '../model/field.ts';
import {
  findSchemaFaults,
  type Fault,
  describeSchema,
  type SchemaNode,
} from '../model/json-schema.ts';
import {
  isOpenMap,
  isPart,
  isSecretNode,
  selectLockNodes,
  type SchemaLock,
} from '../model/native-schema.ts';
import { findPathFacts } from '../model/path-facts.ts';
import { samePath, type Path } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { type Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField } from '../model/state.ts';
import { isRecord, createRecord, type Value, isList } from '../model/value.ts';
import { readTyped, resolveText } from './lookup.ts';
import {
  member,
  findMember,
  findNode,
  type MapNode,
  type Node,
  locate,
  type PlacedFinding,
  plainValue,
} from './node.ts';
import { findSettingsSchema, isReferenceNode, settingsNodes, takesText } from './schema-lookup.ts';
import { MCP_LISTS } from '../model/mcp.ts';
import { createValueFinding, missingKeys, unknownKeys } from './schema-findings.ts';
import { mayHoldReference } from './references.ts';

/** Finds a declared field of the specification in a target's settings: under its name, or at its native place. */
export function findDeclaredField(
  settings: Node | undefined,
  { name, place }: Field,
): { readonly path: Path; readonly node: Node } | null {
  const own = member(settings, name);
  if (own !== undefined) return { path: [name], node: own };
  const node = findNode(settings, place);
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
    .flatMap(({ key, node }) => listNativeLeaves([key], node));
}

function listNativeLeaves(path: Path, node: Node): readonly NativeLeaf[] {
  if (fieldAtNative(path) !== undefined) return [];
  if (node.kind !== 'map') return [{ path, node }];
  const inner = [...node.members.values()].flatMap((one) =>
    listNativeLeaves([...path, one.key], one.node),
  );
  const nodes = settingsNodes(path, node.file.lock);
  // Without a member a part declares nothing, unless it is a map that accepts any others.
  if (node.members.size > 0 || (isPart(nodes) && !isOpenMap(nodes))) return inner;
  return [{ path, node }];
}

/** A native value, references resolved. */
export function resolveLeaf({ path, node }: NativeLeaf, source: ReferenceSource): DesiredField {
  return {
    field: createUnnamedField(path, isSecretNode(settingsNodes(path, node.file.lock))),
    value: resolveNativeValue(path, node, source),
    source: (inner = []) => {
      const found = findNode(node, inner) ?? node;
      return locate(found.file, found.at);
    },
  };
}

/** A value of the file: text that a place does not take as text is one reference to a number or a truth value. */
export function resolveNativeValue(path: Path, node: Node, source: ReferenceSource): Value {
  if (node.kind === 'list')
    return node.items.map((item, index) =>
      resolveNativeValue([...path, String(index)], item, source),
    );
  if (node.kind === 'map')
    return createRecord(
      [...node.members.values()].map((one) => [
        one.key,
        resolveNativeValue([...path, one.key], one.node, source),
      ]),
    );
  if (typeof node.value !== 'string') return node.value;
  return resolveTypedText(path, settingsNodes(path, node.file.lock), node.value, source);
}

/**
 * A text where the schema has these nodes: unless they take text, it is one reference to a number or a truth value. Where they take both, a
 * reference to a truth value is one: a server may store its text as either.
 */
export function resolveTypedText(
  path: Path,
  nodes: readonly SchemaNode[],
  text: string,
  source: ReferenceSource,
): string | Secret {
  // A reference to a list is split where it is judged: see withUsable.
  if (findPathFacts(path).list) return resolveText(text, source);
  const typed = nodes.filter((node) => !isReferenceNode(node) && !takesText([node]));
  const isOnlyText = typed.length === 0 || !mayHoldReference(text);
  if (takesText(nodes) && isOnlyText) return resolveText(text, source);
  const value = readTyped(
    text,
    source,
    (one) => findSchemaFaults(one, { anyOf: typed }, {}).length === 0,
  );
  return takesText(nodes) && value instanceof UnseenSecret ? resolveText(text, source) : value;
}

/** Reports whether settings declare anything by its native place. */
export function hasNativeParts(settings: Node | undefined): settings is MapNode {
  if (settings?.kind !== 'map') return false;
  for (const key of settings.members.keys()) if (NATIVE_PARTS.has(key)) return true;
  return false;
}

/** Fields that a target declares both under their names and at their native places: reported at both. */
export function findDoubleFields(settings: Node | undefined): PlacedFinding[] {
  if (!hasNativeParts(settings)) return [];
  return fields()
    .filter(hasTwoNames)
    .flatMap((field) => inBothForms(settings, field));
}

function inBothForms(settings: MapNode, { name, place }: Field): PlacedFinding[] {
  const [own, other] = [findMember(settings, [name]), findMember(settings, place)];
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

/**
 * The native parts of a file that no server has, or not in that form. They are found here because a server drops an unknown member, and
 * reports it as stored.
 */
export function checkNative(root: MapNode): PlacedFinding[] {
  const environments = member(root, 'environments');
  const inner =
    environments?.kind === 'map'
      ? [...environments.members.values()].map(
          ({ key, node }) => [node, ['environments', key]] as const,
        )
      : [];
  return [[root, []] as const, ...inner].flatMap(([holder, path]) => {
    const servers = createFaultFindings(root, path, findNamedServerFaults(holder));
    const settings = member(holder, 'settings');
    if (settings?.kind !== 'map') return servers;
    const { lock } = root.file;
    const found = partFaults(settings);
    const { faults, values } =
      lock === undefined
        ? { faults: found, values: [] }
        : filterFaultsByLock(found, settings, lock);
    return [
      ...servers,
      ...createFaultFindings(root, [...path, 'settings'], faults),
      ...values.flatMap((fault) =>
        createLockedFindings(root, [...path, 'settings', ...fault.path], fault),
      ),
    ];
  });
}

/** Finds members of servers in the block mcp_servers that no server accepts. */
function findNamedServerFaults(holder: Node): Fault[] {
  const servers = member(holder, 'mcp_servers');
  if (servers?.kind !== 'map') return [];
  const [, defs] = findSettingsSchema('agent_settings');
  return [...servers.members.values()].flatMap(({ key, node }) =>
    node.kind === 'scalar' && node.value === null
      ? []
      : findSchemaFaults(plainValue(node), defs['mcp_server'] ?? {}, defs, ['mcp_servers', key]),
  );
}

function partFaults(settings: MapNode): Fault[] {
  const own = [...settings.members.values()].filter(({ key }) => NATIVE_PARTS.has(key));
  return [
    ...own.flatMap(({ key, node }) => {
      const [schema, defs] = findSettingsSchema(key);
      return findSchemaFaults(plainValue(node), schema, defs, [key]);
    }),
    ...entryFaults(member(settings, 'mcp_config')),
  ];
}

/** The members of entries of the mcp lists that only servers with native parts have. */
function entryFaults(config: Node | undefined): Fault[] {
  if (config === undefined) return [];
  return MCP_LISTS.flatMap((list) => {
    const entries = member(config, list);
    const values = entries === undefined ? [] : plainValue(entries);
    return (isList(values) ? values : []).flatMap((entry, index) =>
      isRecord(entry) ? memberFaults(entry, ['mcp_config', list, String(index)]) : [],
    );
  });
}

function memberFaults(entry: Readonly<Record<string, Value>>, path: readonly string[]): Fault[] {
  return Object.entries(entry).flatMap(([key, value]) => {
    if (isSpecifiedMember(path[1], key)) return [];
    const [, defs] = findSettingsSchema('mcp_config');
    const nodes = settingsNodes([...path, key]);
    return nodes.length === 0
      ? []
      : findSchemaFaults(value, { anyOf: nodes }, defs, [...path, key]);
  });
}

/** The members that the validator of the specification's part judges. */
function isSpecifiedMember(list: string | undefined, key: string): boolean {
  return (
    ['url', 'api_key', 'name', 'command', 'args'].includes(key) ||
    (key === 'env' && list === 'stdio_servers') ||
    (key === 'timeout' && list === 'shttp_servers')
  );
}

function createFaultFindings(
  root: MapNode,
  holder: readonly string[],
  faults: readonly Fault[],
): PlacedFinding[] {
  return groupByMap(faults).flatMap((group) => {
    const [{ kind, path: first }] = group;
    const path = [...holder, ...first];
    if (kind === 'value') {
      const node = findNode(root, path);
      return node === undefined ? [] : [createValueFinding({ root, path, node })];
    }
    const above = path.slice(0, -1);
    const node = findNode(root, above);
    if (node === undefined) return [];
    const keys = new Set(group.map((fault) => fault.path.at(-1) ?? ''));
    return (kind === 'unknown' ? unknownKeys : missingKeys)({ root, path: above, node }, keys);
  });
}

type Faults = [Fault, ...Fault[]];

/** Faults one after the other that are of keys of the same map and of the same kind; each value alone. */
function groupByMap(faults: readonly Fault[]): readonly Faults[] {
  const groups: Faults[] = [];
  for (const fault of faults) {
    const group = groups.at(-1);
    if (group !== undefined && isOfSameMap(group[0], fault)) group.push(fault);
    else groups.push([fault]);
  }
  return groups;
}

function isOfSameMap(one: Fault, other: Fault): boolean {
  if (one.kind !== other.kind || one.kind === 'value') return false;
  return samePath(one.path.slice(0, -1), other.path.slice(0, -1));
}

/**
 * The faults of native parts that a lock leaves, and its findings where it has a member that the known schema lacks. `values` are values
 * that contradict the lock.
 */
export function filterFaultsByLock(
  faults: readonly Fault[],
  settings: Node,
  lock: SchemaLock,
): { readonly faults: readonly Fault[]; readonly values: readonly Fault[] } {
  if (lock.open === true)
    return { faults: faults.filter(({ kind }) => kind !== 'unknown'), values: [] };
  const judged = faults.map((fault): readonly [Fault, readonly Fault[] | null] => {
    const node = fault.kind === 'unknown' ? findNode(settings, fault.path) : undefined;
    const found = node === undefined ? null : findLockedFaults(fault.path, node, lock);
    return [fault, found];
  });
  const found = judged.flatMap(([, own]) => own ?? []);
  const left = judged.flatMap(([fault, own]) => (own === null ? [fault] : []));
  return {
    faults: [...left, ...found.filter(({ kind }) => kind === 'unknown')],
    values: found.filter(({ kind }) => kind !== 'unknown'),
  };
}

/** The faults of a value that only a lock has a place for; null if it has none either. */
function findLockedFaults(path: Path, node: Node, lock: SchemaLock): readonly Fault[] | null {
  const nodes = selectLockNodes(lock, path);
  if (nodes.length === 0) return null;
  if (isPart(nodes) && node.kind === 'map') {
    return [...node.members.values()].flatMap(({ key, node: inner }) => {
      const at = [...path, key];
      return findLockedFaults(at, inner, lock) ?? [{ path: at, kind: 'unknown', expected: {} }];
    });
  }
  const isReference =
    node.kind === 'scalar' && typeof node.value === 'string' && mayHoldReference(node.value);
  // A secret that is written out is found as such.
  if (isReference || isSecretNode(nodes)) return [];
  return findSchemaFaults(plainValue(node), { anyOf: nodes }, {}, path);
}

/** A value that contradicts the lock. `path` is from the root of the file. */
export function createLockedFindings(
  root: Node,
  path: readonly string[],
  { expected }: Fault,
): PlacedFinding[] {
  const node = findNode(root, path);
  if (node === undefined) return [];
  const finding = {
    code: 'wrong-type',
    message: `${path.at(-1) ?? 'This'} must be ${describeSchema(expected, {})}, as the schema lock has it from the server.`,
    hint: 'Change the value. If the server has changed, run setpoint schema pull.',
    path,
  } as const;
  return [{ file: node.file, at: node.at, finding }];
}
