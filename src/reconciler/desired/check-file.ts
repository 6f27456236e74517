import type { Diagnostic } from '../model/diagnostic.ts';
import { pathOfPointer, pointerTo } from '../model/path.ts';
import { BLOCKS } from './blocks.ts';
import type { Block } from './blocks/block.ts';
import { checkReferences } from './check-references.ts';
import { member, nodeAt, plainValue, type MapNode, type Node, type PlacedFinding } from './node.ts';
import { diagnosticOf } from './report.ts';
import { checkNative } from './native.ts';
import { badNames, badValue, missingKeys, unknownKeys } from './schema-findings.ts';
import { validate } from './schema-validator.gen.ts';

/**
 * Every problem in a file, from its references, the schema, and what the blocks check themselves. Each problem is reported once:
 * what only follows from another one is left out.
 */
export function checkFile(root: MapNode): Diagnostic[] {
  for (const part of partsOf(root)) if (problemsIn(part).length > 0) return problemsIn(root);
  return [];
}

/** Environments that are checked at a time: of many, the nodes are made when they are looked at, and not kept. */
const AT_ONCE = 256;

/** The file with some of its environments at a time. No problem is that of two of them. */
function* partsOf(root: MapNode): Iterable<MapNode> {
  const environments = root.members.get('environments');
  if (environments?.node.kind !== 'map' || environments.node.members.size <= AT_ONCE) {
    yield root;
    return;
  }
  const all = [...environments.node.members.values()];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all
      .slice(from, from + AT_ONCE)
      .map(({ key, keyFile, keyAt, node }) => [key, { key, keyFile, keyAt, node }] as const);
    const node = { ...environments.node, members: new Map(some) };
    const members = new Map(root.members).set('environments', { ...environments, node });
    yield { ...root, members };
  }
}

function problemsIn(root: MapNode): Diagnostic[] {
  const { findings: ofValues, reported } = checkReferences(root);
  const known = new Set([...reported, ...ofValues.map(({ path }) => path)].map(pointerTo));
  const ofSchema = [...checkSchema(root), ...checkNative(root)].filter(
    ({ finding: { code, path } }) => !OF_A_VALUE.has(code) || !known.has(pointerTo(path)),
  );
  const unknownKey = pointersOf(ofSchema, ['unknown-key']);
  const wrongType = pointersOf(ofSchema, ['wrong-type']);
  const own = ofValues
    .filter(({ path, finding: { code } }) => {
      const inside = (pointers: ReadonlySet<string>, from: number) =>
        pointers.size > 0 &&
        path.some(
          (_, index) =>
            index >= from && pointers.has(pointerTo(path.slice(0, path.length - index))),
        );
      return !inside(wrongType, 1) && !(OF_A_PLACE.has(code) && inside(unknownKey, 0));
    })
    .map(({ node, path, finding }) => ({
      file: node.file,
      at: node.at,
      finding: { ...finding, path },
    }));
  const refused = new Set([...known, ...pointersOf(ofSchema, [...OF_A_VALUE])]);
  const ofBlocks = checkBlocks(root).filter(({ finding }) => !refused.has(pointerTo(finding.path)));
  return [...own, ...ofSchema, ...ofBlocks].map(diagnosticOf);
}

/** What depends on where a value is: below a key that nobody knows it says nothing more. */
const OF_A_PLACE: ReadonlySet<string> = new Set(['empty-value', 'malformed-reference']);
const OF_A_VALUE: ReadonlySet<string> = new Set(['bad-value', 'wrong-type']);

function pointersOf(findings: readonly PlacedFinding[], codes: readonly string[]): Set<string> {
  return new Set(
    findings
      .filter(({ finding }) => codes.includes(finding.code))
      .map(({ finding }) => pointerTo(finding.path)),
  );
}

/** What the blocks check themselves, at the top of the file and in each environment. */
function checkBlocks(root: MapNode): PlacedFinding[] {
  const environments = member(root, 'environments');
  const holders: (readonly [Node, readonly string[]])[] = [[root, []]];
  if (environments?.kind === 'map') {
    for (const { key, node } of environments.members.values())
      holders.push([node, ['environments', key]]);
  }
  return holders.flatMap(([holder, path]) =>
    holder.kind === 'map'
      ? CHECKED.flatMap(({ name, check }) =>
          holder.members.has(name) ? (check?.(holder, path) ?? []) : [],
        )
      : [],
  );
}

const CHECKED = BLOCKS.filter((block: Block) => block.check !== undefined) as readonly Block[];

/** An error of the generated validator. Its messages are not used: they may carry what the file holds. */
interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  /** The key that is unknown, missing or no name. */
  readonly key: string | null;
  /** Whether a branch of a choice of keys refuses it. */
  readonly ofChoice: boolean;
}

/** The file against the schema: one finding for a value, however many branches refuse it. */
function checkSchema(root: MapNode): PlacedFinding[] {
  const check = validate as unknown as ((data: unknown) => boolean) & {
    errors: SchemaError[] | null;
  };
  if (check(plainValue(root))) return [];
  const byPointer = grouped((check.errors ?? []).filter((error) => !isChoiceOfKeys(error)));
  const outer = new Set([...byPointer.keys()].flatMap(ancestors));
  const findings: PlacedFinding[] = [];
  for (const [at, errors] of byPointer) {
    const path = pathOfPointer(at);
    const node = nodeAt(root, path);
    if (node === undefined) continue;
    const named = (keyword: string) =>
      new Set(
        errors
          .filter((error) => error.keyword === keyword)
          .flatMap(({ key }) => (key === null ? [] : [key])),
      );
    const refused = { root, path, node };
    findings.push(
      ...unknownKeys(refused, named('additionalProperties')),
      ...missingKeys(refused, named('required')),
      ...badNames(refused, named('propertyNames')),
    );
    const ofKeys = errors.some(({ keyword }) => OF_KEYS.has(keyword));
    // If one branch refuses the whole value, and another something inside it, the value was meant for the other.
    if (!ofKeys && !outer.has(at)) findings.push(badValue(refused));
  }
  return findings;
}

/** Which keys an item needs may depend on its other keys: its block checks that itself. */
function isChoiceOfKeys({ ofChoice }: SchemaError): boolean {
  return ofChoice;
}

const OF_KEYS: ReadonlySet<string> = new Set(['additionalProperties', 'required', 'propertyNames']);

function grouped(errors: readonly SchemaError[]): Map<string, SchemaError[]> {
  const groups = new Map<string, SchemaError[]>();
  for (const error of errors) {
    const group = groups.get(error.instancePath);
    if (group === undefined) groups.set(error.instancePath, [error]);
    else group.push(error);
  }
  return groups;
}

function ancestors(at: string): string[] {
  const found: string[] = [];
  for (let end = at.lastIndexOf('/'); end >= 0; end = at.lastIndexOf('/', end - 1)) {
    found.push(at.slice(0, end));
    if (end === 0) break;
  }
  return found;
}
