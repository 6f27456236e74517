import { SetpointError, SNAPSHOT_COMMAND } from '../model/error.ts';
import type { ObservedDocument, ValidationDocument } from '../model/documents.gen.ts';
import type { OutcomeDocument } from '../model/outcome.ts';
import type { PlanDocument } from '../model/plan.ts';
import { recountSummary } from '../model/summary.ts';
import type { Json } from '../model/value.ts';
import { readPackageFile, readText } from '../host/read-text.ts';
import { prescan } from '../service/json.ts';

interface SavedDocuments {
  readonly plan: PlanDocument;
  readonly observed: ObservedDocument;
  readonly outcome: OutcomeDocument;
  readonly validation: ValidationDocument;
}

type Kind = keyof SavedDocuments;

const LARGEST_DOCUMENT = 64 * 1024 * 1024;

/**
 * Reads a document that setpoint printed as JSON, of one of the given kinds: of a file, or the document itself. Only its form is
 * trusted: anyone may have written it. Throws file-unreadable, of a document usage; no message contains anything from it.
 */
export async function readSaved<K extends Kind>(
  source: string | SavedDocuments[K],
  kinds: readonly K[],
): Promise<SavedDocuments[K]> {
  const document = typeof source === 'string' ? parseSavedDocument(source) : source;
  const kind = kinds.find((known) => known === documentKind(document));
  if (kind === undefined || !(await isValidDocument(kind, document))) throw notSaved(source, kinds);
  return withLaterMembers(kind, document) as SavedDocuments[K];
}

/** The members that documents of an earlier version lack. Without digests a document approves nothing, and cannot be planned against. */
const LATER: Readonly<Record<Kind, Readonly<Record<'root' | 'environment', object>>>> = {
  plan: { root: { salt: null, shard: null }, environment: { digests: null, refusals: [] } },
  observed: { root: { salt: null }, environment: { digests: null } },
  outcome: { root: { shard: null }, environment: { refusals: [] } },
  validation: { root: {}, environment: {} },
};

function withLaterMembers(kind: Kind, document: unknown): unknown {
  if (!isDocumentObject(document) || !Array.isArray(document['environments'])) return document;
  const { root, environment } = LATER[kind];
  const environments = document['environments'].map((one: unknown) =>
    isDocumentObject(one) ? { ...environment, ...one } : one,
  );
  // A summary from a file could contain anything.
  return recountSummary({ ...root, ...document, environments });
}

function isDocumentObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function parseSavedDocument(path: string): unknown {
  const read = readText(path, LARGEST_DOCUMENT);
  if (!('text' in read) || prescan(read.text) !== null) return null;
  try {
    return JSON.parse(read.text);
  } catch {
    return null;
  }
}

function documentKind(document: unknown): unknown {
  return typeof document === 'object' && document !== null && 'kind' in document
    ? document.kind
    : null;
}

const judges = new Map<Kind, Promise<(document: unknown) => boolean>>();

async function isValidDocument(kind: Kind, document: unknown): Promise<boolean> {
  const judge = judges.get(kind) ?? createDocumentJudge(kind);
  judges.set(kind, judge);
  return (await judge)(document);
}

async function createDocumentJudge(kind: Kind): Promise<(document: unknown) => boolean> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const schema = JSON.parse(readPackageFile(`schemas/${kind}.schema.json`)) as Json;
  const ajv = new Ajv2020({ strict: false, messages: false });
  const fits = ajv.compile(asRead(schema) as object);
  return (document) => fits(document);
}

/** A schema for reading: it accepts members and codes that a later version of the format adds, and any summary. */
function asRead(schema: Json, name = ''): Json {
  if (Array.isArray(schema)) return schema.map((item) => asRead(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  if (name === 'format_version') return { type: 'string', pattern: String.raw`^1\.\d+$` };
  if (name === 'code') return { type: 'string' };
  if (name === 'summary') return {};
  const members = Object.entries(schema).filter(
    ([key, value]) => !(key === 'additionalProperties' && value === false),
  );
  return Object.fromEntries(
    members.map(([key, value]) => [
      key,
      key === 'required' ? omitAddedMembers(value) : asRead(value, key),
    ]),
  );
}

const ADDED: ReadonlySet<Json> = new Set(['salt', 'shard', 'digests', 'refusals', 'summary']);

/** The required members that earlier versions have as well. */
function omitAddedMembers(required: Json): Json {
  return Array.isArray(required) ? required.filter((name) => !ADDED.has(name)) : required;
}

const NAMES = {
  plan: { name: 'plan', command: 'setpoint plan --out FILE' },
  observed: { name: 'snapshot', command: `${SNAPSHOT_COMMAND}FILE` },
  outcome: { name: 'outcome', command: 'setpoint apply -o json=FILE' },
  validation: { name: 'validation', command: 'setpoint validate -o json=FILE' },
} satisfies Record<Kind, object>;

function notSaved(source: unknown, kinds: readonly Kind[]): SetpointError {
  const saved = kinds.includes('observed') ? '' : 'saved ';
  const names = saved + kinds.map((kind) => NAMES[kind].name).join(' or ');
  const commands = kinds.map((kind) => NAMES[kind].command).join(' or ');
  const [code, name] =
    typeof source === 'string'
      ? (['file-unreadable', source] as const)
      : (['usage', 'The document'] as const);
  return new SetpointError(code, `${name} is not a ${names} of setpoint.`, {
    hint: `It is written by ${commands}, in a format_version of 1.`,
  });
}
