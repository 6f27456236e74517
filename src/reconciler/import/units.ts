import { MODEL_PART } from '../model/field.ts';
import type { NewVariable } from '../model/documents.gen.ts';
import { type Path } from '../model/path.ts';
import { holdsSecretText, isSecretText, isSensitiveName } from '../model/secret-words.ts';
import { Secret } from '../model/secret.ts';
import type { Json } from '../model/value.ts';
import { variableName } from '../pull/placeholder.ts';
import { isHidden } from '../pull/writable.ts';
import type { JsonObject } from '../yaml-edit/source.ts';
import {
  type Finding,
  NOT_TAKEN,
  isOpenName,
  referenceFor,
  type Writing,
  writtenValue,
} from './written.ts';
import { type Foreign, isForeignRecord, isText, textOf, textsOf } from './foreign.ts';
import { readAt } from './names.ts';
import { writtenServer } from './written-server.ts';

/** What a settings file declares of one finding: a value under `settings`, or an item of a block. */
export interface Unit {
  readonly to: Path;
  readonly value: Json;
  readonly variables: readonly NewVariable[];
}

/** A finding as a settings file declares it, or why it does not. */
export function unitOf(
  { to, value }: Finding,
  writing: Writing,
): Unit | { readonly reason: string } {
  const [block = '', name = '', ...inner] = to;
  if (block !== 'settings' && !isOpenName(name, writing)) return { reason: NOT_TAKEN.name };
  const written = writtenIn(block, name, inner, value, writing);
  if (written === undefined) return { reason: NOT_TAKEN.sensitive };
  const path = block === 'settings' ? to.slice(1) : to;
  return { to, value: written, variables: readIn(path, written) };
}

function writtenIn(
  block: string,
  name: string,
  inner: Path,
  value: Foreign,
  writing: Writing,
): Json | undefined {
  if (block === 'settings') {
    const path = [name, ...inner];
    return writtenValue(value, { schema: path, names: variableNames(path) }, writing);
  }
  if (!isForeignRecord(value)) return undefined;
  if (block === 'mcp_servers') return writtenServer(name, value, writing);
  if (block === 'llm_profiles')
    return writtenRecord(value, writing, (member) => ({
      schema: [...MODEL_PART, member],
      names: [variableName(name, member)],
    }));
  const main = block === 'secrets' ? 'value' : 'token';
  const { [main]: secret, ...others } = value;
  if (secret === undefined || !isText(secret)) return undefined;
  const names = block === 'secrets' ? [variableName(name)] : [variableName(name, 'token')];
  const shown = Object.entries(others).flatMap(([member, one]): [string, Json][] => {
    const text = one !== null && isText(one) ? textOf(one) : '';
    const isOpen = text !== '' && !holdsSecretText(text) && !isHidden(text, writing.hidden);
    return isOpen ? [[member, text]] : [];
  });
  const reference = referenceFor(secret, names, writing);
  return block === 'secrets' && shown.length === 0
    ? reference
    : { [main]: reference, ...Object.fromEntries(shown) };
}

function writtenRecord(
  record: { readonly [key: string]: Foreign },
  writing: Writing,
  placeOf: (member: string) => Parameters<typeof writtenValue>[1],
): Json | undefined {
  const members: [string, Json][] = [];
  for (const [member, one] of Object.entries(record)) {
    const written = writtenValue(one, placeOf(member), writing);
    if (written === undefined) return undefined;
    members.push([member, written]);
  }
  return Object.fromEntries(members);
}

/** The variable of a setting: by its name, one of a native part by its part, too. */
function variableNames(path: Path): readonly string[] {
  return path.length === 1 ? [variableName(...path)] : [variableName(...path.slice(1))];
}

function readIn(path: Path, value: Json): NewVariable[] {
  if (typeof value === 'string') return readAt(path, value);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    readIn(path[0] === 'secrets' && key === 'value' ? path : [...path, key], one),
  );
}

/** The blocks of some units, as a file has them. */
export function blocksOf(units: readonly Unit[]): JsonObject {
  const blocks: Record<string, Json> = {};
  for (const { to, value } of units) put(blocks, to, value);
  return blocks;
}

function put(record: Record<string, Json>, [key = '', ...inner]: Path, value: Json): void {
  if (inner.length === 0) {
    record[key] = value;
    return;
  }
  const own = Object.hasOwn(record, key) ? record[key] : undefined;
  const next = (typeof own === 'object' && own !== null ? own : {}) as Record<string, Json>;
  Object.defineProperty(record, key, {
    value: next,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  put(next, inner, value);
}

/** Texts of a file that are secrets by the names that lead to them or by their form. What is short or a word is in other places by chance. */
export function secretsIn(documents: readonly Foreign[]): Secret[] {
  const found = new Set<string>();
  for (const document of documents)
    for (const [path, text] of textsOf(document)) {
      const isSecret = path.some(isSensitiveName) || isSecretText(text);
      if (
        isSecret &&
        text.length >= SHORTEST &&
        !text.includes('${') &&
        !/^(?:true|false)$/i.test(text)
      )
        found.add(text);
    }
  return [...found].map((text) => new Secret(text));
}

const SHORTEST = 6;
