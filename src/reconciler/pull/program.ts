import { argumentLine, envPairs, splitShellLine, variableLine } from '../desired/lines.ts';
import { type Node, readNodeText } from '../desired/node.ts';
import { mayHoldReference } from '../desired/references.ts';
import { createEntryIdentity, type McpList } from '../model/mcp.ts';
import { Identity, IdentityQueues, MASK, Secret, UnseenSecret } from '../model/secret.ts';
import {
  isList,
  isRecord,
  type Json,
  sameValue,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import type { Placeholder } from './placeholder.ts';
import {
  type ProgramText,
  writeProgramArgument,
  writeHeader,
  writeProgramVariable,
} from './program-text.ts';

/** An mcp entry of the service: its position among the entries, and its name in plans. */
export interface ObservedEntry {
  readonly list: McpList;
  readonly index: number;
  readonly segment: string;
  readonly entry: ValueRecord;
  /** The members that an entry of this list has there; null if these are all that a settings file can declare. */
  readonly members: readonly string[] | null;
  /** Resolved values of references. None of them is written literally. */
  readonly hidden: readonly Secret[];
  /** Reports whether a file can have it as written; absent if it is written as an entry of a list. */
  readonly isFit?: (value: Json) => boolean;
}

/** A value of the service as a settings file writes it, secrets as references. */
export interface WrittenValue {
  readonly value: Json;
  readonly placeholders: readonly Placeholder[];
}

/** The new arguments or variables of a declared program. A null value means that they stay as they are written. */
export interface ProgramPull {
  readonly value: Json | null;
  readonly placeholders: readonly Placeholder[];
  /** References that differ and stay; `key` is the variable, or null for an argument. */
  readonly kept: readonly { readonly key: string | null; readonly ref: string }[];
}

/** The arguments of a program that the file does not declare. Null if one of them is not text. */
export function newArguments(observed: ObservedEntry, args: readonly Value[]): WrittenValue | null {
  const written = collectProgramTexts(pullArgumentParts(observed, args));
  return written === null ? null : { ...written, value: written.texts.map(([, text]) => text) };
}

/** The variables of a program that the file does not declare. Null if one of them is not text. */
export function newVariables(observed: ObservedEntry, env: ValueRecord): WrittenValue | null {
  const written = collectProgramTexts(textParts(observed, 'env', env));
  return written === null ? null : { ...written, value: Object.fromEntries(written.texts) };
}

/**
 * The arguments of a declared program: those that the service has too stay as the file writes them. If a reference among them
 * differs, all of them stay, unless references may be written over. Null if one of them is not text.
 */
export function pullArguments(
  observed: ObservedEntry,
  node: Node | undefined,
  declared: Value,
  overReferences: boolean,
): ProgramPull | null {
  const line = readNodeText(node);
  const words =
    line === undefined
      ? listWordNodes(node).map((item) => readNodeText(item) ?? '')
      : splitShellLine(line);
  const unused = new Map((isList(declared) ? declared : []).map((value, index) => [index, value]));
  const sameArgument = argumentFinder(unused);
  const { args } = observed.entry;
  const texts: string[] = [];
  const placeholders: Placeholder[] = [];
  for (const { text, placeholder, value } of pullArgumentParts(
    observed,
    isList(args) ? args : [],
  )) {
    const index = sameArgument(value);
    if (index !== undefined) {
      texts.push(words[index] ?? '');
      unused.delete(index);
    } else if (text === null) return null;
    else {
      texts.push(text);
      placeholders.push(...placeholder);
    }
  }
  const refs = [...unused.values()].flatMap((one) => readOpenReference(one) ?? []);
  if (refs.length > 0 && !overReferences)
    return { value: null, placeholders: [], kept: refs.map((ref) => ({ key: null, ref })) };
  const value = line === undefined ? texts : (argumentLine(texts) ?? texts);
  return { value, placeholders, kept: [] };
}

/** Finds the first declared argument that is the same as one of the service and was not found before. */
function argumentFinder(
  declared: ReadonlyMap<number, Value>,
): (value: Value) => number | undefined {
  const queues = new IdentityQueues(
    [...declared].map(([index, value]) => [identityOfText(value), index] as const),
  );
  return (value) => queues.take(identityOfText(value));
}

/** Compares texts, secrets among them; every one of them shows as the mask. */
function identityOfText(value: Value): Identity {
  let identity = new Identity(MASK, typeof value === 'string' ? value : JSON.stringify(value));
  if (value instanceof Secret && !(value instanceof UnseenSecret)) {
    value.compareWith((text) => {
      identity = new Identity(MASK, text);
      return 'seen';
    });
  }
  return identity;
}

/**
 * The variables of a declared program, or the headers of a server, one by one: those written as references stay, unless references
 * may be written over; the others follow the service. Null if one of them is not text.
 */
export function pullProgramTexts(
  observed: ObservedEntry,
  member: 'env' | 'headers',
  node: Node | undefined,
  declared: Value,
  overReferences: boolean,
): ProgramPull | null {
  const line = readNodeText(node);
  const before = isRecord(declared) ? declared : {};
  const own = observed.entry[member];
  const env = isRecord(own) ? own : {};
  const found = new Map(textParts(observed, member, env).map((part) => [part.key, part]));
  const result: [string, string][] = [];
  const placeholders: Placeholder[] = [];
  const kept: { key: string; ref: string }[] = [];
  /** Takes the service's value, if there is one. False if it is not text. */
  const pull = (name: string): boolean => {
    const part = found.get(name);
    if (part === undefined) return true;
    if (part.text === null) return false;
    result.push([name, part.text]);
    placeholders.push(...part.placeholder);
    return true;
  };
  const written = readPairs(node, line);
  for (const [name, text] of written) {
    const ref = readOpenReference(before[name]);
    if (Object.hasOwn(env, name) && sameValue(before[name], env[name])) result.push([name, text]);
    else if (ref !== null && !overReferences) {
      result.push([name, text]);
      kept.push({ key: name, ref });
    } else if (!pull(name)) return null;
  }
  const known = new Set(written.map(([name]) => name));
  for (const name of Object.keys(env)) if (!known.has(name) && !pull(name)) return null;
  const value = line === undefined || member !== 'env' ? null : variableLine(result);
  return { value: value ?? Object.fromEntries(result), placeholders, kept };
}

function readPairs(node: Node | undefined, line: string | undefined): [string, string][] {
  if (line !== undefined) return envPairs(line).map(({ name, text }) => [name, text ?? '']);
  if (node?.kind !== 'map') return [];
  return [...node.members.values()].map(({ key, node: value }) => [key, readNodeText(value) ?? '']);
}

function listWordNodes(node: Node | undefined): readonly Node[] {
  return node?.kind === 'list' ? node.items : [];
}

function readOpenReference(value: Value | undefined): string | null {
  return value instanceof Secret && value.ref !== null && mayHoldReference(value.ref)
    ? value.ref
    : null;
}

/** An argument or variable of the service. `text` is how a file writes it, or null if it is not text. */
interface ProgramPart {
  readonly key: string;
  readonly text: string | null;
  /** The placeholder in the text; none if the text is written unchanged. */
  readonly placeholder: readonly Placeholder[];
  readonly value: Value;
}

/** Returns the name for an entry's variables: its address or its name; of two at one address, both. */
function nameVariableOwner({ list, segment, entry }: ObservedEntry): string {
  const { shown } = createEntryIdentity(list, entry);
  return segment === shown || segment !== entry['name'] ? shown : `${shown}/${segment}`;
}

function pullArgumentParts(observed: ObservedEntry, args: readonly Value[]): ProgramPart[] {
  const owner = nameVariableOwner(observed);
  return args.map((value, index) => {
    const text = writeProgramArgument(owner, args, index, observed.hidden);
    return programPart(observed, ['args', String(index)], text, value);
  });
}

function textParts(
  observed: ObservedEntry,
  member: 'env' | 'headers',
  texts: ValueRecord,
): ProgramPart[] {
  const owner = nameVariableOwner(observed);
  return Object.entries(texts).map(([name, value]) => {
    const text =
      member === 'env'
        ? writeProgramVariable(owner, name, value, observed.hidden)
        : writeHeader(owner, name, value);
    return programPart(observed, [member, name], text, value);
  });
}

function programPart(
  { list, index, segment }: ObservedEntry,
  [member, key]: readonly [string, string],
  text: ProgramText | null,
  value: Value,
): ProgramPart {
  const { written = null, marker = '', names = null } = text ?? {};
  const placeholder =
    written === null || names === null
      ? []
      : [
          {
            marker,
            path: ['mcp_config', list, segment, member, key],
            at: ['mcp_config', list, String(index), member, key],
            secret: value,
            written,
            names,
          },
        ];
  return { key, text: written, placeholder, value };
}

function collectProgramTexts(parts: readonly ProgramPart[]): {
  readonly texts: readonly (readonly [string, string])[];
  readonly placeholders: readonly Placeholder[];
} | null {
  const texts: [string, string][] = [];
  for (const { key, text } of parts) {
    if (text === null) return null;
    texts.push([key, text]);
  }
  return { texts, placeholders: parts.flatMap(({ placeholder }) => placeholder) };
}
