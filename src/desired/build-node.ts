import { isMap, isScalar, isSeq, type Node as YamlNode } from 'yaml';
import type { Member, Node, ScalarNode } from './node.ts';
import type { Finding } from './report.ts';
import type { SourceFile } from './source-file.ts';

type Report = (at: number, finding: Finding) => void;

/** The parser's nodes as setpoint's own. Numbers that would not arrive as they are written are reported. */
export function buildNode(file: SourceFile, yaml: YamlNode, report: Report): Node {
  const at = yaml.range?.[0] ?? 0;
  if (isMap(yaml)) {
    const members = new Map<string, Member>();
    for (const pair of yaml.items) {
      const keyNode = isScalar(pair.key) ? pair.key : null;
      const key = typeof keyNode?.value === 'string' ? keyNode.value : '';
      const keyAt = keyNode?.range?.[0] ?? at;
      const node =
        pair.value === null
          ? bareScalar(file, keyAt)
          : buildNode(file, pair.value as YamlNode, report);
      members.set(key, { key, keyFile: file, keyAt, node: bareAtKey(node, keyAt) });
    }
    return { kind: 'map', file, at, members };
  }
  if (isSeq(yaml)) {
    return {
      kind: 'list',
      file,
      at,
      items: yaml.items.map((item) => buildNode(file, item as YamlNode, report)),
    };
  }
  if (!isScalar(yaml)) return bareScalar(file, at);
  const { value } = yaml;
  if (typeof value === 'number') checkNumber(value, at, report);
  const bare = value === null && (yaml.source ?? '') === '';
  return { kind: 'scalar', file, at, value: scalarOf(value), bare };
}

function scalarOf(value: unknown): ScalarNode['value'] {
  const plain =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return plain ? value : null;
}

function bareScalar(file: SourceFile, at: number): ScalarNode {
  return { kind: 'scalar', file, at, value: null, bare: true };
}

/** A key without a value is reported where the key stands: there is nothing behind it to point at. */
function bareAtKey(node: Node, keyAt: number): Node {
  return node.kind === 'scalar' && node.bare ? { ...node, at: keyAt } : node;
}

function checkNumber(value: number, at: number, report: Report): void {
  if (!Number.isFinite(value)) {
    report(at, {
      code: 'number-not-exact',
      message: 'This number has no place in JSON.',
      hint: 'Write a finite number.',
    });
  } else if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    report(at, {
      code: 'number-not-exact',
      message: 'This number is too large to arrive as it is written.',
      hint: 'Write a number below 9007199254740992.',
    });
  }
}
