import { findTextKind } from '../desired/blocks.ts';
import type { TextKind } from '../desired/blocks/block.ts';
import { envPairs, splitShellLine } from '../desired/lines.ts';
import type { Node, PlacedFinding, ScalarNode } from '../desired/node.ts';
import {
  isMalformed,
  mayHoldReference,
  parseTemplate,
  type Reference,
} from '../desired/references.ts';
import type { Path } from '../model/path.ts';
import type { Json } from '../model/value.ts';
import { canAcceptScalar, listKey, memberSchema, type Structural } from './crd.ts';
import type { Refusal, SecretKey } from './secret-keys.ts';

/** A value of a Secret, and where it goes. */
export interface ValueFrom {
  readonly path: string;
  readonly secretKeyRef: SecretKey & { readonly optional?: true };
}

/** The results gathered from the blocks of a target. */
export interface Taking {
  readonly valuesFrom: ValueFrom[];
  readonly clear: string[];
  /** The values under `native` that no schema here knows. */
  readonly native: [path: Path, value: Json][];
  readonly findings: PlacedFinding[];
  readonly secretOf: (reference: Reference) => SecretKey | Refusal;
}

/** A place: in the spec, and in the file, where an entry of a list goes by its position. */
export interface TakenPlace {
  readonly path: Path;
  /** The place as text, which distinguishes an entry of a list from a member of a map. */
  readonly text: string;
  readonly filePath: Path;
  readonly schema: Structural | 'open';
}

/** The value of a node in the form of a spec; undefined if it has nothing except references and cleared values. */
export function convertNode(node: Node, place: TakenPlace, taking: Taking): Json | undefined {
  if (node.kind === 'scalar') return convertScalar(node, place, taking);
  if (node.kind === 'list') return convertList(node.items, place, taking);
  const entries = [...node.members].map(([key, one]) => [key, one.node] as const);
  return convertMap(entries, place, taking);
}

function convertMap(
  entries: readonly (readonly [string, Node])[],
  place: TakenPlace,
  taking: Taking,
): Json | undefined {
  const made = entries.flatMap(([key, node]): [string, Json][] => {
    const schema = place.schema === 'open' ? 'open' : memberSchema(place.schema, key);
    const inner = {
      path: [...place.path, key],
      text: formatMemberPlace(place.text, key),
      filePath: [...place.filePath, key],
      schema: schema ?? 'open',
    };
    // The references of a password go into valuesFrom, although no member is there to hold it.
    const value = convertNode(node, inner, taking);
    if (value === undefined) return [];
    if (schema !== null) return [[key, value]];
    if (inner.path[0] === 'settings' && !inner.filePath.some((segment) => /^\d+$/.test(segment)))
      taking.native.push([inner.path.slice(1), value]);
    else refuse(node, inner, UNKNOWN, taking);
    return [];
  });
  return made.length === 0 && entries.length > 0 ? undefined : Object.fromEntries(made);
}

const UNKNOWN = {
  message: 'A SettingsTarget accepts fields of later servers only inside the maps of settings.',
  hint: 'Leave the file as a ConfigMap, and name it in settingsFrom.',
};

function convertList(items: readonly Node[], place: TakenPlace, taking: Taking): Json {
  const key = listKey(place.schema);
  const schema: TakenPlace['schema'] =
    place.schema === 'open' ? 'open' : (place.schema.items ?? 'open');
  const seen = new Set<string>();
  return items.flatMap((item, index): Json[] => {
    const filePath = [...place.filePath, String(index)];
    const entry = (name: string): TakenPlace => ({
      path: [...place.path, name],
      text: entryPlace(place.text, name),
      filePath,
      schema,
    });
    if (key === null) return [convertListItem(item, entry(String(index)), taking)];
    const identity = findItemIdentity(item, key);
    if (identity === null || seen.has(identity)) {
      const problem = identity === null ? noIdentity(key) : twice(key);
      refuse(item, { ...place, filePath }, problem, taking);
      return [];
    }
    seen.add(identity);
    if (item.kind !== 'map') return [{ [key]: identity }];
    const rest = [...item.members].filter(([name]) => name !== key);
    const members = convertMap(
      rest.map(([name, one]) => [name, one.node] as const),
      entry(identity),
      taking,
    );
    return [{ [key]: identity, ...(members as object | undefined) }];
  });
}

/** An item keeps its position: a text of its own is there until a value of a Secret takes its place. */
function convertListItem(item: Node, place: TakenPlace, taking: Taking): Json {
  if (item.kind === 'scalar' && item.value === null) refuse(item, place, NULL_IN_LIST, taking);
  const value = convertNode(item, place, taking);
  if (value !== undefined) return value;
  if (item.kind === 'map') return {};
  if (!canAcceptScalar(place.schema, FILLED_IN)) refuse(item, place, NOT_FILLED_IN, taking);
  return FILLED_IN;
}

const FILLED_IN = '(valuesFrom)';
const NOT_FILLED_IN = {
  message: 'An item of this list cannot come from a Secret.',
  hint: 'Write the value out.',
};

const NULL_IN_LIST = {
  message: 'A SettingsTarget cannot contain null in a list: Kubernetes clients drop it.',
  hint: 'Leave the item out, or leave the file as a ConfigMap, and name it in settingsFrom.',
};

function findItemIdentity(item: Node, key: string): string | null {
  const own = item.kind === 'map' ? item.members.get(key)?.node : item;
  if (own?.kind !== 'scalar' || typeof own.value !== 'string') return null;
  return mayHoldReference(own.value) ? null : own.value.trim();
}

const noIdentity = (key: string) => ({
  message: `The ${key} of an entry identifies it in a SettingsTarget, and cannot come from a Secret.`,
  hint: `Write the ${key} out, or declare the server in mcp_servers, which names it by its key.`,
});
const twice = (key: string) => ({
  message: `Two entries have this ${key}, which identifies an entry in a SettingsTarget.`,
  hint: 'Declare them in mcp_servers, which names each by its key.',
});

function convertScalar(node: ScalarNode, place: TakenPlace, taking: Taking): Json | undefined {
  const { value } = node;
  if (value === null) {
    taking.clear.push(place.text);
    return undefined;
  }
  if (typeof value !== 'string') return value;
  if (isCustomSecret(place)) return convertMap([['value', node]], place, taking);
  const kind = findTextKind(place.filePath);
  if (kind === 'words' || kind === 'pairs') return convertLine(node, value, kind, place, taking);
  return convertText(node, value, place, taking);
}

/** Reports whether a text is that of a secret that is declared only by its value. */
function isCustomSecret({ path: [block, ...rest] }: TakenPlace): boolean {
  return block === 'secrets' && rest.length === 1;
}

function convertLine(
  node: ScalarNode,
  line: string,
  kind: TextKind,
  place: TakenPlace,
  taking: Taking,
): Json | undefined {
  const text = (value: string): Node => ({ ...node, value });
  if (kind === 'words') return convertList(splitShellLine(line).map(text), place, taking);
  const pairs = envPairs(line).map((pair) => [pair.name, text(pair.text ?? '')] as const);
  return convertMap([...new Map(pairs)], place, taking);
}

function convertText(
  node: ScalarNode,
  text: string,
  place: TakenPlace,
  taking: Taking,
): Json | undefined {
  const parts = mayHoldReference(text) ? parseTemplate(text) : [text];
  if (isMalformed(parts)) return text;
  const references = parts.filter((part) => typeof part === 'object');
  const [reference] = references;
  // An escape stays one: what a SettingsTarget declares is read as settings.yaml is.
  if (reference === undefined) {
    if (!canAcceptScalar(place.schema, text)) refuse(node, place, UNFIT, taking);
    return text;
  }
  if (parts.length > 1) {
    refuse(node, place, AROUND, taking);
    return undefined;
  }
  const secret = taking.secretOf(reference);
  if ('message' in secret) {
    refuse(node, place, secret, taking);
    return undefined;
  }
  const fallback = reference.kind === 'env' ? reference.fallback : null;
  const optional = fallback === null ? {} : ({ optional: true } as const);
  taking.valuesFrom.push({
    path: place.text,
    secretKeyRef: { ...secret, ...optional },
  });
  return fallback === null ? undefined : fallbackAs(node, fallback, place, taking);
}

const AROUND = {
  message: 'A SettingsTarget can take only a whole value from a Secret, not a part of a text.',
  hint: 'Put the whole text into the Secret, and make the value one reference to it.',
};

/** The default of a reference: it holds if the Secret has no such key, and is of the type of its place. */
function fallbackAs(
  node: ScalarNode,
  fallback: string,
  place: TakenPlace,
  taking: Taking,
): Json | undefined {
  const type = place.schema === 'open' ? undefined : place.schema.type;
  const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(fallback);
  const value =
    type === 'boolean' && /^(true|false)$/.test(fallback)
      ? fallback === 'true'
      : (type === 'number' || type === 'integer') && isNumber
        ? Number(fallback)
        : fallback;
  if (canAcceptScalar(place.schema, value)) return value;
  refuse(node, place, UNFIT_DEFAULT, taking);
  return undefined;
}

const UNFIT_DEFAULT = {
  message: 'The default of this reference is not valid for its field.',
  hint: 'Write a default that the field takes, or none.',
};
const UNFIT = {
  message: 'This text is not valid for its field.',
  hint: 'Write one that it takes: setpoint explain PATH lists what that is.',
};

export function refuse(
  { file, at }: Pick<Node, 'file' | 'at'>,
  { filePath }: Pick<TakenPlace, 'filePath'>,
  refusal: Refusal,
  { findings }: Pick<Taking, 'findings'>,
): void {
  findings.push({
    file,
    at,
    finding: { code: 'not-in-kubernetes', ...refusal, path: filePath },
  });
}

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const PLAIN_IDENTITY = /^[!#-Z\\^-~]+$/;

/*
 * Places in the spec of a SettingsTarget, as `valuesFrom` and `clear` write them, and parsePath reads them: keys and, in brackets, the identity of
 * an entry, or its position in a list without identities, as in `settings.mcp_config.stdio_servers[files].args[1]`.
 */

/** The place of a member of what is at a place; of a block, if that is the spec itself: ''. */
function formatMemberPlace(place: string, key: string): string {
  if (!PLAIN_KEY.test(key)) return entryPlace(place, key);
  return place === '' ? key : `${place}.${key}`;
}

/** The place of an entry of the list that is at a place. */
function entryPlace(place: string, identity: string): string {
  return `${place}[${PLAIN_IDENTITY.test(identity) ? identity : JSON.stringify(identity)}]`;
}
