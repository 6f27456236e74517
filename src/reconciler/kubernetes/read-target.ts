import { textOfData } from '../desired/data-nodes.ts';
import { readTargets, type Target } from '../desired/target.ts';
import { sourceFile, type Finding } from '../desired/node.ts';
import { diagnostic } from '../desired/place-diagnostic.ts';
import { REQUESTED } from '../desired/references.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { findPathFacts } from '../model/path-facts.ts';
import { parsePath, type Path } from '../model/path.ts';
import type { SecretRequest } from '../model/ports.ts';
import { isList, isRecord, createRecord, type Value, type ValueRecord } from '../model/value.ts';
import { snakeCase } from './names.ts';
import { canAcceptScalar, specSchema, listKey, memberSchema, type Structural } from './crd.ts';
import { isSecretKey, type SecretKey } from './secret-keys.ts';
import { mergeConfigMap } from './settings-from.ts';
import type { TargetInput, SettingsTarget, TargetSpec } from './settings-target.ts';
import { DATA } from './spec.ts';
import { findTextReferences } from './texts.ts';

/** The target that a SettingsTarget declares; null if one of the diagnostics is an error. */
export interface ReadTarget {
  readonly target: Target | null;
  readonly diagnostics: readonly Diagnostic[];
  /** The keys of Secrets that the target refers to. */
  readonly secrets: readonly SecretKey[];
}

/**
 * The declaration of a SettingsTarget, as settings.yaml would have it: the same checks, the same paths. Its texts, and those of a
 * ConfigMap, are data. A value of a Secret is a request of the target, represented by a text that nothing else can spell. Nothing is
 * requested here.
 */
export function readSettingsTarget(object: SettingsTarget, given: TargetInput = {}): ReadTarget {
  const texts = findTextProblems(object);
  if (texts.length > 0) return { target: null, diagnostics: texts, secrets: [] };
  const from = mergeConfigMap(object, given);
  if ('problems' in from) return { target: null, diagnostics: from.problems, secrets: [] };
  const file = sourceFile(`SettingsTarget ${object.metadata.name}`, '');
  const problem = (finding: Finding): Diagnostic => diagnostic(file, 0, finding);
  const spec: ValueRecord = { ...from.spec };
  const problems: Diagnostic[] = [];
  problems.push(...brokenRefs(spec, object.spec).map((path) => problem({ ...NO_SECRET, path })));
  const values = listSecretValues(spec).filter(
    ({ secret, optional }) => !optional || given.hasKey?.(secret) !== false,
  );
  const requests = new Map<string, SecretRequest>();
  const reference = requestingFor(object, requests);
  const filled = insertSecretValues(readDeclaredBlocks(spec), spec, values, reference);
  problems.push(...filled.unknown.map((path) => problem(leadsNowhere(path))));
  if (problems.length > 0) return { target: null, diagnostics: problems, secrets: [] };
  const { metadata } = object;
  const data: ValueRecord = {
    version: 1,
    name: metadata.name,
    ...readDeclaredServer(object.spec, reference),
    ...filled.blocks,
  };
  const loaded = { path: file.path, text: textOfData(data), data, bases: [] };
  const lock = given.lock === undefined ? {} : { lock: given.lock };
  const { targets, diagnostics } = readTargets(
    { ...loaded, ...lock },
    { serverGiven: false, several: false },
  );
  const [target] = targets;
  const isValid = !diagnostics.some(({ severity }) => severity === 'error');
  return {
    target: isValid && target !== undefined ? { ...target, requests } : null,
    diagnostics: [...from.warnings, ...diagnostics],
    secrets: [...values.map(({ secret }) => secret), ...serverSecrets(object.spec)],
  };
}

/** The problems of the texts of an object, which apply whatever it names: references, and an invalid address. */
export function findTextProblems({ metadata, spec }: SettingsTarget): readonly Diagnostic[] {
  const file = sourceFile(`SettingsTarget ${metadata.name}`, '');
  const found = findTextReferences(spec, []).map((path) => ({ ...NO_REFERENCES, path }));
  const { url = '' } = spec.server;
  const members = specSchema().properties?.['server']?.properties ?? {};
  const isAddress = typeof url === 'string' && canAcceptScalar(members['url'] ?? 'open', url);
  // An API server drops what its definition does not have, and the definition may be an older one.
  const others = Object.keys(spec.server).filter((name) => !Object.hasOwn(members, name));
  return [
    ...found,
    ...(isAddress || found.length > 0 ? [] : [NO_ADDRESS]),
    ...others.map((name) => ({ ...NO_MEMBER, path: ['server', name] })),
  ].map((finding) => diagnostic(file, 0, finding));
}

const NO_REFERENCES = {
  code: 'bad-reference',
  message: 'References are not resolved in a SettingsTarget.',
  hint: 'Name the key of a Secret under valuesFrom, with this path; write $${ for a literal ${.',
} as const;
const NO_MEMBER = {
  code: 'unknown-key',
  message:
    'The server of a SettingsTarget has no such member: it names no file, and no key but one of a Secret.',
  hint: 'Remove it.',
} as const;
const NO_ADDRESS = {
  code: 'bad-value',
  message: 'This is not the address of a server.',
  hint: 'Write http:// or https:// and a host, without a query.',
  path: ['server', 'url'],
} as const;

interface FromSecret {
  readonly path: string;
  readonly secret: SecretKey;
  readonly optional: boolean;
}

function listSecretValues(spec: ValueRecord): readonly FromSecret[] {
  const list = spec['valuesFrom'];
  if (!isList(list)) return [];
  return list.flatMap((one): FromSecret[] => {
    if (!isRecord(one) || typeof one['path'] !== 'string') return [];
    const secret = secretKey(one['secretKeyRef']);
    const optional = isRecord(one['secretKeyRef']) && one['secretKeyRef']['optional'] === true;
    return secret === null ? [] : [{ path: one['path'], secret, optional }];
  });
}

function secretKey(ref: Value | undefined): SecretKey | null {
  if (!isRecord(ref)) return null;
  const { name, key } = ref;
  if (typeof name !== 'string' || typeof key !== 'string') return null;
  return isSecretKey({ name, key }) ? { name, key } : null;
}

const NO_SECRET = {
  code: 'bad-value',
  message: 'Not a valid key of a Secret, or its name or path is missing.',
  hint: 'Write name and key: a name has small letters, digits, - and ., a key also capital letters and _, without two dots in a row.',
} as const;

/** The places of what names no key of a Secret: the API server refuses most of it, and nothing is left out in silence. */
function brokenRefs(spec: ValueRecord, { server }: TargetSpec): readonly (readonly string[])[] {
  const isBroken = (one: Value, label: string): boolean =>
    !isRecord(one) || typeof one[label] !== 'string' || secretKey(one['secretKeyRef']) === null;
  const inList = (list: Value | undefined, label: string, path: readonly string[]) =>
    isList(list)
      ? list.flatMap((one, index) => (isBroken(one, label) ? [[...path, String(index)]] : []))
      : [];
  const key = server['apiKeySecretRef'];
  return [
    ...(key === undefined || secretKey(key) !== null ? [] : [['server', 'apiKeySecretRef']]),
    ...inList(server['headers'], 'name', ['server', 'headers']),
    ...inList(spec['valuesFrom'], 'path', ['valuesFrom']),
  ];
}

type ReferenceTo = (secret: SecretKey) => string;

/**
 * Adds requests of an object for keys of Secrets, and returns the texts that stand for them: references in the form of a settings file, for its
 * checks, which no text of the object contains.
 */
function requestingFor(
  { metadata: { namespace = 'default' }, spec }: SettingsTarget,
  requests: Map<string, SecretRequest>,
): ReferenceTo {
  // A text that is not an address is refused before.
  const { url } = spec.server;
  const { origin } = new URL(typeof url === 'string' ? url : '');
  return ({ name, key }) => {
    const text = `\${secret:${REQUESTED}/${name}/${key}}`;
    requests.set(text, { namespace, origin, name, key });
    return text;
  };
}

/** The blocks as settings.yaml has them, what only later servers have among the settings. */
function readDeclaredBlocks(spec: ValueRecord): ValueRecord {
  const named = DATA.flatMap((name) => {
    const value = spec[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { native, guards, watch, mode, interval, unmanaged } = spec;
  const blocks = createRecord(named);
  const watched = {
    mode: mode === 'Apply' ? 'heal' : 'detect',
    ...(interval === undefined ? {} : { interval }),
    ...snakeCased(watch),
  };
  return {
    ...blocks,
    ...(native === undefined ? {} : { settings: mergeSpecValues(blocks['settings'], native) }),
    ...(guards === undefined ? {} : { guards: snakeCased(guards) }),
    watch: watched,
    ...(unmanaged === undefined ? {} : { unmanaged }),
  };
}

function mergeSpecValues(below: Value | undefined, above: Value): Value {
  if (!isRecord(below) || !isRecord(above)) return above;
  const names = [...new Set([...Object.keys(below), ...Object.keys(above)])];
  return createRecord(
    names.map((name) => {
      const over = above[name];
      return [
        name,
        over === undefined ? (below[name] ?? null) : mergeSpecValues(below[name], over),
      ];
    }),
  );
}

function snakeCased(value: Value | undefined): ValueRecord {
  if (!isRecord(value)) return {};
  return createRecord(Object.entries(value).map(([name, inner]) => [snakeCase(name), inner]));
}

function readDeclaredServer(spec: TargetSpec, reference: ReferenceTo): ValueRecord {
  const { url, headers, apiKeySecretRef, ...rest } = spec.server;
  const key = secretKey(apiKeySecretRef);
  const named = parseSecretHeaders(headers).map(
    ({ name, secret }) => [name, reference(secret)] as const,
  );
  return {
    server: {
      url: url ?? '',
      ...(key === null ? {} : { api_key: reference(key) }),
      ...(named.length === 0 ? {} : { headers: createRecord(named) }),
      ...snakeCased(rest),
    },
  };
}

function parseSecretHeaders(
  headers: Value | undefined,
): readonly { name: string; secret: SecretKey }[] {
  if (!isList(headers)) return [];
  return headers.flatMap((one) => {
    const secret = isRecord(one) ? secretKey(one['secretKeyRef']) : null;
    return isRecord(one) && typeof one['name'] === 'string' && secret !== null
      ? [{ name: one['name'], secret }]
      : [];
  });
}

function serverSecrets({ server }: TargetSpec): readonly SecretKey[] {
  const key = secretKey(server['apiKeySecretRef']);
  return [
    ...(key === null ? [] : [key]),
    ...parseSecretHeaders(server['headers']).map((one) => one.secret),
  ];
}

/** The blocks with what is cleared and what Secrets hold, and the paths that lead nowhere. */
function insertSecretValues(
  blocks: ValueRecord,
  spec: ValueRecord,
  values: readonly FromSecret[],
  reference: ReferenceTo,
): { readonly blocks: ValueRecord; readonly unknown: readonly string[] } {
  const cleared = isList(spec['clear'] ?? null) ? (spec['clear'] as readonly Value[]) : [];
  const all: (readonly [string, Value])[] = [
    ...cleared.flatMap((path) => (typeof path === 'string' ? [[path, null] as const] : [])),
    ...values.map(({ path, secret }) => [path, reference(secret)] as const),
  ];
  const unknown: string[] = [];
  let filled = blocks;
  const own = new WeakSet();
  for (const [text, value] of all) {
    const path = parsePath(text);
    const isBlock = DATA.some((name) => name === path?.[0]);
    // A block as a whole has a value from elsewhere only if it is a list of text.
    const isPlace =
      isBlock && path !== null && (path.length > 1 || findPathFacts(path).list !== false);
    const next = isPlace ? setBlockValue(filled, path, value, own) : null;
    if (next === null) unknown.push(text);
    else filled = next;
  }
  return { blocks: filled, unknown };
}

const leadsNowhere = (path: string): Finding => ({
  code: 'unknown-key',
  message: `The path ${path} leads nowhere.`,
  hint: 'Write a block and the members in it, such as settings.llm_api_key; an entry of a list by its url or name.',
  path: ['valuesFrom'],
});

/**
 * Blocks with a value at a place, in the form that placeText writes; null if there is no such place. Maps on the way are created. `own` are
 * maps that nothing else uses: for thousands of values, each is copied once.
 */
function setBlockValue(
  blocks: ValueRecord,
  path: Path,
  value: Value,
  own: WeakSet<object>,
): ValueRecord | null {
  const made = putMember(blocks, path, value, specSchema(), own);
  return isRecord(made ?? undefined) ? (made as ValueRecord) : null;
}

function putMember(
  at: Value | undefined,
  path: Path,
  value: Value,
  schema: Structural | 'open',
  own: WeakSet<object>,
): Value | null {
  const [segment, ...rest] = path;
  if (segment === undefined) return value;
  if (isList(at)) return putInList(at, path, value, schema, own);
  if (at !== undefined && !isRecord(at)) return null;
  const before: ValueRecord = at ?? createRecord({});
  const inner = schema === 'open' ? 'open' : (memberSchema(schema, segment) ?? 'open');
  const there = Object.hasOwn(before, segment) ? before[segment] : undefined;
  const made = putMember(rest.length === 0 ? undefined : there, rest, value, inner, own);
  if (made === null && rest.length > 0) return null;
  const copy = own.has(before) ? before : createRecord(before);
  own.add(copy);
  return Object.assign(copy, createRecord({ [segment]: made }));
}

function putInList(
  list: readonly Value[],
  [segment = '', ...rest]: Path,
  value: Value,
  schema: Structural | 'open',
  own: WeakSet<object>,
): Value | null {
  const key = listKey(schema);
  const index =
    key === null
      ? Number(/^\d+$/.test(segment) ? segment : -1)
      : list.findIndex((item) => isRecord(item) && item[key] === segment);
  const item = list[index];
  if (item === undefined) return null;
  const inner = schema === 'open' ? 'open' : (schema.items ?? 'open');
  const made = putMember(rest.length === 0 ? undefined : item, rest, value, inner, own);
  return made === null ? null : list.with(index, made);
}
