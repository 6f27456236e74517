import { faultsIn, inWords, type Fault } from '../model/json-schema.ts';
import { isPart, isSecretPlace } from '../model/native-schema.ts';
import type { Path } from '../model/path.ts';
import { lockedNodes, type SchemaLock } from '../model/schema-lock.ts';
import { mayHoldReference } from './references.ts';
import { nodeAt, plainValue, type Node } from './node.ts';
import type { PlacedFinding } from './source-file.ts';

/**
 * What a lock leaves of the faults of native parts, and what it finds where it has a member that the known schema lacks. `values` are
 * values that are not as the lock says.
 */
export function judgedByLock(
  faults: readonly Fault[],
  settings: Node,
  lock: SchemaLock,
): { readonly faults: readonly Fault[]; readonly values: readonly Fault[] } {
  if (lock.open === true)
    return { faults: faults.filter(({ kind }) => kind !== 'unknown'), values: [] };
  const judged = faults.map((fault): readonly [Fault, readonly Fault[] | null] => {
    const node = fault.kind === 'unknown' ? nodeAt(settings, fault.path) : undefined;
    const found = node === undefined ? null : lockedFaults(fault.path, node, lock);
    return [fault, found];
  });
  const found = judged.flatMap(([, own]) => own ?? []);
  const left = judged.flatMap(([fault, own]) => (own === null ? [fault] : []));
  return {
    faults: [...left, ...found.filter(({ kind }) => kind === 'unknown')],
    values: found.filter(({ kind }) => kind !== 'unknown'),
  };
}

/** The faults of a value that only a lock has a place for; null if it has none either. */
function lockedFaults(path: Path, node: Node, lock: SchemaLock): readonly Fault[] | null {
  const nodes = lockedNodes(lock, path);
  if (nodes.length === 0) return null;
  if (isPart(nodes) && node.kind === 'map') {
    return [...node.members.values()].flatMap(({ key, node: inner }) => {
      const at = [...path, key];
      return lockedFaults(at, inner, lock) ?? [{ path: at, kind: 'unknown', expected: {} }];
    });
  }
  const isReference =
    node.kind === 'scalar' && typeof node.value === 'string' && mayHoldReference(node.value);
  // A secret that is written out is found as such.
  if (isReference || isSecretPlace(nodes)) return [];
  return faultsIn(plainValue(node), { anyOf: nodes }, {}, path);
}

/** A value that is not as the lock says. `path` is from the root of the file. */
export function lockedFinding(
  root: Node,
  path: readonly string[],
  { expected }: Fault,
): PlacedFinding[] {
  const node = nodeAt(root, path);
  if (node === undefined) return [];
  const finding = {
    code: 'wrong-type',
    message: `${path.at(-1) ?? 'This'} must be ${inWords(expected, {})}, as the schema lock has it from the server.`,
    hint: 'Change the value. If the server has changed, run setpoint schema pull.',
    path,
  } as const;
  return [{ file: node.file, at: node.at, finding }];
}
