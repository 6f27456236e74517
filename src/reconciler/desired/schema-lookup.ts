import { Cache, onceFor } from '../model/cache.ts';
import {
  isPart,
  selectLockNodes,
  type NativeSchema,
  selectSchemaNodes,
  type SchemaLock,
} from '../model/native-schema.ts';
import type { SchemaNode } from '../model/json-schema.ts';
import type { Path } from '../model/path.ts';
import type { Json } from '../model/value.ts';
import type { MapNode, Node } from './node.ts';
import { schemaText } from './schema.gen.ts';

/** The part of JSON Schema that settings.schema.json uses. */
interface Schema extends Omit<SchemaNode, Nested | 'enum'> {
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minProperties?: number;
  readonly propertyNames?: { readonly pattern?: string };
}

type Nested = 'anyOf' | 'properties' | 'additionalProperties' | 'items';

type Root = Schema & { readonly $defs: Readonly<Record<string, Schema>> };

let parsed: Root | undefined;

/** The schema, parsed when the first message needs it. */
function root(): Root {
  parsed ??= JSON.parse(schemaText()) as Root;
  return parsed;
}

/** The allowed values at a place of the file, gathered from every branch of the schema that describes it. */
export interface Expectation {
  readonly types: readonly string[];
  readonly reference: boolean;
  /** True if the text is a secret, which is written only as a reference. */
  readonly secret: boolean;
  readonly values: readonly string[];
  readonly minimum: number | null;
  readonly maximum: number | null;
  /** A number must be more, or less, than these. */
  readonly above: number | null;
  readonly below: number | null;
  /** The form of a text that is not a reference. */
  readonly pattern: string | null;
  /** The form of the names in a map. */
  readonly namePattern: string | null;
  /** True if text or a map may not be empty. */
  readonly filled: boolean;
  readonly keys: readonly string[];
  readonly description: string;
  /** The default of a value that is left out; undefined if it has none. */
  readonly fallback: Json | undefined;
}

/** Returns what the schema allows at a path of the file, for messages only. */
export function findExpectation(path: readonly string[], lock?: SchemaLock): Expectation {
  const branches = findSchemaBranches(path);
  if (branches.length === 0 && lock !== undefined && path[0] === 'settings')
    return computeExpectation(selectLockNodes(lock, path.slice(1)) as Schema[]);
  return expectationOf(branches);
}

/** Thousands of problems may be in the same map. */
const expectationOf = onceFor(computeExpectation);
const branchesUnder = onceFor<readonly Schema[], Map<string, readonly Schema[]>>(() => new Map());
let top: readonly Schema[] | undefined;

function findSchemaBranches(path: readonly string[]): readonly Schema[] {
  top ??= listSchemaBranches(root());
  let branches = top;
  for (const segment of path) {
    const known = branchesUnder(branches);
    const key = formatBranchKey(branches, segment);
    const inner =
      known.get(key) ??
      branches.flatMap((branch) => findChildSchemas(branch, segment)).flatMap(listSchemaBranches);
    known.set(key, inner);
    branches = inner;
  }
  return branches;
}

/** The same for all segments under which the schema has the same: those that it does not name. */
function formatBranchKey(branches: readonly Schema[], segment: string): string {
  const isNamed = branches.some(({ properties = {} }) => Object.hasOwn(properties, segment));
  if (isNamed) return segment;
  return /^\d+$/.test(segment) ? '0' : '';
}

function computeExpectation(branches: readonly Schema[]): Expectation {
  const references = branches.filter(
    (branch) => branch.title === 'Reference' || branch.title === 'Template',
  );
  const own = branches.filter((branch) => !references.includes(branch));
  const numbers = (key: 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum') =>
    own.map((branch) => branch[key]).find((n) => n !== undefined) ?? null;
  return {
    types: [...new Set(own.flatMap((branch) => branch.type ?? []))],
    reference: references.length > 0,
    secret: own.some(({ format }) => format === 'password'),
    values: own.flatMap(
      (branch) => branch.enum ?? (branch.const === undefined ? [] : [JSON.stringify(branch.const)]),
    ),
    minimum: numbers('minimum'),
    maximum: numbers('maximum'),
    above: numbers('exclusiveMinimum'),
    below: numbers('exclusiveMaximum'),
    pattern:
      own.find(({ format, pattern }) => format === undefined && pattern !== undefined)?.pattern ??
      null,
    namePattern:
      own.find(({ propertyNames }) => propertyNames !== undefined)?.propertyNames?.pattern ?? null,
    filled: own.some(({ minLength, minProperties }) => (minLength ?? minProperties ?? 0) > 0),
    keys: own.flatMap((branch) => Object.keys(branch.properties ?? {})),
    description: branches.find(hasOwnDescription)?.description ?? '',
    fallback: branches.find((branch) => branch.default !== undefined)?.default,
  };
}

/** A description of any place that takes a reference describes none of them. */
function hasOwnDescription({ description }: Schema): boolean {
  return description !== undefined && !OF_REFERENCES.test(description);
}

/** The schema's description at a path, up to the first full stop or semicolon; empty if it has none of its own. */
export function firstSentence(path: readonly string[]): string {
  const { description } = findExpectation(path);
  if (description === '') return '';
  const [first = description] = /^.*?(?<!\b(?:e\.g|i\.e))(?=[.;](?:\s|$))/s.exec(description) ?? [];
  const line = first.replaceAll(/\s+/g, ' ');
  return `${line.length <= LONGEST ? line : line.replace(/(?<=.{20})(?: \(| [–—] |: ).*$/s, '')}.`;
}

const LONGEST = 120;

/** The description in the schema of any place that takes a reference. */
const OF_REFERENCES =
  /^(?:A value from outside the file|Text with references inside|One reference, \$)/;

/** The branch itself and those it refers to; a description or default next to a choice becomes a branch of its own. */
function listSchemaBranches(branch: Schema): Schema[] {
  if (branch.$ref !== undefined) {
    const name = branch.$ref.slice('#/$defs/'.length);
    const target = root().$defs[name] ?? {};
    return listSchemaBranches(
      branch.description === undefined ? target : { ...target, description: branch.description },
    );
  }
  const { anyOf, ...beside } = branch;
  if (anyOf === undefined) return [branch];
  const inner = anyOf.flatMap(listSchemaBranches);
  return beside.description === undefined && beside.default === undefined
    ? inner
    : [beside, ...inner];
}

function findChildSchemas(branch: Schema, segment: string): Schema[] {
  const property = Object.hasOwn(branch.properties ?? {}, segment)
    ? branch.properties?.[segment]
    : undefined;
  if (property !== undefined) return [property];
  if (branch.items !== undefined && /^\d+$/.test(segment)) return [branch.items];
  return typeof branch.additionalProperties === 'object' ? [branch.additionalProperties] : [];
}

/** Reports whether a map contains an unknown key for which this one was suggested. */
export function isMisspelt(node: Node | undefined, path: readonly string[], key: string): boolean {
  if (node?.kind !== 'map') return false;
  return suggestedIn.get(node, () => suggestKeys(node, path)).has(key);
}

/** A root is looked at for each of its environments. */
const suggestedIn = new Cache<MapNode, ReadonlySet<string | null>>();

function suggestKeys({ file, members }: MapNode, path: readonly string[]) {
  const { keys } = findExpectation(path);
  const unknown = [...members.keys()].filter((key) => !keys.includes(key));
  return new Set(unknown.map((key) => file.suggestions.suggest(key, keys)));
}

let known: Set<string> | null = null;

/** Every key that the schema names, anywhere. */
export function collectSchemaKeys(): ReadonlySet<string> {
  known ??= new Set([root(), ...Object.values(root().$defs)].flatMap(listBranchKeys));
  return known;
}

function listBranchKeys(branch: Schema): string[] {
  const { properties = {}, additionalProperties, anyOf = [], items } = branch;
  const map = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  const inner = [
    ...Object.values(properties),
    ...map,
    ...anyOf,
    ...(items === undefined ? [] : [items]),
  ];
  return [...Object.keys(properties), ...inner.flatMap(listBranchKeys)];
}

/** Returns the schema under `settings`: the fields and the native parts. */
function readSettingsSchema(): Pick<NativeSchema, 'properties' | '$defs'> {
  const { $defs } = root();
  const { properties = {} } = $defs['settings'] ?? {};
  return { properties, $defs };
}

/** Returns the nodes of the schema, or else of a lock, at a path under `settings`; empty if neither has any there. */
export function settingsNodes(path: Path, lock?: SchemaLock): readonly SchemaNode[] {
  const known = selectSchemaNodes(readSettingsSchema(), path);
  if (known.length > 0 || lock === undefined) return known;
  return lock.open === true ? [{}] : selectLockNodes(lock, path);
}

/** The schema of a part of the settings, with the definitions that it refers to. */
export function findSettingsSchema(name: string): readonly [SchemaNode, NativeSchema['$defs']] {
  const { properties, $defs } = readSettingsSchema();
  return [properties[name] ?? {}, $defs];
}

/** The names that the schema has for what is in a map under `settings`, in its order. */
export function listNamedKeys(path: Path): readonly string[] {
  const keys = settingsNodes(path).flatMap(({ properties = {} }) => Object.keys(properties));
  return [...new Set(keys)];
}

/** Reports whether a map has a key by name, and not because it takes any. */
export function isNamedKey(path: Path): boolean {
  const key = path.at(-1) ?? '';
  const above = settingsNodes(path.slice(0, -1));
  return isPart(above) && above.some(({ properties = {} }) => Object.hasOwn(properties, key));
}

/** Reports whether these schema nodes accept text as such, and not only as a reference to a value of another type. */
export function takesText(nodes: readonly SchemaNode[]): boolean {
  return nodes
    .filter((node) => !isReferenceNode(node))
    .some(({ type }) => type === undefined || [type].flat().includes('string'));
}

/** Reports whether a node of the schema is the form of references. */
export function isReferenceNode({ pattern }: SchemaNode): boolean {
  return pattern?.startsWith('^\\$\\{(env|file|secret)') === true;
}
