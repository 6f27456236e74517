import type { ReferenceReport } from '../model/explain.ts';
import type { Path } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { lookUp } from './lookup.ts';
import type { Node } from './node.ts';
import { placeOf } from './reference-place.ts';
import { isMalformed, parseTemplate, type Reference } from './references.ts';

/** The references in a part of a file, each once, with whether what they name has a value. No value is in it. */
export function referenceReports(
  node: Node | undefined,
  filePath: Path,
  source: ReferenceSource,
): ReferenceReport[] {
  const found = new Map<string, Reference>();
  if (node !== undefined)
    for (const reference of referencesIn(node, filePath)) found.set(reference.text, reference);
  return [...found.values()].map((reference) => report(reference, source));
}

function report(reference: Reference, source: ReferenceSource): ReferenceReport {
  const { text: ref, kind } = reference;
  const looked = lookUp(ref, source);
  const problem = 'problem' in looked ? looked.problem : null;
  if (reference.kind === 'file')
    return { ref, kind, name: reference.path, set: problem === null, problem };
  const set = (source.variable(reference.name) ?? '').trim() !== '';
  return { ref, kind, name: reference.name, set, problem };
}

function referencesIn(node: Node, filePath: Path): Reference[] {
  if (node.kind === 'list')
    return node.items.flatMap((item, index) => referencesIn(item, [...filePath, String(index)]));
  if (node.kind === 'map')
    return [...node.members.values()].flatMap((m) => referencesIn(m.node, [...filePath, m.key]));
  if (typeof node.value !== 'string' || placeOf(filePath) === 'plain') return [];
  const parts = parseTemplate(node.value);
  return isMalformed(parts) ? [] : parts.filter((part) => typeof part === 'object');
}
