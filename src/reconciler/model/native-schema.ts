import type { DialectName } from './dialect.ts';
import { type Definitions, findMemberNodes, type SchemaNode } from './json-schema.ts';
import { nativeText } from './native.gen.ts';
import { isWithin, type Path, samePath } from './path.ts';
import type { Json, Value } from './value.ts';

/** The native parts of the settings on servers of one dialect, as reported by one release. */
export interface NativeSchema {
  readonly release: string;
  /** The members at the top that the server alone writes. */
  readonly served: readonly string[];
  readonly properties: Readonly<Record<string, SchemaNode>>;
  readonly $defs: Definitions;
}

let tables: Readonly<Partial<Record<DialectName, NativeSchema>>> | null = null;

function allTables() {
  tables ??= JSON.parse(nativeText()) as Readonly<Partial<Record<DialectName, NativeSchema>>>;
  return tables;
}

/** Null if the servers of a dialect have no native parts. */
export function nativeSchema(dialect: DialectName): NativeSchema | null {
  // The text of the tables takes longer to load than a plan takes without it.
  if (dialect === 'settings-v0') return null;
  return allTables()[dialect] ?? null;
}

/** The value that decides at a path which variant of a part applies; undefined if unknown. */
export type FindKind = (path: Path) => Value | undefined;

/**
 * The branches of a schema at a path; none if it has nothing there. Of a part with variants, those whose own word (`agent_kind`,
 * `condenser_kind`) is the one that applies.
 */
export function selectSchemaNodes(
  { properties, $defs }: Pick<NativeSchema, 'properties' | '$defs'>,
  path: Path,
  kindAt: FindKind | null = null,
): readonly SchemaNode[] {
  let nodes: readonly SchemaNode[] = [{ properties, additionalProperties: false }];
  for (const [index, key] of path.entries()) {
    const above = path.slice(0, index);
    const here = kindAt === null ? nodes : nodes.filter((node) => isOfKind(node, above, kindAt));
    nodes = here.flatMap((node) => findMemberNodes(node, key, $defs));
  }
  return nodes;
}

/** Returns the nodes of a dialect's servers at a path; empty if they have no native parts. */
export function nativeNodes(
  dialect: DialectName,
  path: Path,
  kindAt?: FindKind,
): readonly SchemaNode[] {
  const schema = nativeSchema(dialect);
  return schema === null ? [] : selectSchemaNodes(schema, path, kindAt);
}

/** The definitions that those refer to. */
export function nativeDefinitions(dialect: DialectName): Definitions {
  return nativeSchema(dialect)?.$defs ?? {};
}

/** Returns the default of servers at a place; undefined if it is unknown. */
export function findServerDefault(nodes: readonly SchemaNode[]): Value | undefined {
  return nodes.find((node) => node.default !== undefined)?.default;
}

/** The members whose word distinguishes variants of a part, with that word. */
export function kindMember({ properties = {} }: SchemaNode): readonly [string, Value] | null {
  const found = Object.entries(properties).find(([, member]) => member.const !== undefined);
  return found === undefined ? null : [found[0], found[1].const ?? null];
}

/** Reports whether a variant of the part at a path is of the kind that is known of it, or may be. */
export function isOfKind(node: SchemaNode, path: Path, kindAt: FindKind): boolean {
  const kind = kindMember(node);
  if (kind === null) return true;
  const applies = kindAt([...path, kind[0]]);
  return applies === undefined || applies === kind[1];
}

/** Reports whether a path leads to a part whose members are known one by one, and which is not a value. */
export function isPart(nodes: readonly SchemaNode[]): boolean {
  return nodes.some(({ properties }) => properties !== undefined);
}

/** Reports whether a path leads to a map that takes any names: it can be emptied. */
export function isOpenMap(nodes: readonly SchemaNode[]): boolean {
  return nodes.some(({ additionalProperties: others }) => others !== undefined && others !== false);
}

/** Reports whether a path leads to a secret: the server shows at most that it is stored. */
export function isSecretNode(nodes: readonly SchemaNode[]): boolean {
  return nodes.some(({ format }) => format === 'password');
}

let words: ReadonlySet<string> | null = null;

/** Reports whether a word is the name of a member of a native part: no document masks it, whatever the value of a reference is. */
export function isNativeWord(word: string): boolean {
  words ??= new Set(
    Object.values(allTables()).flatMap(({ properties, $defs }) => [
      ...Object.keys(properties),
      ...[...Object.values(properties), ...Object.values($defs)].flatMap(listPropertyNames),
    ]),
  );
  return words.has(word);
}

function listPropertyNames(node: SchemaNode): string[] {
  const { properties = {}, anyOf = [], items } = node;
  const inner = [...Object.values(properties), ...anyOf, ...(items === undefined ? [] : [items])];
  return [...Object.keys(properties), ...inner.flatMap(listPropertyNames)];
}

/** The releases that have a path, in words: `app-server 1.11.0 and agent-server 1.57.0`. Empty if none has it. */
export function serversWith(path: Path, kindAt?: FindKind): string {
  const names = Object.entries(allTables()).flatMap(([dialect, schema]) =>
    selectSchemaNodes(schema, path, kindAt).length === 0 ? [] : [`${dialect} ${schema.release}`],
  );
  return names.join(' and ');
}

/** The types that servers name in the schemas of their settings. */
export const MEMBER_TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const;

/** A member of the native parts that a server has and that the release known here lacks. */
export interface LockedMember {
  /** From the top of the settings. */
  readonly path: Path;
  readonly type: (typeof MEMBER_TYPES)[number];
  /** Null for a secret, and for a member whose default is null. */
  readonly default: Json;
  /** Empty if the server takes any value of the type. */
  readonly choices: readonly Json[];
  readonly secret: boolean;
}

/** The settings that servers of one release have reported. Without members they have none that is new. */
export interface LockedRelease {
  readonly dialect: DialectName;
  /** Null if the server does not name its release. */
  readonly release: string | null;
  readonly members: readonly LockedMember[];
}

/** The file next to a settings file with the additional schemas of its servers. */
export interface SchemaLock {
  readonly releases: readonly LockedRelease[];
  /** True if every member passes: while a lock is made, there is nothing to compare with. */
  readonly open?: boolean;
}

export const OPEN_LOCK: SchemaLock = { releases: [], open: true };

/** Returns the nodes of a lock at a path, of one dialect or of any; empty if it has nothing there. References are not in it. */
export function selectLockNodes(
  { releases }: SchemaLock,
  path: Path,
  dialect: DialectName | null = null,
): readonly SchemaNode[] {
  return releases
    .filter((one) => dialect === null || one.dialect === dialect)
    .flatMap(({ members }) => members.flatMap((member) => toSchemaNodes(member, path)));
}

function toSchemaNodes(member: LockedMember, path: Path): SchemaNode[] {
  if (samePath(member.path, path)) return [ownNode(member)];
  if (isWithin(path, member.path))
    return member.type === 'object' || member.type === 'array' ? [{}] : [];
  // A part that only its members are known of.
  const key = isWithin(member.path, path) ? member.path[path.length] : undefined;
  return key === undefined ? [] : [{ type: 'object', properties: { [key]: {} } }];
}

function ownNode({ type, choices, secret, default: otherwise }: LockedMember): SchemaNode {
  return {
    type: [type, 'null'],
    ...(choices.length === 0 ? {} : { enum: [...choices, null] }),
    ...(secret ? { format: 'password', writeOnly: true } : {}),
    ...(secret || otherwise === null ? {} : { default: otherwise }),
  };
}

/** The secrets of a lock, in the servers of one dialect. */
export function listLockSecrets({ releases }: SchemaLock, dialect: DialectName): readonly Path[] {
  return releases
    .filter((one) => one.dialect === dialect)
    .flatMap(({ members }) => members.filter(({ secret }) => secret).map(({ path }) => path));
}
