import { memberFacts } from '../model/path-facts.ts';
import {
  filterMembers,
  isEmpty,
  isRecord,
  createRecord,
  sameValue,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { holdsMask, isMaskedSecret } from '../model/secret-words.ts';
import {
  identityMember,
  KEYED,
  createEntryIdentity,
  isMaskedMember,
  MCP_DEFAULTS,
  createMemberPath,
  NAMED_DEFAULTS,
  removeMaskedMembers,
  type McpList,
  listRecordEntries,
  createKnownEntry,
  readEntryAuth,
} from '../model/mcp.ts';
import type { Dialect } from '../model/dialect.ts';
import { formatPath, type Path } from '../model/path.ts';
import { type Change, isUndeclared, type Unknown, type Unpreservable } from '../model/plan.ts';
import type { NamedSettings, ObservedState } from '../model/state.ts';
import { type Reason, REASONS } from '../model/reasons.ts';
import {
  type Concealment,
  MASKED,
  compareValue,
  listMissingReferences,
  createChange,
  createSettingsSubject,
} from './decision.ts';

/**
 * The comparison of a declared entry with the observed one. `differing` are the members that surely differ; `unknown` are the values that
 * cannot be compared, each by its path inside the entry: the service masks it, or its reference is missing.
 */
export interface EntryComparison {
  readonly differing: readonly string[];
  readonly unknown: readonly Unknown[];
}

export interface Hiding extends Concealment {
  /** True if a write preserves what is hidden and omitted. */
  readonly kept: boolean;
  /** The values of members that an entry omits. */
  readonly defaults: Readonly<Record<McpList, ValueRecord>>;
}

export const PLAIN_ANSWER: Hiding = {
  nulls: false,
  kept: false,
  reason: 'the service does not show it',
  kind: 'stored',
  defaults: MCP_DEFAULTS,
};

/** Returns how an answer hides mcp secrets. The masks of a snapshot are setpoint's own: a null there is a null. */
export function resolveMcpHiding({ values, dialect, saved = false }: ObservedState): Hiding {
  const kept = dialect.mcp === 'entries';
  const defaults = listEntryDefaults(dialect);
  return saved
    ? { nulls: false, kept, reason: MASKED, defaults }
    : {
        ...PLAIN_ANSWER,
        kept,
        defaults,
        nulls: dialect.nullsMayHide && holdsMask(values['mcp_config']),
      };
}

/** Returns the defaults of a dialect for members that an entry omits. */
export function listEntryDefaults({ entryMembers }: Dialect): Hiding['defaults'] {
  return entryMembers === undefined ? NAMED_DEFAULTS : MCP_DEFAULTS;
}

/** Returns the value of a member of an observed entry, or its default. */
export function readMemberOrDefault(
  list: McpList,
  name: string,
  entry: ValueRecord,
  defaults: Hiding['defaults'],
): Value {
  if (name === 'auth') return comparableAuth(readEntryAuth(entry), entry);
  return entry[name] ?? defaults[list][name] ?? null;
}

/** The members the file declares, compared by meaning; a member the service leaves out has its default. */
export function compareEntry(
  list: McpList,
  declared: ValueRecord,
  actual: ValueRecord,
  hiding: Hiding = PLAIN_ANSWER,
): EntryComparison {
  const differing: string[] = [];
  const unknown: Unknown[] = [];
  for (const [name, value] of Object.entries(declared)) {
    const found = readMemberOrDefault(list, name, actual, hiding.defaults);
    const own = name === 'auth' ? comparableAuth(value, { ...actual, ...declared }) : value;
    const wanted = own ?? hiding.defaults[list][name] ?? null;
    const compared = isOtherPlace(list, name, declared, actual)
      ? 'differs'
      : compareValue([name], wanted, found, hiding);
    if (compared === 'differs') differing.push(name);
    // A reference without a value is named whether its member is known to differ or not.
    unknown.push(...(compared === 'differs' ? listMissingReferences([name], value) : compared));
  }
  return { differing, unknown };
}

/**
 * Returns the names of what differs in a member of an entry: `headers.Authorization` for a header that surely differs, or that only one of
 * the two has; the name of the member where the two are not maps.
 */
export function nameDifferences(
  name: string,
  declared: Value,
  actual: Value,
  hiding: Hiding = PLAIN_ANSWER,
): readonly string[] {
  if (!isRecord(declared) || !isRecord(actual)) return [name];
  const keys = new Set([...Object.keys(declared), ...Object.keys(actual)]);
  const differing = [...keys].filter((key) => {
    const [wanted, found] = [declared[key], actual[key]];
    if (wanted === undefined || found === undefined) return true;
    return compareValue([name, key], wanted, found, hiding) === 'differs';
  });
  if (differing.length === 0 || differing.length > MOST_NAMED) return [name];
  return differing.map((key) => formatPath([name, key]));
}

/** Keys of one member that a reason names. */
const MOST_NAMED = 5;

/** Reports whether two entries are certainly at different places, whatever their urls hide. */
function isOtherPlace(
  list: McpList,
  member: string,
  declared: ValueRecord,
  actual: ValueRecord,
): boolean {
  return (
    member === identityMember(list) &&
    !createEntryIdentity(list, declared).mayBe(createEntryIdentity(list, actual))
  );
}

/**
 * The secrets of an entry that the service has and hides, by their paths in it (`api_key`, `args`, `env` and a name): sending the entry back
 * without them wipes them, unless a write keeps them. Only a mask hides; in an answer that masks any secret, null may hide one too.
 */
export function hiddenSecrets(list: McpList, actual: ValueRecord, { nulls, kept }: Hiding): Path[] {
  if (kept) return [];
  const hidden = Object.entries(actual).flatMap(([name, value]): Path[] => {
    if (name !== 'env' || !isRecord(value)) return isMaskedMember(value) ? [[name]] : [];
    return Object.entries(value)
      .filter(([, variable]) => isMaskedSecret(variable) || (nulls && isEmpty(variable)))
      .map(([variable]) => ['env', variable]);
  });
  const isNullKey = nulls && list !== 'stdio_servers' && isEmpty(actual['api_key']);
  return isNullKey ? [['api_key'], ...hidden] : hidden;
}

/** An entry to send: the read entry without its masks, with the declared members over it. */
export function mergeUnmaskedEntry(declared: ValueRecord, actual: ValueRecord): ValueRecord {
  return createRecord({ ...removeMaskedMembers(actual), ...declared });
}

/**
 * A declared entry with the login that the server keeps for it, and no other: it is neither compared nor replaced. A mask cannot be sent
 * to a service whose write replaces the entry.
 */
export function withLogin(
  declared: ValueRecord,
  actual: ValueRecord,
  { kept }: Pick<Hiding, 'kept'>,
): ValueRecord {
  const { auth } = declared;
  if (!isRecord(auth)) return declared;
  const login = Object.entries(selectServedMembers(actual['auth'], auth['strategy'])).filter(
    ([, value]) => kept || !holdsMask(value),
  );
  const own = withoutServed(auth);
  const all = createRecord([...Object.entries(isRecord(own) ? own : auth), ...login]);
  return createRecord({ ...declared, auth: all });
}

/** The login of an entry that a write cannot carry: the service masks it and replaces the entry. */
export function findLostLogin(
  declared: ValueRecord,
  actual: ValueRecord,
  { kept }: Pick<Hiding, 'kept'>,
): readonly Path[] {
  const { auth } = declared;
  if (kept || !isRecord(auth)) return [];
  return Object.entries(selectServedMembers(actual['auth'], auth['strategy'])).flatMap(
    ([name, value]) => (holdsMask(value) ? [['auth', name]] : []),
  );
}

/** Lists the members that are lost if a write sends an entry back, with what to declare. */
export function listUnpreservableMembers(entry: Path, members: readonly Path[]): Unpreservable[] {
  return members.map((member) => ({
    path: createMemberPath(entry, member),
    stops: 'always',
    remedy:
      member[0] === 'auth' && member.length > 1
        ? 'The server keeps this login, so change the entry in its user interface'
        : 'Declare the entry with it (a reference, or null for none)',
  }));
}

/** The servers that a block names: others are left alone, unless it removes them. */
export interface NamedServers {
  readonly declared: ReadonlySet<Value | undefined>;
  readonly block: NamedSettings;
}

/** Explains why an entry that its list does not declare is removed; null if it stays. */
export function removalReason(
  list: McpList,
  entry: ValueRecord,
  certain: boolean,
  named: NamedServers | null,
): Reason | null {
  const undeclared = certain ? REASONS.undeclared : REASONS['undeclared-uncertain'];
  if (named === null) return undeclared;
  const { declared, block } = named;
  const { name } = entry;
  if (typeof name === 'string' && block.removed.includes(name)) return REASONS['null-in-file'];
  if (declared.has(name)) return REASONS['other-list'];
  return isOtherServer(block, list, entry) ? undeclared : null;
}

/** Reports whether a server is removed unless the block names it: other servers go, and the file does not list this one as unmanaged. */
export function isOtherServer(
  { others }: NamedSettings,
  list: McpList,
  entry: ValueRecord,
): boolean {
  if (others === undefined) return false;
  const { names, lists } = others.left;
  const { name, place } = createKnownEntry(list, entry);
  if (names.some((one) => one === entry['name'])) return false;
  if (name !== null) return true;
  const left = isRecord(lists) ? listRecordEntries(lists[list]) : [];
  return left.every((one) => !createKnownEntry(list, one).place.mayBe(place));
}

/** The removal of an entry; that of a server that the file does not name has the place of the declaration that removes others. */
export function createEntryRemoval(
  path: Path,
  entry: ValueRecord,
  reason: Reason,
  named: NamedServers | null,
): Change {
  const source = isUndeclared(reason) ? (named?.block.others?.source ?? null) : null;
  return createChange(createSettingsSubject(path, source), 'remove', entry, null, reason);
}

/** A way to authenticate for comparison. One that sends a key counts as none where an entry has no key. */
function comparableAuth(auth: Value, { api_key: key }: ValueRecord): Value {
  const isKeyed = isRecord(auth) && KEYED.has(auth['strategy'] ?? null);
  return isKeyed && isEmpty(key) ? null : withoutServed(auth);
}

/** A way to authenticate without what the server alone writes into it, such as the tokens of a login. */
export function withoutServed(auth: Value): Value {
  return isRecord(auth) ? filterMembers(auth, (name) => !isServed(name)) : auth;
}

/** Returns the members that the server has added to an authentication: they belong to the strategy they were made for. */
function selectServedMembers(auth: Value | undefined, strategy: Value | undefined): ValueRecord {
  if (!isRecord(auth) || !sameValue(auth['strategy'], strategy)) return createRecord({});
  return filterMembers(auth, (name, value) => isServed(name) && value !== null);
}

function isServed(name: string): boolean {
  return memberFacts('McpAuth', name).served === true;
}
