import { findTextKind } from './blocks.ts';
import type { Node } from './node.ts';
import {
  hasValidReference,
  isMalformed,
  listReferences,
  mayHoldReference,
  parseTemplate,
  type Reference,
} from './references.ts';
import { validate } from './schema-validator.gen.ts';
import type { ReferenceReport } from '../model/documents.gen.ts';
import type { FieldName } from '../model/field.ts';
import { looksLikeMask } from '../model/secret-words.ts';
import { type Identity, type Scalar, Secret, UnseenSecret } from '../model/secret.ts';
import {
  entryPaths,
  isEntryPath,
  isMcpList,
  createMemberPath,
  listPathedEntries,
  type PathOfEntry,
} from '../model/mcp.ts';
import { isUnmanaged, type Path } from '../model/path.ts';
import { secretName, type ReferenceSource, type RequestedValue } from '../model/ports.ts';
import type { MissingReference } from '../model/state.ts';
import { isList, isRecord, type Value } from '../model/value.ts';

/** A text with its references resolved; `ref` is the text as the file writes it, or null if it holds no reference. */
export type ResolvedText = { readonly text: string; readonly ref: string | null };

/** A text with a reference that has no value: `missing` is that reference, `literals` the text around all of them. */
export interface Missing {
  readonly problem: string;
  readonly ref: string;
  readonly missing: string | null;
  readonly literals: readonly string[];
}

/** Resolves the references in a text. No message holds a value. */
export function lookUp(text: string, source: ReferenceSource): ResolvedText | Missing {
  if (source.requested !== undefined)
    return resolveRequest(text, source.requested(text), source.resolved);
  if (!mayHoldReference(text)) return { text, ref: null };
  const parts = parseTemplate(text);
  if (isMalformed(parts))
    return { problem: parts.message, ref: text, missing: text, literals: ['', ''] };
  const literals = [''];
  let result = '';
  let missing: Pick<Missing, 'problem' | 'missing'> | null = null;
  for (const part of parts) {
    if (typeof part === 'string') {
      result += part;
      literals[literals.length - 1] += part;
      continue;
    }
    literals.push('');
    const found = source.withheld === true ? WITHHELD : lookUpValue(part, source);
    if ('text' in found) result += found.text;
    else
      missing ??= {
        problem: found.problem,
        missing: source.withheld === true ? null : part.text,
      };
  }
  if (missing !== null) return { ...missing, ref: text, literals };
  if (literals.length === 1) return { text: result, ref: null };
  source.resolved?.(result, text);
  return { text: result, ref: text };
}

/** Resolves a text of an object of a cluster: a request as a whole, or data, in which only `$${` has a meaning. */
function resolveRequest(
  text: string,
  requested: RequestedValue | null,
  note: ReferenceSource['resolved'],
): ResolvedText | Missing {
  if (requested === null)
    return hasValidReference(text)
      ? { problem: 'nothing requests it', ref: text, missing: text, literals: ['', ''] }
      : { text: text.replaceAll('$${', () => '${'), ref: null };
  const { ref } = requested;
  const found = 'problem' in requested ? requested : maskOr(requested.text, `the ${ref},`);
  if ('problem' in found) return { problem: found.problem, ref, missing: ref, literals: ['', ''] };
  note?.(found.text, ref);
  return { text: found.text, ref };
}

const NOT_ASKED = { problem: 'its secret command was not run' };
const WITHHELD = { problem: 'masked, cannot be compared' };

/** The value of a text whose reference has none, so that everything around it can be compared. */
export function unseen(
  { problem, ref, missing, literals }: Missing,
  identity: Identity | null = null,
): UnseenSecret {
  return new UnseenSecret(ref, identity, { reason: problem, missing, literals });
}

/** A text unchanged, or as a secret if it came from a reference. */
export function resolveText(text: string, source: ReferenceSource): string | Secret {
  const found = lookUp(text, source);
  if ('problem' in found) return unseen(found);
  return found.ref === null ? found.text : new Secret(found.text, found.ref);
}

function lookUpValue(
  reference: Reference,
  source: ReferenceSource,
): { text: string } | { problem: string } {
  if (reference.kind === 'env') {
    const value = source.variable(reference.name);
    const blank = value?.trim() === '';
    const text = value === undefined || blank ? reference.fallback : value;
    if (text === null)
      return { problem: `the variable ${reference.name} is ${blank ? 'empty' : 'not set'}` };
    return maskOr(text, `the variable ${reference.name}`);
  }
  if (reference.kind === 'secret') {
    const { command, path } = reference;
    const found = source.secret?.({ command, path }) ?? NOT_ASKED;
    return 'problem' in found
      ? found
      : maskOr(found.text, `what the secret command ${command} gave`);
  }
  const file = source.file(reference.path);
  if ('problem' in file) return file;
  if (file.text.trim() === '') return { problem: `the file ${reference.path} is empty` };
  return maskOr(file.text, `the file ${reference.path}`);
}

function maskOr(text: string, what: string): { text: string } | { problem: string } {
  if (!looksLikeMask(text)) return { text };
  return { problem: `${what} contains a mask, not a value` };
}

/**
 * The value of a number or boolean field that is written as a reference: only `true`, `false`, or a JSON number within the
 * limits of the field.
 */
export function readStrictly(name: FieldName, text: string, source: ReferenceSource): Secret {
  return readTyped(text, source, (value) => isValidSettings({ [name]: value }));
}

/** Reads the timeout of an mcp entry in the same way. */
export function readTimeout(text: string, source: ReferenceSource): Secret {
  const entry = (timeout: Scalar) => ({
    mcp_config: { shttp_servers: [{ url: 'https://x', timeout }] },
  });
  return readTyped(text, source, (value) => isValidSettings(entry(value)));
}

/** A value that is written as a reference and is not a text there: only `true`, `false`, or a JSON number that the place accepts. */
export function readTyped(
  text: string,
  source: ReferenceSource,
  accepts: (value: Scalar) => boolean,
): Secret {
  const found = lookUp(text, source);
  if ('problem' in found) return unseen({ ...found, literals: ['', ''] });
  const value = parseScalar(found.text);
  const ref = found.ref ?? text;
  if (value !== null && accepts(value)) return new Secret(value, ref);
  return unseen({ problem: UNFIT, ref, missing: ref, literals: ['', ''] });
}

const UNFIT = 'its value does not fit the field';

/** Reads the transport of an mcp entry. From a reference it must be one that the entry can have; empty text is none. */
export function readTransport(
  text: string,
  accepted: readonly string[],
  source: ReferenceSource,
): Value {
  const value = resolveText(text, source);
  const isFit = (one: string): boolean => one === '' || accepted.includes(one);
  if (!(value instanceof Secret) || value instanceof UnseenSecret || value.fits(isFit))
    return value;
  const ref = value.ref ?? text;
  return unseen({ problem: UNFIT, ref, missing: ref, literals: ['', ''] });
}

function parseScalar(text: string): Scalar | null {
  if (text === 'true' || text === 'false') return text === 'true';
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))
    ? number
    : null;
}

function isValidSettings(settings: Record<string, unknown>): boolean {
  return validate({ version: 1, settings });
}

/** Looks up every reference in a part of a file, for a source that notes the values. What is `known`, the same node, is left out. */
export function lookUpAll(
  node: Node | undefined,
  source: ReferenceSource,
  known: Node | undefined,
): void {
  if (node === undefined || node === known) return;
  if (node.kind === 'scalar') {
    if (typeof node.value === 'string') lookUp(node.value, source);
  } else if (node.kind === 'list') {
    for (const item of node.items) lookUpAll(item, source, undefined);
  } else {
    const before = known?.kind === 'map' ? known.members : null;
    for (const [key, member] of node.members)
      lookUpAll(member.node, source, before?.get(key)?.node);
  }
}

/** The references in a part of a file, each once, with whether it has a value. No value is in it. */
export function referenceReports(
  node: Node | undefined,
  filePath: Path,
  source: ReferenceSource,
): ReferenceReport[] {
  const found = new Map<string, Reference>();
  if (node !== undefined)
    for (const reference of listNodeReferences(node, filePath))
      found.set(reference.text, reference);
  return [...found.values()].map((reference) => referenceReport(reference, source));
}

function referenceReport(reference: Reference, source: ReferenceSource): ReferenceReport {
  const { text: ref, kind } = reference;
  const found = lookUp(ref, source);
  const problem = 'problem' in found ? found.problem : null;
  if (reference.kind !== 'env') {
    const name = reference.kind === 'file' ? reference.path : secretName(reference);
    return { ref, kind, name, set: problem === null, problem };
  }
  const set = (source.variable(reference.name) ?? '').trim() !== '';
  return { ref, kind, name: reference.name, set, problem };
}

function listNodeReferences(node: Node, filePath: Path): Reference[] {
  if (node.kind === 'list')
    return node.items.flatMap((item, index) =>
      listNodeReferences(item, [...filePath, String(index)]),
    );
  if (node.kind === 'map')
    return [...node.members.values()].flatMap((m) =>
      listNodeReferences(m.node, [...filePath, m.key]),
    );
  if (typeof node.value !== 'string' || findTextKind(filePath) === 'plain') return [];
  return [...listReferences(node.value)];
}

/** The references without a value inside a declared value, each with the path of its own member. */
export function missingReferences(
  path: Path,
  value: Value,
  unmanaged: readonly Path[],
  pathOf: PathOfEntry = entryPaths(),
): MissingReference[] {
  if (isUnmanaged(unmanaged, path)) return [];
  if (value instanceof UnseenSecret) {
    const { reason, missing } = value.unseen;
    return missing === null ? [] : [{ path, reason, ref: missing }];
  }
  const [field, list] = path;
  if (isList(value)) {
    if (field === 'mcp_config' && path.length === 2 && isMcpList(list))
      return listPathedEntries({ [list]: value }, pathOf, [list]).flatMap(({ entry, path: own }) =>
        missingReferences(own, entry, unmanaged),
      );
    return value.flatMap((item, index) =>
      missingReferences([...path, String(index)], item, unmanaged),
    );
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = isEntryPath(path) ? createMemberPath(path, [key]) : [...path, key];
    return missingReferences(own, inner, unmanaged, pathOf);
  });
}
