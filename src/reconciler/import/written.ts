import { isForbiddenVariable } from '../desired/pipeline-variables.ts';
import { parseTemplate, type Reference } from '../desired/references.ts';
import { isNamedKey, settingsNodes, takesText } from '../desired/schema-lookup.ts';
import { isSecretNode } from '../model/native-schema.ts';
import { findPathFacts, type TextUse } from '../model/path-facts.ts';
import type { Path } from '../model/path.ts';
import { isSecretText, isSensitiveName } from '../model/secret-words.ts';
import type { Secret } from '../model/secret.ts';
import type { Json } from '../model/value.ts';
import { isHarmlessValue } from '../pull/program-text.ts';
import { escapeReferences, hasHiddenSecret } from '../pull/writable.ts';
import { looksSecret, writeNested, type WrittenPlace } from '../pull/written-deep.ts';
import {
  type Foreign,
  type ForeignRecord,
  type ForeignScalar,
  type ForeignText,
  isForeignText,
  readForeignText,
  Template,
  Variable,
} from './foreign.ts';
import type { Names } from './variable-names.ts';

/** The context for writing all values. */
export interface Writing {
  readonly names: Names;
  /** The known secrets, wherever they are: no file contains one of these texts. */
  readonly hidden: readonly Secret[];
}

/** A place of a settings file: the schema path under `settings`, and the names for the variable of a reference there or under it. */
type Place = Pick<WrittenPlace, 'schema' | 'names'>;

/** A value as a file writes it: what is a secret, or may be one, as a reference. Undefined if the name of something in it may hold one. */
export function writeForeignValue(
  value: Foreign,
  place: Place,
  writing: Writing,
): Json | undefined {
  return writeNested<ForeignScalar>(
    value,
    (scalar, path) =>
      writeForeignScalar(scalar, [...place.schema, ...path], place.names(path), writing),
    (name) => isOpenName(name, writing),
  );
}

/** Reports whether a name may be written and shown. */
export function isOpenName(name: string, { hidden }: Pick<Writing, 'hidden'>): boolean {
  return !isSecretText(name) && !hasHiddenSecret(name, hidden);
}

/** A scalar at a place: at that of a secret, and where it looks like one, a reference. */
function writeForeignScalar(
  value: ForeignScalar,
  schema: Path,
  names: readonly string[],
  writing: Writing,
): Json {
  const isSecret = isSecretSchemaPath(schema);
  if (typeof value === 'number')
    return isSecret || hasHiddenSecret(value, writing.hidden)
      ? writing.names.referenceTo(String(value), names)
      : value;
  if (!isForeignText(value)) return value;
  const isOpen = !isSecret && !isPossibleSecretText(readOpenText(value, 'ref'), schema);
  const isTyped = !(value instanceof Template) && !takesText(settingsNodes(schema));
  const typed = isTyped ? parseTypedText(readForeignText(value)) : '';
  return typeof typed === 'string' || !isShowableText(value, isOpen, writing)
    ? writeForeignText(value, isOpen, names, writing)
    : typed;
}

/** A text as a file writes it: unchanged where it is open and contains no known secret, else as a reference. */
export function writeForeignText(
  value: ForeignText,
  isOpen: boolean,
  names: readonly string[],
  writing: Writing,
): string {
  if (!isShowableText(value, isOpen, writing)) return referenceFor(value, names, writing);
  return value instanceof Template ? value.text : escapeReferences(readForeignText(value));
}

function isShowableText(value: ForeignText, isOpen: boolean, { hidden }: Writing): boolean {
  return isOpen && !hasHiddenSecret(readForeignText(value), hidden);
}

const OPEN: ReadonlySet<TextUse> = new Set(['name', 'url', 'endpoint', 'host', 'prose']);

/** Whether what is at a place is no secret, whatever the names around it. */
export function isOpenUse(schema: Path): boolean {
  return OPEN.has(findPathFacts(schema).use);
}

/** Reports whether a value is a secret by its place: by the schema, or by the name of a key or header that the schema does not know. */
function isSecretSchemaPath(schema: Path): boolean {
  const { secret, use } = findPathFacts(schema);
  if (secret || isSecretNode(settingsNodes(schema))) return true;
  if (OPEN.has(use)) return false;
  return schema.some(
    (key, index) =>
      !isNamedKey(schema.slice(0, index + 1)) &&
      (isSensitiveName(key) || /headers?$/i.test(schema[index - 1] ?? '')),
  );
}

/** Reports whether a text may be a secret: text outside the schema is open only in a few harmless forms. */
function isPossibleSecretText(text: string, schema: Path): boolean {
  if (text === '') return false;
  const key = schema.findLast((one) => !/^\d+$/.test(one)) ?? '';
  const isKnown = isOpenUse(schema) || isNamedKey(schema.slice(0, schema.lastIndexOf(key) + 1));
  return looksSecret(text, schema) || (!isKnown && !isHarmlessValue(key, text));
}

/** The reference for a text: to the variable that has it, if one does. */
export function referenceFor(
  value: ForeignText,
  names: readonly string[],
  writing: Writing,
): string {
  if (value instanceof Template)
    return findTemplateReference(value) ?? writing.names.referenceTo(value.text, names);
  if (value instanceof Variable && !isForbiddenVariable(value.name)) return `\${env:${value.name}}`;
  return writing.names.referenceTo(readForeignText(value), names);
}

/** A number or truth value that a text spells; else the text. */
function parseTypedText(text: string): Json {
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return /^-?\d{1,15}(?:\.\d{1,6})?$/.test(text) ? Number(text) : text;
}

/** The only reference of a template that is nothing else, without what stands in for it. Null if it is more. */
function findTemplateReference({ text }: Template): string | null {
  const parts = parseTemplate(text);
  if (!Array.isArray(parts) || parts.length !== 1) return null;
  const [part] = parts as readonly (string | Reference)[];
  return typeof part === 'object' && part.kind === 'env' ? `\${env:${part.name}}` : null;
}

/** A text with a word instead of each reference, and its default: the parts of it that are written unchanged. */
export function readOpenText(value: ForeignText, word = ''): string {
  const text = readForeignText(value);
  const parts = value instanceof Template ? parseTemplate(text) : null;
  if (!Array.isArray(parts)) return text;
  return (parts as readonly (string | Reference)[])
    .map((part) => {
      if (typeof part === 'string') return part;
      const fallback = part.kind === 'env' ? part.fallback : null;
      return fallback === null ? word : ` ${fallback} `;
    })
    .join('');
}

/** Something of a file, and where a settings file declares it: `settings` and a path, or a block and the name of an item. */
export interface Finding {
  readonly to: Path;
  readonly value: Foreign;
  /** The keys that lead to it in its file. */
  readonly at: Path;
}

/** Something of a file that a settings file does not declare. */
interface SkippedContent {
  readonly at: Path;
  readonly reason: string;
  /** True for the key of the server itself, which `--server` takes. */
  readonly isServerKey?: true;
}

/** The findings in a file for a settings file. */
export interface Findings {
  readonly taken: Finding[];
  readonly left: SkippedContent[];
}

/** The reasons why a value is not taken. */
export const NOT_TAKEN = {
  other: 'no setting of the service',
  values:
    'neither a compose file nor an object of Kubernetes; of a chart, give what helm template writes',
  fallback: 'its default is not taken: a secret has none in a settings file',
  program: 'a form of one program alone; write it as in mcp.json',
  process: 'configures the process of the server, not its settings',
  off: 'switched off there',
  shape: 'not of the form that it has there',
  name: 'its name may contain a secret',
  sensitive: 'may contain a secret, but a settings file takes no reference here',
  unfit: 'a settings file cannot contain it',
  unit: 'seconds to some agents, milliseconds to others; the settings have seconds',
  absent: 'not there',
} as const;

/** Gathers the findings of one file. */
export class Gathering implements Findings {
  readonly taken: Finding[] = [];
  readonly left: SkippedContent[] = [];

  take(to: Path, value: Foreign, at: Path): void {
    this.taken.push({ to, value, at });
  }

  leave(at: Path, reason: string): void {
    this.left.push({ at, reason });
  }

  leaveServerKey(at: Path): void {
    this.left.push({ at, reason: 'the key of the server itself', isServerKey: true });
  }

  /** Leaves every member of a map that is not known. */
  leaveOthers(record: ForeignRecord, known: ReadonlySet<string>, at: Path, reason: string): void {
    for (const key of Object.keys(record)) if (!known.has(key)) this.leave([...at, key], reason);
  }
}
