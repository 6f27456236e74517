import {
  asIfQuoted,
  restoreBraces,
  compose,
  flowReferences,
  duplicateKeys,
  syntaxFindings,
} from './read-yaml.ts';
import {
  type Member,
  type Node,
  type ScalarNode,
  type Finding,
  sourceFile,
  type SourceFile,
} from './node.ts';
import { withoutRepeats, type ShortenedText } from './repeats.ts';
import { diagnostic } from './place-diagnostic.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { SchemaLock } from '../model/native-schema.ts';
import { isAlias, isMap, isScalar, isSeq, type Node as YamlNode, type Pair } from 'yaml';

export interface ParsedFile {
  readonly file: SourceFile;
  /** Null if the text is not one readable YAML document. */
  readonly root: Node | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a text as one document of plain data. `between` is called after every 2,048 environments of a long one. */
export function parseFile(
  path: string,
  text: string,
  lock?: SchemaLock,
  between?: () => void,
): ParsedFile {
  const file = sourceFile(path, text.startsWith('\uFEFF') ? text.slice(1) : text, lock);
  const long = text.length > LONG ? parseInParts(file, between) : null;
  return long === null ? parseWhole(file) : { file, root: long, diagnostics: [] };
}

/** Reads a file with all its diagnostics. */
export function parseWhole(file: SourceFile): ParsedFile {
  const diagnostics: Diagnostic[] = [];
  const report = (at: number, finding: Finding) => diagnostics.push(diagnostic(file, at, finding));
  const composed = compose(file.text) ?? composeMended(file, report);
  const nothing = { file, root: null, diagnostics };
  if (composed === null) return nothing;
  for (const [at, finding] of composed.found) report(at, finding);
  const [document] = composed.documents;
  if (document === undefined) return nothing;
  const [, second] = composed.starts;
  if (second !== undefined) report(second, SEVERAL_DOCUMENTS);
  const { findings, broken } = syntaxFindings(file, document, composed);
  for (const [at, finding] of findings) report(at, finding);
  if (broken || second !== undefined) return nothing;
  const { contents } = document;
  const root =
    contents === null
      ? null
      : buildNode(contents, { file, written: restoreBraces, placeOf: (at) => at });
  if (root?.kind === 'map') return { file, root, diagnostics };
  const empty = root === null || (root.kind === 'scalar' && root.bare);
  if (root?.reported !== true) report(empty ? 0 : root.at, empty ? EMPTY : NO_MAP);
  return nothing;
}

/** Characters from which on the environments of a file are read in parts. */
const LONG = 32 * 1024;

/** Parts of 256 environments. */
const BETWEEN = 8;

/**
 * Reads a long file without what repeats in it, and its environments in parts; null if there is any problem: read as a whole, the
 * file shows which.
 */
function parseInParts(file: SourceFile, between: (() => void) | undefined): Node | null {
  const shortened = withoutRepeats(file);
  const short = shortened === null ? null : readParts(file, shortened, between);
  return short ?? readParts(file, wholeFile(file), between);
}

function wholeFile({ text }: SourceFile): ShortenedText {
  return { text, placeOf: (at) => at, complete: (environments) => environments };
}

function readParts(
  file: SourceFile,
  { text, placeOf, complete }: ShortenedText,
  between: (() => void) | undefined,
): Node | null {
  const building = { file, written: restoreBraces, placeOf };
  const early = new Map<string, Member>();
  const taken = (members: Iterable<Member>): boolean => {
    for (const one of members) {
      if (early.has(one.key)) return false;
      early.set(one.key, one);
    }
    return true;
  };
  let parts = 0;
  const composed = compose(text, (environments) => {
    parts += 1;
    if (parts % BETWEEN === 0) between?.();
    const node = buildNode(environments, building);
    const isUnique = node.kind === 'map' && node.members.size === environments.items.length;
    return isUnique && duplicateKeys(environments).length === 0 && taken(node.members.values());
  });
  const [document] = composed?.documents ?? [];
  if (composed === null || document === undefined || composed.starts.length > 1) return null;
  const { findings } = syntaxFindings(sourceFile(file.path, text, file.lock), document, composed);
  if (findings.length + composed.found.length > 0 || document.contents === null) return null;
  const root = buildNode(document.contents, building);
  if (root.kind !== 'map') return null;
  const environments = root.members.get('environments');
  if (environments?.node.kind !== 'map') return text === file.text ? root : null;
  if (!taken(environments.node.members.values())) return null;
  const node = complete({ ...environments.node, members: early });
  if (node === null) return null;
  return { ...root, members: new Map(root.members).set('environments', { ...environments, node }) };
}

/** Reports references in flow style that are not quoted, and reads the rest as if they were. */
function composeMended(
  file: SourceFile,
  report: (at: number, finding: Finding) => void,
): ReturnType<typeof compose> {
  const dollars = flowReferences(file.text);
  for (const at of dollars) report(at, UNQUOTED);
  const mended = asIfQuoted(file.text, dollars);
  return mended === null ? null : compose(mended);
}

const UNQUOTED: Finding = {
  code: 'syntax',
  message: 'Inside { } and [ ] YAML reads the braces of a reference as its own.',
  hint: 'Quote the reference: "${env:NAME}".',
};

const SEVERAL_DOCUMENTS: Finding = {
  code: 'syntax',
  message: 'A second document starts here.',
  hint: 'Keep one document in a file. Use environments, or a file for each service.',
};

const EMPTY: Finding = {
  code: 'wrong-type',
  message: 'The file is empty.',
  hint: 'Start with version: 1.',
};

const NO_MAP: Finding = {
  code: 'wrong-type',
  message: 'The file is not a map of keys.',
  hint: 'Start with version: 1, then server: and settings:.',
};

interface Building {
  readonly file: SourceFile;
  /** The text of a scalar as it was written. */
  readonly written: (text: string) => string;
  /** Returns the place in the file of an offset of the parsed text. */
  readonly placeOf: (at: number) => number;
}

/** The parser's node as a node of setpoint's own. */
function buildNode(yaml: YamlNode, building: Building): Node {
  const { file, written, placeOf } = building;
  const at = placeOf(yaml.range?.[0] ?? 0);
  const marked = isAlias(yaml) || yaml.tag !== undefined;
  if (isMap(yaml)) {
    const members = new Map<string, Member>();
    for (const pair of yaml.items) {
      const member = readMember(pair as Pair<YamlNode, YamlNode | null>, at, building);
      // A key that is not text, and a duplicate key, have been reported.
      if (member !== null && !members.has(member.key)) members.set(member.key, member);
    }
    return { kind: 'map', file, at, reported: marked, members };
  }
  if (isSeq(yaml)) {
    const items = yaml.items.map((item) =>
      moveBareNode(buildNode(item as YamlNode, building), findDash),
    );
    return { kind: 'list', file, at, reported: marked, items };
  }
  if (!isScalar(yaml)) return bareScalar(file, at, marked);
  const { value } = yaml;
  const bare = value === null && (yaml.source ?? '') === '';
  const reported = marked || (bare && yaml.anchor !== undefined);
  return {
    kind: 'scalar',
    file,
    at,
    reported,
    value: typeof value === 'string' ? written(value) : parseScalarValue(value),
    bare,
  };
}

function readMember(
  { key: keyNode, value }: Pair<YamlNode, YamlNode | null>,
  mapAt: number,
  building: Building,
): Member | null {
  if (!isScalar(keyNode) || typeof keyNode.value !== 'string') return null;
  const { file, placeOf } = building;
  const [keyRange] = keyNode.range ?? [];
  const keyAt = keyRange === undefined ? mapAt : placeOf(keyRange);
  const node = value === null ? bareScalar(file, keyAt, false) : buildNode(value, building);
  return {
    key: building.written(keyNode.value),
    keyFile: file,
    keyAt,
    node: moveBareNode(node, () => keyAt),
  };
}

function parseScalarValue(value: unknown): ScalarNode['value'] {
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function bareScalar(file: SourceFile, at: number, reported: boolean): ScalarNode {
  return { kind: 'scalar', file, at, reported, value: null, bare: true };
}

/** A key or dash without a value is reported at the key or dash. */
function moveBareNode(node: Node, offsetOf: (node: ScalarNode) => number): Node {
  return node.kind === 'scalar' && node.bare ? { ...node, at: offsetOf(node) } : node;
}

function findDash({ file, at }: ScalarNode): number {
  const dash = file.text.lastIndexOf('-', at);
  return dash === -1 ? at : dash;
}
