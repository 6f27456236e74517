import { bareUrl, isSensitiveUrl } from '../model/address.ts';
import { listRecordEntries, isMcpList, type McpList } from '../model/mcp.ts';
import { Identity, MASK, Secret, UnseenSecret } from '../model/secret.ts';
import { holdsMask } from '../model/secret-words.ts';
import type { SavedDigest } from '../model/documents.gen.ts';
import type { Path } from '../model/path.ts';
import type { Digests } from '../model/ports.ts';
import type { DesiredState } from '../model/state.ts';
import {
  isList,
  isRecord,
  maskSecrets,
  assignPath,
  createRecord,
  collectSecrets,
  readPath,
  type Json,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { matchEntries } from './match-entries.ts';
import { compareEntry } from './mcp-entry.ts';
import { literalDigest, maskOldValue, maskByDeclaration, wrapSecretLiterals } from './declared.ts';

const MASKED_PART = `?${MASK}`;

/** A saved answer, and the digests of masked values that are literals of the file. */
export interface SavedSettings {
  readonly settings: Json;
  readonly digests: readonly SavedDigest[];
}

/**
 * An answer as `get` shows and saves it: masked, but a url whose query or userinfo is masked keeps the rest of it.
 * A masked value that equals the literal which the file declares there gets a digest. Nothing else does: a digest of a secret
 * that only the service or a reference has could be tried against guesses.
 */
export function settingsToSave(
  record: ValueRecord,
  desired: DesiredState,
  digests: Pick<Digests, 'quick'> | null,
): SavedSettings {
  const settings = maskSecrets(mapScalars(withoutTainted(record, desired), formatMaskedIdentity));
  if (digests === null) return { settings, digests: [] };
  const found = desired.fields.flatMap(({ field, value }) =>
    findMatchingLiterals(readPath(record, field.path), value, field.path),
  );
  return {
    settings,
    digests: found
      .filter(({ path }) => isMaskedText(readJsonPath(settings, path)))
      .map(({ path, secret }) => ({
        path,
        digest: secret.compareWith((text) => literalDigest(text, digests)),
      })),
  };
}

/**
 * The answer in a snapshot: what is masked in it is there, and is not known. A masked value that has a digest is the
 * literal of the file with that digest; if the file has none, it is known to be another one.
 */
export function restoreSavedSettings(
  saved: { readonly [name: string]: Json },
  known: readonly SavedDigest[],
  desired: DesiredState,
  digests: Pick<Digests, 'quick'>,
): ValueRecord {
  const digestAt = new Map(known.map(({ path, digest }) => [JSON.stringify(path), digest]));
  const literals = literalsByField(known, desired, digests);
  const record = mapScalars(createRecord(saved), (value, path) => {
    const identity = hiddenIdentity(value);
    if (identity === null) return value;
    const digest = digestAt.get(JSON.stringify(path));
    if (digest === undefined) return new UnseenSecret(null, identity);
    return literals.get(path[0] ?? '')?.get(digest) ?? new Secret(Number.NaN, null, identity);
  });
  return isRecord(record) ? record : createRecord({});
}

/** The literals of each field or native part that has digests, by digest. */
function literalsByField(
  known: readonly SavedDigest[],
  { fields }: DesiredState,
  digests: Pick<Digests, 'quick'>,
): ReadonlyMap<string, ReadonlyMap<string, Secret>> {
  const literals = new Map<string, Map<string, Secret>>();
  const names = new Set(known.map(({ path }) => path[0]));
  for (const { field, value } of fields) {
    const [name = ''] = field.path;
    if (!names.has(name)) continue;
    const own = literals.get(name) ?? new Map<string, Secret>();
    literals.set(name, own);
    for (const secret of literalLeaves(value))
      own.set(
        secret.compareWith((text) => literalDigest(text, digests)),
        secret,
      );
  }
  return literals;
}

function formatMaskedIdentity(value: Value): Value {
  const shown = value instanceof Secret ? value.identity?.shown : undefined;
  return shown === undefined ? value : `${shown}${MASKED_PART}`;
}

/** The identity of a masked value; null if a value is not masked. */
function hiddenIdentity(value: Value): Identity | null {
  if (typeof value !== 'string' || !value.includes(MASK)) return null;
  if (!value.endsWith(MASKED_PART)) return Identity.unseen(MASK);
  const shown = bareUrl(value);
  const literals = shown.split('…');
  return literals.length > 1 ? Identity.unseen(shown, literals) : new Identity(shown);
}

function isMaskedText(value: Json | undefined): boolean {
  return value !== undefined && hiddenIdentity(value) !== null;
}

/** The texts that a declared value writes out, each as a secret. */
function literalLeaves(value: Value | undefined): Secret[] {
  if (isList(value)) return value.flatMap(literalLeaves);
  if (isRecord(value)) return Object.values(value).flatMap(literalLeaves);
  const literal = asLiteral(value);
  return literal === null ? [] : [literal];
}

function asLiteral(value: Value | undefined): Secret | null {
  if (typeof value === 'string')
    return new Secret(value, null, isSensitiveUrl(value) ? new Identity(bareUrl(value)) : null);
  return value instanceof Secret && value.ref === null && !holdsMask(value) ? value : null;
}

interface Literal {
  readonly path: Path;
  readonly secret: Secret;
}

/** Finds where the service has exactly the declared text in the same place. Mcp entries are matched by identity. */
function findMatchingLiterals(
  actual: Value | undefined,
  declared: Value | undefined,
  path: Path,
): Literal[] {
  if (isList(actual)) {
    const counterpart = counterparts(declared, actual, path);
    return actual.flatMap((item, index) =>
      findMatchingLiterals(item, counterpart(item, index), [...path, String(index)]),
    );
  }
  if (isRecord(actual))
    return Object.entries(actual).flatMap(([key, member]) =>
      findMatchingLiterals(member, isRecord(declared) ? declared[key] : undefined, [...path, key]),
    );
  const secret = asLiteral(declared);
  return secret !== null && secret.sameAs(actual) ? [{ path, secret }] : [];
}

/** Returns the declared counterpart of a list item: the entry that it is compared with, or the item of the same index. */
function counterparts(
  declared: Value | undefined,
  actual: readonly Value[],
  [name, list, ...inner]: Path,
): (item: Value, index: number) => Value | undefined {
  if (!isList(declared)) return () => undefined;
  if (name !== 'mcp_config' || !isMcpList(list) || inner.length > 0)
    return (_, index) => declared[index];
  const entries = matchDeclaredEntries(list, listRecordEntries(declared), actual);
  return (item) => (isRecord(item) ? entries.get(item) : undefined);
}

/** The declared entry that each observed one is compared with. */
function matchDeclaredEntries(
  list: McpList,
  declared: readonly ValueRecord[],
  actual: readonly Value[],
): ReadonlyMap<ValueRecord, ValueRecord> {
  const entries = listRecordEntries(actual);
  const differing = (one: number, other: number) =>
    compareEntry(list, declared[one] ?? {}, entries[other] ?? {}).differing.length;
  const { pairs } = matchEntries(list, declared, entries, differing);
  return new Map(
    pairs.map((pair) => [entries[pair.actual] ?? {}, declared[pair.declared] ?? {}] as const),
  );
}

function readJsonPath(value: Json, path: Path): Json | undefined {
  return path.reduce<Json | undefined>((inner, key) => {
    if (typeof inner !== 'object' || inner === null) return undefined;
    return Object.hasOwn(inner, key)
      ? (inner as { readonly [name: string]: Json })[key]
      : undefined;
  }, value);
}

function mapScalars(
  value: Value,
  map: (scalar: Value, path: Path) => Value,
  path: Path = [],
): Value {
  if (isList(value))
    return value.map((item, index) => mapScalars(item, map, [...path, String(index)]));
  if (!isRecord(value)) return map(value, path);
  return createRecord(
    Object.entries(value).map(([key, member]) => [key, mapScalars(member, map, [...path, key])]),
  );
}

/**
 * An answer with everything masked that the file reads from a reference: each place that is written as a reference, and the
 * same values in every other place. A reference without a value masks its own place and nothing else. The
 * arguments and variables of programs are open if they are the literals that the committed file has there.
 */
function withoutTainted(record: ValueRecord, desired: DesiredState): ValueRecord {
  const references = desired.fields
    .flatMap(({ value }) => collectSecrets(value))
    .filter(({ ref }) => ref !== null);
  const declared = desired.fields.reduce(
    (whole, { field, value }) => assignPath(whole, field.path, value),
    createRecord({}),
  );
  return createRecord(
    Object.entries(record).map(([name, value]) => {
      const own = declared[name];
      if (own === undefined) return [name, conceal(value, references)];
      if (name === 'mcp_config' && isRecord(own) && isRecord(value))
        return [name, conceal(openLists(value, own), references)];
      return [
        name,
        conceal(
          maskReferencePlaces(maskByDeclaration(value, wrapSecretLiterals(own)), own),
          references,
        ),
      ];
    }),
  );
}

function openLists(config: ValueRecord, declared: ValueRecord): ValueRecord {
  return createRecord(
    Object.entries(config).map(([name, value]) => [
      name,
      isMcpList(name) && isList(value) && declared[name] !== undefined
        ? openEntries(name, value, listRecordEntries(declared[name]))
        : value,
    ]),
  );
}

function openEntries(
  list: McpList,
  values: readonly Value[],
  declared: readonly ValueRecord[],
): readonly Value[] {
  const counterpart = matchDeclaredEntries(list, declared, values);
  return values.map((value) => {
    const own = isRecord(value) ? counterpart.get(value) : undefined;
    return own === undefined ? value : maskReferencePlaces(maskByDeclaration(value, own), own);
  });
}

/** A value from a reference shows nothing, not even the host of its url. */
const NAMELESS = new Secret('');

/** Masks each place that the file writes as a reference. */
function maskReferencePlaces(value: Value, declared: Value | undefined): Value {
  if (declared instanceof Secret && declared.ref !== null) return conceal(value, null);
  if (isList(value) && isList(declared))
    return value.map((item, index) => maskReferencePlaces(item, declared[index]));
  if (!isRecord(value) || !isRecord(declared)) return value;
  return createRecord(
    Object.entries(value).map(([key, member]) => [key, maskReferencePlaces(member, declared[key])]),
  );
}

/** Masks every scalar that equals one of the secrets; all scalars if `secrets` is null. */
function conceal(value: Value, secrets: readonly Secret[] | null): Value {
  if (isList(value)) return value.map((item) => conceal(item, secrets));
  if (isRecord(value))
    return createRecord(
      Object.entries(value).map(([key, member]) => [key, conceal(member, secrets)]),
    );
  if (value === null) return value;
  if (value instanceof Secret)
    return secrets?.some((secret) => secret.sameAs(value)) === false ? value : NAMELESS;
  return secrets === null || secrets.some((secret) => secret.sameAs(value))
    ? maskOldValue(value)
    : value;
}
