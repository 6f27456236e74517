import { fieldNamed } from '../model/field.ts';
import {
  findSchemaFaults,
  describeSchema,
  type Definitions,
  type Fault,
  type SchemaNode,
} from '../model/json-schema.ts';
import {
  isOfKind,
  isPart,
  selectLockNodes,
  nativeDefinitions,
  nativeNodes,
  nativeSchema,
  serversWith,
} from '../model/native-schema.ts';
import { formatPath, samePath, type Path } from '../model/path.ts';
import type { DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import { isRecord, sameValue, readPath, type Value } from '../model/value.ts';
import {
  pathsOfField,
  resolveDialectField,
  kindPlaces,
  collectVariantKinds,
  findSchemaNodes,
  readShownValue,
} from './field-here.ts';

/**
 * The reason why a service cannot store the values at places that only its schema defines: it has no such member, or not in its release, or
 * would refuse the value, or store something that it cannot read again. A server silently drops an unknown member.
 */
export function schemaMisfits(desired: DesiredState, observed: ObservedState): string[] {
  const found = desired.fields
    .filter(({ field }) => fieldNamed(field.name) === undefined)
    .filter((declared) => !isNullOfOthers(declared, desired, observed))
    .flatMap((declared) => describeSchemaMisfit(declared, desired, observed) ?? []);
  const lacking = found.filter((problem) => typeof problem !== 'string');
  const others = found.filter((problem) => typeof problem === 'string');
  return [...together(lacking), ...others, ...contradictions(desired, observed)];
}

/** Reports whether the file declares null for what only other servers, releases or kinds have: there is nothing to clear here. */
export function isNullOfOthers(
  declared: DesiredField,
  desired: DesiredState,
  observed: ObservedState,
): boolean {
  const { field, value } = declared;
  if (value !== null || fieldNamed(field.name) !== undefined) return false;
  const isHere = findSchemaNodes(field.path, observed, desired).length > 0;
  return (
    (!isHere || isOlder(field.path, desired, observed)) &&
    describeSupportingServers(declared) !== ''
  );
}

const BASE: Path = ['conversation_settings', 'worktree_base'];
const BASE_REF: Path = ['conversation_settings', 'worktree_base_ref'];

/** Values that fit separately, and that the service refuses together. */
function contradictions(desired: DesiredState, observed: ObservedState): string[] {
  const declaredAt = (path: Path) => desired.fields.find(({ field }) => samePath(field.path, path));
  const after = (path: Path): Value =>
    (declaredAt(path) ?? { value: readShownValue(observed, path) ?? null }).value;
  const isDeclared = [BASE, BASE_REF].some((path) => declaredAt(path) !== undefined);
  if (!isDeclared || !sameValue(after(BASE), 'ref') || after(BASE_REF) !== null) return [];
  return [`${formatPath(BASE_REF)} must be set there while ${formatPath(BASE)} is ref.`];
}

/** A member that the service does not have, and the servers that have it, in words. */
interface MissingMember {
  readonly name: string;
  readonly servers: string;
}

/** One sentence for all members that the same servers have. */
function together(lacking: readonly MissingMember[]): string[] {
  const servers = [...new Set(lacking.map((one) => one.servers))];
  return servers.map((has) => {
    const names = lacking.filter((one) => one.servers === has).map(({ name }) => name);
    const verb = has.includes(' and ') ? 'have' : 'has';
    const it = names.length === 1 ? 'it' : 'them';
    return `It has no ${names.join(', ')}${has === '' ? '' : `: ${has} ${verb} ${it}`}.`;
  });
}

function describeSchemaMisfit(
  declared: DesiredField,
  desired: DesiredState,
  observed: ObservedState,
): string | MissingMember | null {
  const { field, value, block } = declared;
  const { path } = field;
  const name = block?.name ?? field.name;
  const nodes = findSchemaNodes(path, observed, desired);
  const { dialect, release } = observed;
  const isNothing = value === null || (isRecord(value) && Object.keys(value).length === 0);
  if (nodes.length === 0) {
    if (dialect.native?.has(field.name) === true && value !== null) return null;
    const isKnown = nativeNodes(dialect.name, path).length > 0;
    const isLater = nativeSchema(dialect.name) !== null && !isKnown;
    const { lock } = desired;
    const locked = isLater && lock !== undefined ? selectLockNodes(lock, path, dialect.name) : [];
    if (locked.length > 0) {
      if (isOlder(path, desired, observed, true))
        return `${name} is not in release ${release ?? 'of the service'}: the schema lock has it from another one.`;
      return value === null ? null : wrongValue(value, locked, {}, path);
    }
    if (isLater && isAnswered(path, observed)) return null;
    const kind = lackingKind(path, desired, observed);
    return kind === null
      ? { name, servers: describeSupportingServers(declared) }
      : `It has no ${name} while ${kind}.`;
  }
  if (isOlder(path, desired, observed))
    return `${name} is not in the release of this server: it is in ${serversWith(path)}.`;
  if (value === null && resolveDialectField(field, observed).onNull === 'refuses')
    return `${name} cannot be null there: null keeps what the service has. Write [] for none.`;
  return isNothing ? null : wrongValue(value, nodes, nativeDefinitions(dialect.name), path);
}

/** The servers that have a field, in words; of one that a block names, wherever they have it. */
function describeSupportingServers(declared: Pick<DesiredField, 'field' | 'block'>): string {
  const all = pathsOfField(declared).flatMap((path) => serversWith(path).split(' and '));
  return [...new Set(all)].filter((one) => one !== '').join(' and ');
}

/** The first thing that is wrong with a value, in words; null if nothing is. */
function wrongValue(
  value: Value,
  nodes: readonly SchemaNode[],
  defs: Definitions,
  path: Path,
): string | null {
  const [fault] = findSchemaFaults(value, { anyOf: nodes }, defs, path);
  return fault === undefined ? null : wrong(fault, defs);
}

/** The kind of a part that has nothing at a path, while another kind has, in words; null if it is not for its kind. */
export function lackingKind(
  path: Path,
  desired: DesiredState,
  observed: ObservedState,
): string | null {
  const { name } = observed.dialect;
  const isKnown = nativeNodes(name, path).length > 0;
  if (!isKnown || findSchemaNodes(path, observed, desired).length > 0) return null;
  const kindAt = collectVariantKinds(observed, desired);
  const decides = kindPlaces(path, observed).find((place) => {
    const inside = path.slice(0, place.length);
    const applies = (at: Path) => (samePath(at, place) ? kindAt(place) : undefined);
    return nativeNodes(name, inside, applies).length === 0;
  });
  return decides === undefined
    ? 'agent_settings.agent_kind is another'
    : `${formatPath(decides)} is ${JSON.stringify(kindAt(decides))}`;
}

/** Reports whether the answer has a member that the known release lacks. A later release may have it. */
function isAnswered(path: Path, { answer }: ObservedState): boolean {
  const above = readPath(answer, path.slice(0, -1));
  return isRecord(above) && Object.hasOwn(above, path.at(-1) ?? '');
}

/**
 * Reports whether the answer lacks a member that the known release, or one of the lock, always answers: an earlier release does not have
 * it.
 */
function isOlder(
  path: Path,
  desired: DesiredState,
  observed: ObservedState,
  ofLock = false,
): boolean {
  const { stored, answer, saved = false } = observed;
  const above = path.slice(0, -1);
  const kindAt = collectVariantKinds(observed, desired);
  const nodes = findSchemaNodes(above, observed, desired);
  const [known, ...others] = nodes.filter((node) => isOfKind(node, above, kindAt));
  if (!stored || saved || known === undefined || others.length > 0 || !isPart([known]))
    return false;
  if (changesKind(path, desired, observed)) return false;
  if (above.length > 0 && !ofLock && !hasMember(known, path)) return false;
  const shown = above.length === 0 ? answer : readPath(answer, above);
  return (
    isRecord(shown) && Object.keys(shown).length > 0 && !Object.hasOwn(shown, path.at(-1) ?? '')
  );
}

function hasMember({ properties = {}, additionalProperties }: SchemaNode, path: Path): boolean {
  return additionalProperties === false && Object.hasOwn(properties, path.at(-1) ?? '');
}

/** Reports whether the file changes the kind of a part around a path. Then the answer does not show its members. */
function changesKind(path: Path, desired: DesiredState, observed: ObservedState): boolean {
  const [before, after] = [collectVariantKinds(observed), collectVariantKinds(observed, desired)];
  return kindPlaces(path, observed).some((place) => before(place) !== after(place));
}

function wrong({ path, kind, expected }: Fault, defs: Definitions): string {
  const name = formatPath(path);
  if (kind === 'unknown') return `It has no ${name}, and would drop it.`;
  if (kind === 'missing') return `${name} is missing.`;
  return `${name} must be ${describeSchema(expected, defs)} there.`;
}
