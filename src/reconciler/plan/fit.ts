import type { Dialect, DialectField } from '../model/dialect.ts';
import { SetpointError } from '../model/error.ts';
import { fieldNamed, NATIVE_SERVERS } from '../model/field.ts';
import { findPathFacts } from '../model/path-facts.ts';
import { formatPath, type Path } from '../model/path.ts';
import {
  type SettingsWrite,
  type DesiredField,
  type DesiredState,
  type ObservedState,
  findDeclaredServers,
  type Organization,
} from '../model/state.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import {
  isEmpty,
  isList,
  isRecord,
  createRecord,
  collectSecrets,
  textFits,
  filterMembers,
  readPath,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { resolveNamedBlocks } from './field-here.ts';
import { pointerMisfits } from './profiles.ts';
import { lackingKind, schemaMisfits } from './fit-schema.ts';
import { fieldsOfOrganization, organizationName } from '../model/organization.ts';
import { resetReplacedAgent, withoutUnseen } from './consequences.ts';
import { findSchemaFaults, describeSchema } from '../model/json-schema.ts';
import {
  listRecordEntries,
  createEntryIdentity,
  isUnmanagedEntry,
  MCP_LISTS,
  type McpList,
  KEYED,
} from '../model/mcp.ts';
import { isOfKind, nativeDefinitions, nativeNodes, serversWith } from '../model/native-schema.ts';

/**
 * The reason why a service cannot store the declaration of a file: every field that it does not have, or whose value it would refuse or
 * store as something that it cannot read again. Null if it can. A field that the file lists as unmanaged is not judged, and an unknown
 * field counts as null on the service.
 */
export function findUnsupported(
  desired: DesiredState,
  dialect: Dialect,
  observed: ObservedState | null = null,
): SetpointError | null {
  const organization = observed?.organization;
  const shared = organization === undefined ? [] : ofOrganization(desired, organization);
  const problems = [...collectFitProblems(desired, dialect, observed), ...shared];
  if (problems.length === 0) return null;
  const message = `The file does not fit this service (${dialect.name} API). ${problems.join(' ')}`;
  return new SetpointError(
    'unfit-for-service',
    message,
    shared.length === problems.length ? { hint: SET_FOR_ALL } : {},
  );
}

/** Explains, a sentence each, why the observed service cannot store what the file declares. */
export function listFitProblems(
  declared: DesiredState,
  observed: ObservedState,
): readonly string[] {
  const desired = resolveNamedBlocks(declared, observed);
  return collectFitProblems(desired, resetReplacedAgent(desired, observed).dialect, observed);
}

function collectFitProblems(
  desired: DesiredState,
  dialect: Dialect,
  observed: ObservedState | null,
): readonly string[] {
  const problems: string[] = [];
  for (const declared of desired.fields) {
    const problem =
      tableMisfit(declared, dialect) ?? (observed && kindMisfit(declared, desired, observed));
    if (problem !== null) problems.push(problem);
    problems.push(...listUnstorableSecrets(declared, dialect));
  }
  problems.push(...mcpMisfits(desired, dialect));
  if (observed !== null)
    problems.push(...schemaMisfits(desired, observed), ...pointerMisfits(desired, observed));
  for (const { dialects, otherwise } of desired.only ?? [])
    if (!dialects.includes(dialect.name)) problems.push(otherwise);
  return problems;
}

const SET_FOR_ALL =
  'Remove it here, or list it under unmanaged; an owner or admin sets it for the organisation.';

/**
 * Throws if the write of a plan must not be sent: what is wrong of it as a whole is known before. What is not known here, a reference
 * without a value, is taken to be fine; and a snapshot's masks are setpoint's own.
 */
export function requireWritable(write: SettingsWrite | null): void {
  if (write === null || write.observed.saved === true) return;
  const fields = Object.entries(write.fields).flatMap(([name, value]): [string, Value][] => {
    if (!collectSecrets(value).some((secret) => secret instanceof UnseenSecret))
      return [[name, value]];
    return name === 'mcp_config' ? [[name, withoutUnseen(value)]] : [];
  });
  const problem = write.observed.unwritable?.({ ...write, fields: createRecord(fields) }) ?? null;
  if (problem === null) return;
  const message = `The file does not fit this service (${write.observed.dialect.name} API): ${problem}.`;
  throw new SetpointError('unfit-for-service', message);
}

/** Throws the misfit, if there is one. */
export function requireFit(declared: DesiredState, observed: ObservedState): void {
  const desired = resolveNamedBlocks(declared, observed);
  const unfit = findUnsupported(desired, resetReplacedAgent(desired, observed).dialect, observed);
  if (unfit !== null) throw unfit;
}

/** Reports a field in a part that only another kind has. */
function kindMisfit(
  { field, value }: DesiredField,
  desired: DesiredState,
  observed: ObservedState,
): string | null {
  if (fieldNamed(field.name) === undefined || value === null) return null;
  const lacks = lackingKind(field.place, desired, observed);
  return lacks === null ? null : `It has no ${field.name} while ${lacks}.`;
}

/** The secrets of a value that these services would not keep: each by its path. */
function listUnstorableSecrets(
  { field, value }: DesiredField,
  { unstorable }: Dialect,
): readonly string[] {
  if (unstorable === undefined) return NONE;
  const secrets = collectTexts(value, field.path).filter(
    ({ path }) => field.secret || findPathFacts(path).secret,
  );
  return unstorable.flatMap(({ form, because }) =>
    secrets
      .filter(({ text }) => hasTextForm(form, text))
      .map(({ path }) => `${formatPath(path)} cannot be stored there: ${because}.`),
  );
}

const NONE: readonly string[] = [];

interface Text {
  readonly path: Path;
  readonly text: string | Secret;
}

function collectTexts(value: Value, path: Path): Text[] {
  if (value instanceof UnseenSecret) return [];
  if (typeof value === 'string' || value instanceof Secret) return [{ path, text: value }];
  if (isList(value))
    return value.flatMap((item, index) => collectTexts(item, [...path, String(index)]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => collectTexts(member, [...path, key]));
}

function hasTextForm(form: RegExp, text: Value): boolean {
  return textFits(text, (value) => form.test(value));
}

/** Describes why the table of a dialect rejects a field of the specification. */
function tableMisfit({ field: { name }, value }: DesiredField, dialect: Dialect): string | null {
  if (fieldNamed(name) === undefined) return null;
  const field = dialect.fields.get(name);
  if (field === undefined) {
    if (value === null) return null;
    const elsewhere = dialect.lacks.get(name);
    return `It has no ${name}${elsewhere === undefined ? '' : `: ${elsewhere}`}.`;
  }
  if (value === null)
    return field.onNull === 'refuses' ? `${name} cannot be null there: it is always set.` : null;
  return unacceptable(field, value);
}

function unacceptable({ name, accepts, clearWith }: DialectField, value: Value): string | null {
  if (accepts === undefined || value instanceof UnseenSecret) return null;
  if ('least' in accepts)
    return isLessThan(accepts.least, value)
      ? `${name} must be at least ${accepts.least} there.`
      : null;
  if ('filled' in accepts)
    return isEmpty(value) ? `${name} cannot be empty there: it is always set.` : null;
  const words = clearWith === null ? accepts.oneOf : [...accepts.oneOf, clearWith];
  return isExpectedWord(words, value)
    ? null
    : `${name} must be ${words.map((word) => JSON.stringify(word)).join(' or ')} there, or null.`;
}

function isLessThan(least: number, value: Value): boolean {
  if (!(value instanceof Secret)) return Number(value) < least;
  return value.fits((text) => Number(text) < least);
}

function isExpectedWord(words: readonly string[], value: Value): boolean {
  return textFits(value, (text) => words.includes(text));
}

/**
 * Members of the declared mcp entries that the services of a dialect do not have, or not with such a value. Every service takes a
 * `name`: it is a member of the entry, the entry's key in a map, or not needed there.
 */
export function mcpMisfits({ fields, unmanaged }: DesiredState, dialect: Dialect): string[] {
  const declared = findDeclaredServers({ fields });
  const config = declared?.value;
  const isNamed = declared?.block !== undefined;
  if (!isRecord(config)) return [];
  return MCP_LISTS.flatMap((list) =>
    listRecordEntries(config[list]).flatMap((entry) => {
      const path = toDeclaredEntryPath(list, entry, isNamed);
      if (isUnmanagedEntry(unmanaged, list, entry)) return [];
      const judged = isNamed ? withoutOwnForm(entry, dialect) : entry;
      return Object.entries(judged).flatMap(
        ([member, value]) => entryMisfit([...path, member], list, value, dialect) ?? [],
      );
    }),
  );
}

/** The path of a declared entry as the file has it. */
function toDeclaredEntryPath(list: McpList, entry: ValueRecord, isNamed: boolean): Path {
  const { name } = entry;
  return isNamed && typeof name === 'string'
    ? ['mcp_servers', name]
    : ['mcp_config', list, createEntryIdentity(list, entry).shown];
}

/** An entry without the parts that the lists of earlier servers express in their own way: how it is reached, and that it has a key. */
function withoutOwnForm(entry: ValueRecord, { entryMembers }: Dialect): ValueRecord {
  if (entryMembers === undefined) return entry;
  const { auth } = entry;
  const isKey =
    auth === null ||
    (isRecord(auth) && Object.keys(auth).length === 1 && KEYED.has(auth['strategy'] ?? null));
  return filterMembers(entry, (name) => name !== 'transport' && !(name === 'auth' && isKey));
}

function entryMisfit(
  path: readonly string[],
  list: McpList,
  value: Value,
  dialect: Dialect,
): string | null {
  const member = path.at(-1) ?? '';
  const own = dialect.entryMembers?.[list];
  if (member === 'timeout' && dialect.timeouts !== undefined && !isTimeout(value, dialect.timeouts))
    return `${formatPath(path)} must be a whole number from ${dialect.timeouts.join(' to ')} there.`;
  const form =
    own === undefined ? undefined : FORMS[`${list === 'stdio_servers' ? '' : 'remote '}${member}`];
  if (form !== undefined && !(value instanceof UnseenSecret) && !hasTextForm(form.is, value))
    return `${formatPath(path)} must be ${form.words} there.`;
  if (own?.includes(member) === true || member === 'name') return null;
  if (member === 'headers' && isRecord(value) && (value[dialect.authHeader ?? ''] ?? null) !== null)
    return `${formatPath([...path, dialect.authHeader ?? ''])} is kept as auth there: declare auth with the strategy bearer or header instead.`;
  if (value === null || (own === undefined && OF_LISTS.has(member))) return null;
  const place = [...NATIVE_SERVERS, '', member];
  const nodes = nativeNodes(dialect.name, place);
  const servers = serversWith(place);
  if (own !== undefined || nodes.length === 0)
    return `It has no ${formatPath(path)}${servers === '' ? '' : `: ${servers} ${servers.includes(' and ') ? 'have' : 'has'} it`}.`;
  // A strategy next to api_key has its value there.
  if (member === 'auth') return describeAuthMisfit(path, value, dialect);
  const defs = nativeDefinitions(dialect.name);
  const [fault] = findSchemaFaults(value, { anyOf: nodes }, defs, path);
  return fault === undefined
    ? null
    : `${formatPath(fault.path)} must be ${describeSchema(fault.expected, defs)} there.`;
}

/** A member of an authentication that its strategy does not have, which a server drops, or lacks, or has otherwise. Null if there is none. */
function describeAuthMisfit(path: Path, value: Value, { name: dialect }: Dialect): string | null {
  const strategy = isRecord(value) ? value['strategy'] : null;
  if (!isRecord(value) || typeof strategy !== 'string') return null;
  const place = [...NATIVE_SERVERS, '', 'auth'];
  const nodes = nativeNodes(dialect, place).filter((node) => isOfKind(node, place, () => strategy));
  const defs = nativeDefinitions(dialect);
  const faults = findSchemaFaults(value, { anyOf: nodes }, defs, []).filter(
    (one) => one.kind !== 'unknown' || !isEmpty(readPath(value, one.path)),
  );
  const fault = faults.find(({ kind }) => kind === 'unknown') ?? faults[0];
  if (fault === undefined) return null;
  const at = formatPath([...path, ...fault.path]);
  if (fault.kind === 'unknown')
    return `${at} does not belong to the strategy ${strategy}: the service would drop it.`;
  return fault.kind === 'missing'
    ? `${at} is missing: the strategy ${strategy} needs it.`
    : `${at} must be ${describeSchema(fault.expected, defs)} there.`;
}

/** The forms that a server with the lists of the specification accepts for an entry, also where a map declares it. */
const FORMS: Readonly<Record<string, { readonly is: RegExp; readonly words: string }>> = {
  name: { is: /^\s*[\w-]+\s*$/, words: 'made of letters, digits, _ and -' },
  'remote url': {
    is: /^\s*(?:https?|wss?):\/\/[^/?#\s]/i,
    words: 'an address with http, https, ws or wss, and a host',
  },
};

function isTimeout(value: Value, [least, most]: readonly [number, number]): boolean {
  const fits = (one: number): boolean => Number.isInteger(one) && one >= least && one <= most;
  if (value === null || value instanceof UnseenSecret) return true;
  return value instanceof Secret ? value.fits((text) => fits(Number(text))) : fits(Number(value));
}

/** Members that the lists of the specification have everywhere. */
const OF_LISTS: ReadonlySet<string> = new Set(['name', 'url', 'api_key', 'command', 'args', 'env']);

function ofOrganization(desired: DesiredState, organization: Organization): string[] {
  return fieldsOfOrganization(desired).map(({ field, source }) => {
    const { file, line, column } = source();
    return `${field.name} (${file}:${line}:${column}) belongs to ${organizationName(organization)}, and the service does not store it for a member.`;
  });
}
