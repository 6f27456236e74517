import { createRecord, type Value } from '../model/value.ts';
import type { DiagnosticCode, Fix } from '../model/diagnostic.ts';
import { LineCounter } from 'yaml';
import type { Source } from '../model/path.ts';
import type { SchemaLock } from '../model/native-schema.ts';
import { Suggestions } from '../model/wording.ts';

/**
 * A value of the file with its place. Overlays share the nodes of the blocks below them. The nodes of an environment of a long file are
 * created again at each access.
 */
export type Node = ScalarNode | ListNode | MapNode;

interface NodeLocation {
  readonly file: SourceFile;
  /** The offset at which the value starts. */
  readonly at: number;
  /** True if a problem of the value was reported when it was read: then nothing more is reported. */
  readonly reported: boolean;
}

export interface ScalarNode extends NodeLocation {
  readonly kind: 'scalar';
  readonly value: null | boolean | number | string;
  /** A key or dash without a value. */
  readonly bare: boolean;
}

export interface ListNode extends NodeLocation {
  readonly kind: 'list';
  readonly items: readonly Node[];
}

export interface MapNode extends NodeLocation {
  readonly kind: 'map';
  readonly members: ReadonlyMap<string, Member>;
}

export interface Member {
  readonly key: string;
  readonly keyFile: SourceFile;
  /** The offset at which the key starts. */
  readonly keyAt: number;
  readonly node: Node;
}

export function member(node: Node | undefined, key: string): Node | undefined {
  return node?.kind === 'map' ? node.members.get(key)?.node : undefined;
}

/** Reports whether a scalar is true. */
export function isTrue(node: Node | undefined): boolean {
  return node?.kind === 'scalar' && node.value === true;
}

/** The text of a scalar; undefined if the node is not text. */
export function readNodeText(node: Node | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

export function isNull(node: Node | undefined): boolean {
  return node?.kind === 'scalar' && node.value === null;
}

/** The members of a map, of a block those that it names; none of anything else. */
export function listMembers(node: Node | undefined): readonly Member[] {
  return node?.kind === 'map' ? [...node.members.values()] : [];
}

/** The node that keys and list positions lead to, if there is one. */
export function findNode(root: Node | undefined, path: readonly string[]): Node | undefined {
  let node: Node | undefined = root;
  for (const segment of path) {
    if (node?.kind === 'list') node = node.items[Number(segment)];
    else node = member(node, segment);
  }
  return node;
}

/** The member that keys lead to, if there is one. */
export function findMember(root: Node, path: readonly string[]): Member | null {
  const parent = findNode(root, path.slice(0, -1));
  return parent?.kind === 'map' ? (parent.members.get(path.at(-1) ?? '') ?? null) : null;
}

/** Hands on each text in a part of a file. */
export function eachText(node: Node | undefined, take: (text: string) => void): void {
  if (node?.kind === 'map') for (const one of node.members.values()) eachText(one.node, take);
  else if (node?.kind === 'list') for (const item of node.items) eachText(item, take);
  else if (typeof node?.value === 'string') take(node.value);
}

/** The plain value, references as they are written. */
export function plainValue(node: Node): Value {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainValue);
  const record: Record<string, Value> = {};
  for (const { key, node: value } of node.members.values()) {
    if (key === '__proto__')
      return createRecord([...node.members.values()].map((m) => [m.key, plainValue(m.node)]));
    record[key] = plainValue(value);
  }
  return record;
}

/** One value merged over another: maps merge by key, scalars and lists replace. Every value keeps its place. */
export function overlay(below: Node | undefined, above: Node | undefined): Node | undefined {
  if (above === undefined) return below;
  if (below?.kind !== 'map' || above.kind !== 'map') return above;
  const members = new Map<string, Member>(below.members);
  for (const [key, member] of above.members) {
    const node = overlay(below.members.get(key)?.node, member.node) ?? member.node;
    members.set(key, node === member.node ? member : { ...member, node });
  }
  return { ...above, members };
}

/** A file's text with the places of its lines. `path` is how the person named it. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: LineCounter;
  readonly suggestions: Suggestions;
  /** Members of its servers beyond those known here; absent without a lock. */
  readonly lock?: SchemaLock;
}

export function sourceFile(path: string, text: string, lock?: SchemaLock): SourceFile {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
    lines.addNewLine(at + 1);
  const suggestions = new Suggestions();
  return {
    path,
    text,
    lines,
    suggestions,
    ...(lock === undefined ? {} : { lock }),
  };
}

/** Line and column of an offset, both from 1, in UTF-16 units. */
export function locate({ path, lines }: SourceFile, offset: number): Source {
  const { line, col } = lines.linePos(offset);
  return { file: path, line, column: col };
}

const LONGEST = 400;

/** A line, counted from 1, without its line break; of a very long line only the beginning. */
export function readLine({ text, lines }: SourceFile, line: number): string {
  const start = lines.lineStarts[line - 1] ?? text.length;
  const end = lines.lineStarts[line] ?? text.length;
  return text.slice(start, Math.min(end, start + LONGEST)).replace(/\r?\n$/, '');
}

/** A problem of the file, in words. */
export interface Finding {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
  readonly fix?: Fix | undefined;
  readonly path?: readonly string[];
  readonly severity?: 'error' | 'warning';
  /** True if one place of a file stands for all others with this message. */
  readonly isOfFile?: boolean;
}

/** A finding with its place. */
export interface PlacedFinding {
  readonly file: SourceFile;
  /** The offset that a caret points at. */
  readonly at: number;
  readonly finding: Finding & { readonly path: readonly string[] };
}
