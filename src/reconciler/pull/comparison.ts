import { resolveSettings } from '../desired/resolve.ts';
import type { Target } from '../desired/target.ts';
import { bareUrl } from '../model/address.ts';
import { listRecordEntries, createEntryIdentity, MCP_LISTS } from '../model/mcp.ts';
import { Identity, Secret, UnseenSecret } from '../model/secret.ts';
import { type Path, pathNamed } from '../model/path.ts';
import type { Unknown } from '../model/plan.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { type DesiredState, type ObservedState, findDeclaredServers } from '../model/state.ts';
import { isList, isRecord, createRecord, collectSecrets, type Value } from '../model/value.ts';
import type { NewReference } from './place-edits.ts';

/** The declarations of a file that can be compared with the service. */
export interface ComparableState {
  readonly desired: DesiredState;
  /** The values that cannot be compared, and are therefore not in `desired`. */
  readonly unknown: readonly Unknown[];
  /** Reports whether a text of the file contains a reference without a value. */
  readonly isUnset: (ref: string) => boolean;
}

/**
 * The desired state for an edit of the file. If a reference without a value hides the identity of an mcp entry, `mcp_config` is
 * left out: which entry of the file to edit would be a guess.
 */
export function comparableState(target: Target, source: ReferenceSource): ComparableState {
  const desired = resolveSettings(target, source);
  const unset = new Set(
    listDeclaredValues(desired)
      .flatMap((value) => collectSecrets(value))
      .flatMap((secret) => (secret instanceof UnseenSecret ? (secret.ref ?? []) : [])),
  );
  const isUnset = (ref: string): boolean => unset.has(ref);
  const { block, value: config } = findDeclaredServers(desired) ?? {};
  if (block !== undefined || !hidesIdentity(config)) return { desired, unknown: [], isUnset };
  const fields = desired.fields.filter(({ field }) => field.name !== 'mcp_config');
  const unknown = desired.missing.filter(({ path }) => path[0] === 'mcp_config');
  return { desired: { ...desired, fields }, unknown, isUnset };
}

function hidesIdentity(config: Value | undefined): boolean {
  if (!isRecord(config)) return false;
  return MCP_LISTS.some((list) =>
    listRecordEntries(config[list]).some((entry) => createEntryIdentity(list, entry).key === null),
  );
}

/*
 * An edited file is compared with the observation that it was made from. Its new references have no values, so that the same dummy
 * value takes the place of the reference on one side and of the secret on the other: no secret has to be opened for that.
 */

function dummyFor(variable: string): string {
  return `setpoint-stands-for-${variable}`;
}

/** A source of references in which the variables of new references have their dummy values. */
export function sourceWithDummies(
  source: ReferenceSource,
  references: readonly NewReference[],
): ReferenceSource {
  const names = new Set(references.map(({ name }) => name));
  return {
    ...source,
    variable: (name) => (names.has(name) ? dummyFor(name) : source.variable(name)),
  };
}

/** A source in which new references have no value, so that nothing they stand for is compared. */
export function sourceWithout(
  source: ReferenceSource,
  references: readonly NewReference[],
): ReferenceSource {
  const names = new Set(references.map(({ name }) => name));
  return { ...source, variable: (name) => (names.has(name) ? undefined : source.variable(name)) };
}

/** The observation with dummy values instead of the secrets behind new references. */
export function fillDummySecrets(
  observed: ObservedState,
  references: readonly NewReference[],
): ObservedState {
  const root: Dummies = { secret: null, below: new Map() };
  for (const { at, written, name } of references) {
    const text = written
      .replaceAll(`\${env:${name}}`, () => dummyFor(name))
      .replaceAll('$${', () => '${');
    addDummy(root, at, new Secret(text, null, new Identity(bareUrl(text))));
  }
  const values = Object.entries(observed.values).map(
    ([name, value]) =>
      [
        name,
        withDummies(value, findDummies(root, pathNamed(name)), name === 'mcp_config'),
      ] as const,
  );
  return { ...observed, values: createRecord(values) };
}

/** Dummy values by their paths, so that a record is gone through once. */
interface Dummies {
  secret: Secret | null;
  readonly below: Map<string, Dummies>;
}

function addDummy(root: Dummies, path: readonly string[], secret: Secret): void {
  let node = root;
  for (const key of path) {
    const next = node.below.get(key) ?? { secret: null, below: new Map<string, Dummies>() };
    node.below.set(key, next);
    node = next;
  }
  node.secret = secret;
}

/** The dummies under a path: a native value may be written with a map above it, or with others below it. */
function findDummies(root: Dummies, path: Path): Dummies | undefined {
  let node: Dummies | undefined = root;
  for (const key of path) node = node?.below.get(key);
  return node;
}

/** `counted`: lists are counted as a plan counts mcp entries: what is not a map is not an entry. */
function withDummies(value: Value, dummies: Dummies | undefined, counted: boolean): Value {
  if (dummies === undefined) return value;
  if (dummies.secret !== null) return dummies.secret;
  const { below } = dummies;
  if (isList(value)) {
    const entries = counted && value.some(isRecord) ? value.filter(isRecord) : value;
    return entries.map((item, index) => withDummies(item, below.get(String(index)), counted));
  }
  if (!isRecord(value)) return value;
  return createRecord(
    Object.entries(value).map(([name, member]) => [
      name,
      withDummies(member, below.get(name), counted),
    ]),
  );
}

/** Every value that a file declares, of fields and of items. */
export function listDeclaredValues({ fields, items }: DesiredState): readonly Value[] {
  const named = [...items.values()].flatMap((declared) =>
    declared.flatMap(({ values = [] }) => values),
  );
  return [...fields, ...named].map(({ value }) => value);
}
