import { faultsIn, inWords, type Fault, type SchemaNode } from '../model/json-schema.ts';
import { isPart, kindMember, nativeSchema, nodesAt, serversWith } from '../model/native-schema.ts';
import { formatPath, isUnmanaged, samePath, type Path } from '../model/path.ts';
import { lockedNodes } from '../model/schema-lock.ts';
import type { DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import { isRecord, sameValue, valueAt, type Value } from '../model/value.ts';
import { kindsOf, nativeDialectField, placeOf, shownAt } from './native-fields.ts';

/**
 * Why a service cannot hold the native values that a file declares: it has no such member, or not in its release, or would refuse the
 * value, or store what it cannot read again. A server drops a member that it does not know without a word.
 */
export function nativeMisfits(desired: DesiredState, observed: ObservedState): string[] {
  const found = desired.fields
    .filter(({ field }) => field.isNative && !isUnmanaged(desired.unmanaged, field.path))
    .flatMap((declared) => problemOf(declared, desired, observed) ?? []);
  const lacking = found.filter((problem) => typeof problem !== 'string');
  const others = found.filter((problem) => typeof problem === 'string');
  return [...together(lacking), ...others, ...contradictions(desired, observed)];
}

const BASE: Path = ['conversation_settings', 'worktree_base'];
const BASE_REF: Path = ['conversation_settings', 'worktree_base_ref'];

/** Values that fit each by itself, and that the service refuses together. */
function contradictions(desired: DesiredState, observed: ObservedState): string[] {
  const declaredAt = (path: Path) =>
    desired.fields.find(
      ({ field }) => samePath(field.path, path) && !isUnmanaged(desired.unmanaged, path),
    );
  const after = (path: Path): Value =>
    (declaredAt(path) ?? { value: shownAt(observed, path) ?? null }).value;
  const isDeclared = [BASE, BASE_REF].some((path) => declaredAt(path) !== undefined);
  if (!isDeclared || !sameValue(after(BASE), 'ref') || after(BASE_REF) !== null) return [];
  return [`${formatPath(BASE_REF)} must be set there while ${formatPath(BASE)} is ref.`];
}

/** A member that the service does not have, and the servers that have it, in words. */
interface Lacking {
  readonly name: string;
  readonly servers: string;
}

/** One sentence for all members that the same servers have. */
function together(lacking: readonly Lacking[]): string[] {
  const servers = [...new Set(lacking.map((one) => one.servers))];
  return servers.map((has) => {
    const names = lacking.filter((one) => one.servers === has).map(({ name }) => name);
    const verb = has.includes(' and ') ? 'have' : 'has';
    const it = names.length === 1 ? 'it' : 'them';
    return `It has no ${names.join(', ')}${has === '' ? '' : `: ${has} ${verb} ${it}`}.`;
  });
}

function problemOf(
  { field, value }: DesiredField,
  desired: DesiredState,
  observed: ObservedState,
): string | Lacking | null {
  if (!field.isNative) return null;
  const { path, name } = field;
  const nodes = placeOf(path, observed, desired);
  if (nodes.length === 0) {
    const schema = nativeSchema(observed.dialect.name);
    const isLater = schema !== null && nodesAt(schema, path).length === 0;
    const locked = isLater ? lockedAt(desired, path, observed) : [];
    if (locked.length > 0) {
      return isOlder(path, desired, observed, true)
        ? `${name} is not in release ${observed.release ?? 'of the service'}: the schema lock has it from another one.`
        : lockedProblem(value, locked, path);
    }
    if (isLater && isShown(path, observed)) return null;
    return lacking(path, desired, observed);
  }
  if (isOlder(path, desired, observed)) {
    const release = observed.release === null ? 'of the service' : observed.release;
    return `${name} is not in release ${release}: ${serversWith(path)} has it.`;
  }
  if (value === null && nativeDialectField(field, observed).onNull === 'refuses')
    return `${name} cannot be null there: null keeps what the service has. Write [] for none.`;
  if (value === null || (isRecord(value) && Object.keys(value).length === 0)) return null;
  const defs = nativeSchema(observed.dialect.name)?.$defs ?? {};
  const [fault] = faultsIn(value, { anyOf: nodes }, defs, path);
  return fault === undefined ? null : wrong(fault, defs);
}

/** What the lock beside the file has at a path, for services of the dialect that is observed. */
function lockedAt({ lock }: Pick<DesiredState, 'lock'>, path: Path, { dialect }: ObservedState) {
  return lock === undefined ? [] : lockedNodes(lock, path, dialect.name);
}

/** null resets what it is written to; anything else must be as the lock says. */
function lockedProblem(value: Value, nodes: readonly SchemaNode[], path: Path): string | null {
  const [fault] = value === null ? [] : faultsIn(value, { anyOf: nodes }, {}, path);
  return fault === undefined ? null : wrong(fault, {});
}

/** The service has no such member: because of the kind of agent that it has, or at all. */
function lacking(path: Path, desired: DesiredState, observed: ObservedState): string | Lacking {
  const name = formatPath(path);
  const kind = lackingKind(path, desired, observed);
  return kind === null ? { name, servers: serversWith(path) } : `It has no ${name} while ${kind}.`;
}

/** The kind of a part that has nothing at a path, while another kind has, in words; null if it is not for its kind. */
export function lackingKind(
  path: Path,
  desired: DesiredState,
  observed: ObservedState,
): string | null {
  const schema = nativeSchema(observed.dialect.name);
  const isKnown = schema !== null && nodesAt(schema, path).length > 0;
  if (!isKnown || placeOf(path, observed, desired).length > 0) return null;
  const [at, kind] = kindAbove(path, desired, observed);
  return `${at} is ${kind}`;
}

/** The word that decides that a part has not got a member, and where it is. */
function kindAbove(
  path: Path,
  desired: DesiredState,
  observed: ObservedState,
): readonly [string, string] {
  const schema = nativeSchema(observed.dialect.name);
  const kindAt = kindsOf(observed, desired);
  for (let length = 1; length < path.length; length += 1) {
    if (schema === null) break;
    const above = path.slice(0, length);
    const member = nodesAt(schema, above)
      .map(kindMember)
      .find((kind) => kind !== null);
    if (member === undefined || member === null) continue;
    const applies = kindAt([...above, member[0]]);
    const has = nodesAt(schema, path.slice(0, length + 1), (at) =>
      at.length === length + 1 ? applies : undefined,
    );
    if (has.length === 0) return [formatPath([...above, member[0]]), JSON.stringify(applies)];
  }
  return ['agent_settings.agent_kind', 'another'];
}

/** Whether the answer has a member that the known release does not have: a later release may. */
function isShown(path: Path, { answer }: ObservedState): boolean {
  const above = valueAt(answer, path.slice(0, -1));
  return isRecord(above) && Object.hasOwn(above, path.at(-1) ?? '');
}

/**
 * Whether the answer lacks a member that the known release, or one of the lock, always answers: an earlier release does not have it.
 */
function isOlder(
  path: Path,
  desired: DesiredState,
  observed: ObservedState,
  ofLock = false,
): boolean {
  const { stored, answer, saved = false } = observed;
  const above = path.slice(0, -1);
  const [known, ...others] = placeOf(above, observed, desired);
  if (!stored || saved || known === undefined || others.length > 0 || !isPart([known]))
    return false;
  if (changesKind(path, desired, observed)) return false;
  if (above.length > 0 && !ofLock && !hasMember(known, path)) return false;
  const shown = above.length === 0 ? answer : valueAt(answer, above);
  return (
    isRecord(shown) && Object.keys(shown).length > 0 && !Object.hasOwn(shown, path.at(-1) ?? '')
  );
}

function hasMember({ properties = {}, additionalProperties }: SchemaNode, path: Path): boolean {
  return additionalProperties === false && Object.hasOwn(properties, path.at(-1) ?? '');
}

/** Whether the file makes another kind of a part around a path: then its members are not those of the answer. */
function changesKind(path: Path, desired: DesiredState, observed: ObservedState): boolean {
  const schema = nativeSchema(observed.dialect.name);
  if (schema === null) return false;
  const [before, after] = [kindsOf(observed), kindsOf(observed, desired)];
  return path.some((_, index) => {
    const above = path.slice(0, index);
    const member = nodesAt(schema, above)
      .map(kindMember)
      .find((kind) => kind !== null);
    if (member === undefined || member === null) return false;
    const place = [...above, member[0]];
    return before(place) !== after(place);
  });
}

function wrong(
  { path, kind, expected }: Fault,
  defs: Readonly<Record<string, SchemaNode>>,
): string {
  const name = formatPath(path);
  if (kind === 'unknown') return `It has no ${name}, and would drop it.`;
  if (kind === 'missing') return `${name} is missing.`;
  return `${name} must be ${inWords(expected, defs)} there.`;
}
