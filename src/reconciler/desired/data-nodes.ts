import { isList, isRecord, type Value } from '../model/value.ts';
import type { Member, Node, SourceFile } from './node.ts';

/** Levels and letters of a key from which on YAML refuses a text. */
const DEEPEST = 60;
const LONGEST_KEY = 1_000;

/** Data as the text of a file. */
export function textOfData(data: Value): string {
  return JSON.stringify(data, null, 1);
}

/**
 * The nodes of a file whose text is `textOfData(data)`, with their places, as parsing that text returns them. Null if the parser may find a problem in it.
 * Parsing takes many times as long.
 */
export function nodesOfData(file: SourceFile, data: Value): Node | null {
  let at = 0;
  const located = () => ({ file, at, reported: false }) as const;
  const listOf = (values: readonly Value[], depth: number): Node | null => {
    const start = located();
    const items: Node[] = [];
    for (const value of values) {
      // A bracket or a comma, a line break, and a space for each level.
      at += 2 + depth;
      const item = nodeOf(value, depth);
      if (item === null) return null;
      items.push(item);
    }
    at += values.length === 0 ? 2 : depth + 1;
    return { kind: 'list', ...start, items };
  };
  const mapOf = (entries: readonly (readonly [string, Value])[], depth: number): Node | null => {
    const start = located();
    const members = new Map<string, Member>();
    for (const [key, value] of entries) {
      at += 2 + depth;
      const keyAt = at;
      if (key.length > LONGEST_KEY) return null;
      at += JSON.stringify(key).length + 2;
      const node = nodeOf(value, depth);
      if (node === null) return null;
      members.set(key, { key, keyFile: file, keyAt, node });
    }
    at += entries.length === 0 ? 2 : depth + 1;
    return { kind: 'map', ...start, members };
  };
  const nodeOf = (value: Value, above: number): Node | null => {
    const depth = above + 1;
    if (depth > DEEPEST) return null;
    if (isList(value)) return listOf(value, depth);
    if (isRecord(value)) return mapOf(Object.entries(value), depth);
    if (typeof value === 'object' && value !== null) return null;
    const node = { kind: 'scalar', ...located(), value, bare: false } as const;
    at += JSON.stringify(value).length;
    return node;
  };
  return nodeOf(data, 0);
}
