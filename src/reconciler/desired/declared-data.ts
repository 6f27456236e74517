import { fields, hasTwoNames, type SpecifiedField } from '../model/field.ts';
import {
  listRecordEntries,
  createEntryIdentity,
  MCP_LISTS,
  type McpList,
  convertToMcpLists,
  USUAL_TRANSPORT,
} from '../model/mcp.ts';
import { isWithin, type Path } from '../model/path.ts';
import {
  isEmpty,
  isRecord,
  createRecord,
  readPath,
  assignPath,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { BLOCKS } from './blocks.ts';
import { findNode, plainValue, type Node, type SourceFile } from './node.ts';
import type { Target } from './target.ts';

/** The declarations of a target, in the one form that a policy evaluates. */
export interface DeclaredData {
  /** As plain data, blocks merged and references as they are written; a field with two names is there under both. */
  readonly data: ValueRecord;
  readonly twins: readonly Twin[];
  /** The mcp entries inside one of them. */
  readonly entries: readonly Twin[];
}

/** A value that is in the data twice: where the file has it, and under its other name. */
export interface Twin {
  readonly written: Path;
  readonly other: Path;
}

/** Returns the declarations of a target. A field is there by its name and at its native place, whichever the file uses. */
export function createDeclaredData(target: Target): DeclaredData {
  const data = createRecord(
    BLOCKS.flatMap(({ name, data: spelledOut = plainValue }) => {
      const node = target[name];
      return node === undefined ? [] : [[name, spelledOut(node)] as const];
    }),
  );
  if (!isRecord(data['settings'])) return { data, twins: [], entries: [] };
  return fields().reduce<DeclaredData>(withBothNames, {
    data,
    twins: [],
    entries: [],
  });
}

function withBothNames(declared: DeclaredData, field: SpecifiedField): DeclaredData {
  if (!hasTwoNames(field)) return declared;
  const { data, twins } = declared;
  const [flat, native]: readonly [Path, Path] = [
    ['settings', field.name],
    ['settings', ...field.place],
  ];
  const [byName, atPlace] = [readPath(data, flat), readPath(data, native)];
  if ((byName === undefined) === (atPlace === undefined)) return declared;
  const twin =
    byName === undefined ? { written: native, other: flat } : { written: flat, other: native };
  const found =
    field.name === 'mcp_config'
      ? serversElsewhere(byName, atPlace)
      : { value: byName ?? atPlace ?? null, entries: [] };
  const entries = found.entries.map((one) => ({
    written: [...twin.written, ...one.written],
    other: [...twin.other, ...one.other],
  }));
  return {
    data: assignPath(data, twin.other, found.value),
    twins: [...twins, twin],
    entries: [...declared.entries, ...entries],
  };
}

/** Mcp servers in the form that the file does not use, and which entry is where. */
function serversElsewhere(
  lists: Value | undefined,
  servers: Value | undefined,
): { readonly value: Value; readonly entries: readonly Twin[] } {
  if (isRecord(servers)) {
    const listed = convertToMcpLists(servers);
    const used = MCP_LISTS.map((list) => [list, listRecordEntries(listed[list])] as const);
    return {
      value: createRecord(used.filter(([, entries]) => entries.length > 0)),
      entries: used.flatMap(([list, entries]) =>
        entries.map(({ name }, index) => ({
          written: [typeof name === 'string' ? name : ''],
          other: [list, String(index)],
        })),
      ),
    };
  }
  if (!isRecord(lists)) return { value: lists ?? null, entries: [] };
  const named = new Map<string, Value>();
  const entries = MCP_LISTS.flatMap((list) =>
    listRecordEntries(lists[list]).map((entry, index): Twin => {
      const name = findUnusedName(entry['name'] ?? createEntryIdentity(list, entry).shown, named);
      named.set(name, serverOfEntry(list, entry));
      return { written: [list, String(index)], other: [name] };
    }),
  );
  return { value: createRecord(named), entries };
}

function findUnusedName(name: Value, used: ReadonlyMap<string, Value>): string {
  const wanted = typeof name === 'string' ? name : '';
  return used.has(wanted) ? findUnusedName(`${wanted}#`, used) : wanted;
}

/** An entry of a list as servers have it. */
function serverOfEntry(list: McpList, entry: ValueRecord): ValueRecord {
  const { name: _, api_key: key = null, ...members } = entry;
  return createRecord({
    transport: USUAL_TRANSPORT[list],
    ...(isEmpty(key) ? {} : { auth: createRecord({ strategy: 'api_key', value: key }) }),
    ...members,
  });
}

/** The place in the file of a path in that data, or the nearest one around it; null if the target declares nothing. */
export function findDeclaredPlace(
  target: Target,
  { twins, entries }: DeclaredData,
  path: Path,
): { readonly file: SourceFile; readonly at: number } | null {
  const twin = [...twins, ...entries].findLast(({ other }) => isWithin(path, other));
  const written = twin === undefined ? path : [...twin.written, ...path.slice(twin.other.length)];
  const block = BLOCKS.find(({ name }) => name === written[0]);
  const root: Node | undefined = block === undefined ? findFirstNode(target) : target[block.name];
  if (root === undefined) return null;
  for (let length = written.length; length > 0; length -= 1) {
    const node = findNode(root, written.slice(1, length));
    if (node !== undefined) return { file: node.file, at: node.at };
  }
  return { file: root.file, at: 0 };
}

function findFirstNode(target: Target): Node | undefined {
  return BLOCKS.map(({ name }) => target[name]).find((node) => node !== undefined);
}
