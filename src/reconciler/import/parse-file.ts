import { isDotenvProblem, parseDotenv } from '../model/dotenv.ts';
import { parse as parseJson } from 'lossless-json';
import { parseAllDocuments } from 'yaml';
import { type Foreign, foreignRecord, Variable } from './foreign.ts';

/** The format of a file. */
export type Form = 'toml' | 'json' | 'yaml' | 'variables';

/** The content of a file, document by document, or why it cannot be read: never with a word of it. */
export type ImportedContent =
  | { readonly form: Form; readonly documents: readonly Foreign[] }
  | { readonly problem: string; readonly line: number | null; readonly column: number | null };

const FORMS: readonly (readonly [RegExp, Form])[] = [
  [/\.toml$/, 'toml'],
  [/\.(?:json|jsonc|json5)$/, 'json'],
  [/\.ya?ml$/, 'yaml'],
  [/(?:^|\.)env(?:\.|$)|^env$/, 'variables'],
];

/** Returns the format of a file, by its name, else by its beginning. Null if neither shows it. */
export function detectForm(file: string, text: string): Form | null {
  const name = (file.split(/[\\/]/).at(-1) ?? '').toLowerCase();
  const byName = FORMS.find(([pattern]) => pattern.test(name))?.[1];
  if (byName !== undefined) return byName;
  if (/^\s*\{/.test(text)) return 'json';
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(?:#.*)?$/.test(line));
  if (lines.length === 0) return null;
  if (lines.some((line) => /^\s*\[[\w.-]+\]\s*(?:#.*)?$/.test(line))) return 'toml';
  return lines.every((line) => /^\s*(?:export\s+)?[A-Za-z_]\w*\s*=/.test(line))
    ? 'variables'
    : null;
}

/** Reads a text. What is nested deeper than 64 levels, or repeats itself by aliases, is a problem. */
export async function parseForeign(form: Form, text: string): Promise<ImportedContent> {
  const plain = text.replace(/^\uFEFF/, '');
  try {
    switch (form) {
      case 'toml':
        return { form, documents: [foreign(await parseToml(plain))] };
      case 'json':
        return { form, documents: [foreign(parseForeignJson(plain))] };
      case 'yaml':
        return { form, documents: parseYamlDocuments(plain).map((one) => foreign(one)) };
      case 'variables':
        return parseEnvFile(plain);
    }
  } catch (thrown) {
    return describeParseProblem(form, plain, thrown);
  }
}

async function parseToml(text: string): Promise<unknown> {
  // Loaded for such files alone: no other command reads TOML.
  const { parse } = await import('smol-toml');
  return parse(text, { integersAsBigInt: 'asNeeded', maxDepth: MAX_DEPTH });
}

function parseForeignJson(text: string): unknown {
  if (measureDepth(text) > MAX_DEPTH) throw new TooDeep();
  return parseJson(withoutComments(text), null, { parseNumber: Number });
}

function parseYamlDocuments(text: string): unknown[] {
  const documents = parseAllDocuments(text, { merge: true, logLevel: 'error' });
  return [...documents].map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  });
}

/** The variables with the references in them as they are written. */
function parseEnvFile(text: string): ImportedContent {
  const read = parseDotenv(text, null);
  if (isDotenvProblem(read)) return { problem: read.problem, line: read.line, column: null };
  const entries = read.map(({ name, value }) => [name, new Variable(name, value)] as const);
  return { form: 'variables', documents: [foreignRecord(entries)] };
}

const MAX_DEPTH = 64;

class TooDeep extends Error {}

/** The brackets that are open at once, at most: what is in quotes counts not. */
function measureDepth(text: string): number {
  let [open, most] = [0, 0];
  for (const [char] of text.matchAll(/"(?:[^"\\]+|\\.)*"?|[[{]|[\]}]/gs)) {
    if (char === '[' || char === '{') open += 1;
    else if (char === ']' || char === '}') open -= 1;
    most = Math.max(most, open);
  }
  return most;
}

/** JSON of editors without its comments and its commas before a closing bracket; every other character stays in its place. */
export function withoutComments(text: string): string {
  const blank = (part: string): string => part.replaceAll(/[^\r\n]/g, ' ');
  return text
    .replaceAll(/"(?:[^"\\\r\n]+|\\.)*"?|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g, (part) =>
      part.startsWith('/') ? blank(part) : part,
    )
    .replaceAll(/"(?:[^"\\\r\n]+|\\.)*"?|,(?=\s*[\]}])/g, (part) => (part === ',' ? ' ' : part));
}

/** Converts the result of a parser to plain values: numbers as such, dates as their text. */
function foreign(value: unknown, depth = 0): Foreign {
  if (depth > MAX_DEPTH) throw new TooDeep();
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return String(value);
    case 'object':
      if (value === null) return null;
      if (Array.isArray(value)) return value.map((one) => foreign(one, depth + 1));
      if (value instanceof Date) return value.toISOString();
      return foreignRecord(
        Object.entries(value).map(([key, one]) => [key, foreign(one, depth + 1)] as const),
      );
    default:
      return null;
  }
}

const NAMES: Readonly<Record<Form, string>> = {
  toml: 'TOML',
  json: 'JSON',
  yaml: 'YAML',
  variables: 'lines NAME=value',
};

/** Messages of parsers quote the file, so only the place is used. */
function describeParseProblem(form: Form, text: string, thrown: unknown): ImportedContent {
  const isTooDeep = thrown instanceof TooDeep || thrown instanceof RangeError;
  if (isTooDeep)
    return { problem: `nested deeper than ${MAX_DEPTH} levels`, line: null, column: null };
  if (thrown instanceof ReferenceError)
    return { problem: 'made of aliases that repeat too much', line: null, column: null };
  const { line = null, column = null } = readErrorPlace(text, thrown);
  return { problem: `not ${NAMES[form]}`, line, column };
}

interface At {
  readonly line?: number;
  readonly column?: number;
}

function readErrorPlace(text: string, thrown: unknown): At {
  if (typeof thrown !== 'object' || thrown === null) return {};
  if ('line' in thrown && 'column' in thrown) return thrown as At;
  if ('linePos' in thrown) {
    const [first] =
      (thrown as { linePos?: readonly { line: number; col: number }[] }).linePos ?? [];
    return first === undefined ? {} : { line: first.line, column: first.col };
  }
  const message = 'message' in thrown ? String(thrown.message) : '';
  const position = /at position (\d+)$/.exec(message)?.[1];
  if (position === undefined) return {};
  const before = text.slice(0, Number(position)).split(/\r?\n/);
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
