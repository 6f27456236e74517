import { envPairs, shellWords } from '../desired/lines.ts';
import { textOf, type Node } from '../desired/node.ts';
import { mayHoldReference } from '../desired/references.ts';
import { Identity, IdentityQueues } from '../model/identity.ts';
import { MASK, Secret, UnseenSecret } from '../model/secret.ts';
import {
  isList,
  isRecord,
  sameValue,
  type Json,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { argumentLine, variableLine } from './one-line.ts';
import type { Stub } from './stub.ts';
import { argumentsOf, stdioStub, variablesOf, type EntryPlace } from './written-entry.ts';

/** The new arguments or variables of a declared stdio server. Null: they stay as they are written. */
export interface StdioPull {
  readonly value: Json | null;
  readonly stubs: readonly Stub[];
  /** References that differ and stay: what they are the value of, and the reference. */
  readonly kept: readonly { readonly key: string | null; readonly ref: string }[];
}

/** Arguments that the service has stay as the file writes them; while a reference among them differs, all of them do. */
export function pulledArguments(
  place: EntryPlace,
  node: Node | undefined,
  declared: Value,
  actual: ValueRecord,
  overReferences: boolean,
): StdioPull | null {
  const line = textOf(node);
  const words =
    line === undefined ? itemsOf(node).map((item) => textOf(item) ?? '') : shellWords(line);
  const unused = new Map((isList(declared) ? declared : []).map((value, index) => [index, value]));
  const same = sameArguments(unused);
  const args = isList(actual['args']) ? actual['args'] : [];
  const texts: string[] = [];
  const stubs: Stub[] = [];
  for (const [key, text, value] of argumentsOf(place, actual, args)) {
    const index = same(value);
    if (index !== undefined) {
      texts.push(words[index] ?? '');
      unused.delete(index);
    } else if (text === null) return null;
    else {
      texts.push(text.written);
      if (text.names !== null) stubs.push(stdioStub(place, ['args', key], text, text.names, value));
    }
  }
  const refs = [...unused.values()].flatMap((one) => refOf(one) ?? []);
  if (refs.length > 0 && !overReferences)
    return { value: null, stubs: [], kept: refs.map((ref) => ({ key: null, ref })) };
  const value = line === undefined ? texts : (argumentLine(texts) ?? texts);
  return { value, stubs, kept: [] };
}

/** Finds for an argument of the service the first declared one that is the same and was not found before. */
function sameArguments(declared: ReadonlyMap<number, Value>): (value: Value) => number | undefined {
  const queues = new IdentityQueues(
    [...declared].map(([index, value]) => [identityOfText(value), index] as const),
  );
  return (value) => queues.take(identityOfText(value));
}

/** What tells texts apart, secrets among them; what is shown of it is the same for all. */
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

/** Variables one by one: those written as references stay, the others follow the service. */
export function pulledVariables(
  place: EntryPlace,
  node: Node | undefined,
  declared: Value,
  actual: ValueRecord,
  overReferences: boolean,
): StdioPull | null {
  const line = textOf(node);
  const before = isRecord(declared) ? declared : {};
  const env = isRecord(actual['env']) ? actual['env'] : {};
  const found = new Map(variablesOf(place, actual, env).map((keyed) => [keyed[0], keyed]));
  const result: [string, string][] = [];
  const stubs: Stub[] = [];
  const kept: { key: string; ref: string }[] = [];
  const takeIn = (name: string): boolean => {
    const [, text, value] = found.get(name) ?? [];
    if (text === null || text === undefined || value === undefined) return text === undefined;
    result.push([name, text.written]);
    if (text.names !== null) stubs.push(stdioStub(place, ['env', name], text, text.names, value));
    return true;
  };
  const written = writtenVariables(node, line);
  for (const [name, text] of written) {
    const ref = refOf(before[name]);
    if (Object.hasOwn(env, name) && sameValue(before[name], env[name])) result.push([name, text]);
    else if (ref !== null && !overReferences) {
      result.push([name, text]);
      kept.push({ key: name, ref });
    } else if (!takeIn(name)) return null;
  }
  const known = new Set(written.map(([name]) => name));
  for (const name of Object.keys(env)) if (!known.has(name) && !takeIn(name)) return null;
  const value = line === undefined ? null : variableLine(result);
  return { value: value ?? Object.fromEntries(result), stubs, kept };
}

function writtenVariables(node: Node | undefined, line: string | undefined): [string, string][] {
  if (line !== undefined) return envPairs(line).map(({ name, text }) => [name, text ?? '']);
  if (node?.kind !== 'map') return [];
  return [...node.members.values()].map(({ key, node: value }) => [key, textOf(value) ?? '']);
}

function itemsOf(node: Node | undefined): readonly Node[] {
  return node?.kind === 'list' ? node.items : [];
}

function refOf(value: Value | undefined): string | null {
  return value instanceof Secret && value.ref !== null && mayHoldReference(value.ref)
    ? value.ref
    : null;
}
