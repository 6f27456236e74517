import { readTargets, type Target } from '../desired/target.ts';
import { sourceFile, type Finding } from '../desired/node.ts';
import { diagnostic } from '../desired/report.ts';
import { isMalformed, mayHoldReference, parseTemplate } from '../desired/references.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { parsePath } from '../model/path.ts';
import type { SecretPath } from '../model/ports.ts';
import { isList, isRecord, recordOf, type Value, type ValueRecord } from '../model/value.ts';
import { snakeCase } from './names.ts';
import { withValueAt } from './put.ts';
import { isSecretKey, type SecretKey } from './secret-keys.ts';
import { declaredBy } from './settings-from.ts';
import type { Given, SettingsTarget, TargetSpec } from './settings-target.ts';
import { DATA } from './spec.ts';

/** The target that a SettingsTarget declares; null if one of the diagnostics is an error. */
export interface ReadTarget {
  readonly target: Target | null;
  readonly diagnostics: readonly Diagnostic[];
  /** The keys of Secrets that the target refers to. */
  readonly secrets: readonly SecretKey[];
}

/**
 * What a SettingsTarget declares, as settings.yaml would: the same checks, the same paths. A value of a Secret is a reference, which
 * `referredKey` tells of what. Nothing is asked for here.
 */
export function readSettingsTarget(object: SettingsTarget, given: Given = {}): ReadTarget {
  const from = declaredBy(object, given);
  if ('problems' in from) return { target: null, diagnostics: from.problems, secrets: [] };
  const file = sourceFile(`SettingsTarget ${object.metadata.name}`, '');
  const problem = (finding: Finding): Diagnostic => diagnostic(file, 0, finding);
  const spec: ValueRecord = { ...from.spec };
  const inline = DATA.flatMap((name) => inlineReferences(spec[name] ?? null, [name]));
  const problems: Diagnostic[] = [
    ...inline,
    ...inlineReferences(spec['native'] ?? null, ['native']),
  ].map((path) => problem({ ...INLINE, path }));
  problems.push(...brokenRefs(spec, object.spec).map((path) => problem({ ...NO_SECRET, path })));
  const values = valuesFrom(spec).filter(
    ({ secret, optional }) => !optional || given.hasKey?.(secret) !== false,
  );
  const reference = referenceOf(object.metadata);
  const filled = withValues(declaredBlocks(spec), spec, values, reference);
  problems.push(...filled.unknown.map((path) => problem(leadsNowhere(path))));
  if (problems.length > 0) return { target: null, diagnostics: problems, secrets: [] };
  const { metadata } = object;
  const data = {
    version: 1,
    name: metadata.name,
    ...declaredServer(object.spec, reference),
    ...filled.blocks,
  };
  const loaded = { path: file.path, text: JSON.stringify(data, null, 1), base: null };
  const lock = given.lock === undefined ? {} : { lock: given.lock };
  const { targets, diagnostics } = readTargets(
    { ...loaded, ...lock },
    { serverGiven: false, several: false },
  );
  const [target] = targets;
  const isValid = !diagnostics.some(({ severity }) => severity === 'error');
  return {
    target: isValid ? (target ?? null) : null,
    diagnostics: [...from.warnings, ...diagnostics],
    secrets: [...values.map(({ secret }) => secret), ...serverSecrets(object.spec)],
  };
}

const INLINE = {
  code: 'malformed-reference',
  message: 'A SettingsTarget holds no references.',
  hint: 'Name the key of a Secret under valuesFrom, with this path; write $${ for a literal ${.',
} as const;

/** The paths of texts that hold references. */
function inlineReferences(value: Value, path: readonly string[]): readonly (readonly string[])[] {
  if (typeof value === 'string') {
    const parts = mayHoldReference(value) ? parseTemplate(value) : [];
    return !isMalformed(parts) && parts.some((part) => typeof part === 'object') ? [path] : [];
  }
  if (isList(value))
    return value.flatMap((item, index) => inlineReferences(item, [...path, String(index)]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => inlineReferences(inner, [...path, key]));
}

interface FromSecret {
  readonly path: string;
  readonly secret: SecretKey;
  readonly optional: boolean;
}

function valuesFrom(spec: ValueRecord): readonly FromSecret[] {
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
  message: 'This is no key of a Secret, or has no name or path.',
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

/** The command that references to Secrets name. */
const COMMAND = 'kubernetes';

type ReferenceTo = (secret: SecretKey) => string;

/** A reference to a key of a Secret for an object: one of its own namespace, whatever the object says. */
function referenceOf({ namespace = 'default', name }: SettingsTarget['metadata']): ReferenceTo {
  return (secret) => `\${secret:${COMMAND}/${namespace}/${name}/${secret.name}/${secret.key}}`;
}

/** A key of a Secret, and the object that refers to it. */
export interface ReferredKey extends SecretKey {
  readonly namespace: string;
  readonly object: string;
}

/** What a reference of such a target leads to; null for any other. */
export function referredKey({ command, path }: SecretPath): ReferredKey | null {
  const [namespace = '', object = '', name = '', key = '', ...more] = path.split('/');
  return command === COMMAND && key !== '' && more.length === 0
    ? { namespace, object, name, key }
    : null;
}

/** The blocks as settings.yaml has them, what only later servers have among the settings. */
function declaredBlocks(spec: ValueRecord): ValueRecord {
  const named = DATA.flatMap((name) => {
    const value = spec[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { native, guards, watch, mode, interval, unmanaged } = spec;
  const blocks = recordOf(named);
  const watched = {
    mode: mode === 'Apply' ? 'heal' : 'detect',
    ...(interval === undefined ? {} : { interval }),
    ...snakeCased(watch),
  };
  return {
    ...blocks,
    ...(native === undefined ? {} : { settings: merged(blocks['settings'], native) }),
    ...(guards === undefined ? {} : { guards: snakeCased(guards) }),
    watch: watched,
    ...(unmanaged === undefined ? {} : { unmanaged }),
  };
}

function merged(below: Value | undefined, above: Value): Value {
  if (!isRecord(below) || !isRecord(above)) return above;
  const names = [...new Set([...Object.keys(below), ...Object.keys(above)])];
  return recordOf(
    names.map((name) => {
      const over = above[name];
      return [name, over === undefined ? (below[name] ?? null) : merged(below[name], over)];
    }),
  );
}

function snakeCased(value: Value | undefined): ValueRecord {
  if (!isRecord(value)) return {};
  return recordOf(Object.entries(value).map(([name, inner]) => [snakeCase(name), inner]));
}

function declaredServer(spec: TargetSpec, reference: ReferenceTo): ValueRecord {
  const { url, headers, apiKeySecretRef, ...rest } = spec.server;
  const key = secretKey(apiKeySecretRef);
  const named = headersOf(headers).map(({ name, secret }) => [name, reference(secret)] as const);
  return {
    server: {
      url: url ?? '',
      ...(key === null ? {} : { api_key: reference(key) }),
      ...(named.length === 0 ? {} : { headers: recordOf(named) }),
      ...snakeCased(rest),
    },
  };
}

function headersOf(headers: Value | undefined): readonly { name: string; secret: SecretKey }[] {
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
  return [...(key === null ? [] : [key]), ...headersOf(server['headers']).map((one) => one.secret)];
}

/** The blocks with what is cleared and what Secrets hold, and the paths that lead nowhere. */
function withValues(
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
    const next =
      path === null || !isBlock || path.length < 2 ? null : withValueAt(filled, path, value, own);
    if (next === null) unknown.push(text);
    else filled = next;
  }
  return { blocks: filled, unknown };
}

const leadsNowhere = (path: string): Finding => ({
  code: 'unknown-path',
  message: `The path ${path} leads nowhere.`,
  hint: 'Write a block and the members in it, such as settings.llm_api_key; an entry of a list by its url or name.',
  path: ['valuesFrom'],
});
