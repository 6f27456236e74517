import { isAlias, isMap, isScalar, isSeq, type Node as YamlNode, type Pair } from 'yaml';
import type { Member, Node, ScalarNode } from './node.ts';
import type { SourceFile } from './source-file.ts';

/** What the parser's nodes become nodes of setpoint's own with. */
export interface Building {
  readonly file: SourceFile;
  /** The text of a scalar as the person wrote it. */
  readonly written: (text: string) => string;
}

/** The parser's nodes as setpoint's own. */
export function buildNode(yaml: YamlNode, building: Building): Node {
  const { file, written } = building;
  const at = yaml.range?.[0] ?? 0;
  const marked = isAlias(yaml) || yaml.tag !== undefined;
  if (isMap(yaml)) {
    const members = new Map<string, Member>();
    for (const pair of yaml.items) {
      const member = memberOf(pair as Pair<YamlNode, YamlNode | null>, at, building);
      // A key that is no text, and a second key alike, have been reported.
      if (member !== null && !members.has(member.key)) members.set(member.key, member);
    }
    return { kind: 'map', file, at, reported: marked, members };
  }
  if (isSeq(yaml)) {
    const items = yaml.items.map((item) => bareAt(buildNode(item as YamlNode, building), dashOf));
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
    value: typeof value === 'string' ? written(value) : scalarOf(value),
    bare,
  };
}

function memberOf(
  { key: keyNode, value }: Pair<YamlNode, YamlNode | null>,
  mapAt: number,
  building: Building,
): Member | null {
  if (!isScalar(keyNode) || typeof keyNode.value !== 'string') return null;
  const { file } = building;
  const keyAt = keyNode.range?.[0] ?? mapAt;
  const node = value === null ? bareScalar(file, keyAt, false) : buildNode(value, building);
  return {
    key: building.written(keyNode.value),
    keyFile: file,
    keyAt,
    node: bareAt(node, () => keyAt),
  };
}

function scalarOf(value: unknown): ScalarNode['value'] {
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function bareScalar(file: SourceFile, at: number, reported: boolean): ScalarNode {
  return { kind: 'scalar', file, at, reported, value: null, bare: true };
}

/** A key or dash without a value is reported where it stands: there is nothing behind it to point at. */
function bareAt(node: Node, place: (node: ScalarNode) => number): Node {
  return node.kind === 'scalar' && node.bare ? { ...node, at: place(node) } : node;
}

function dashOf({ file, at }: ScalarNode): number {
  const dash = file.text.lastIndexOf('-', at);
  return dash === -1 ? at : dash;
}
