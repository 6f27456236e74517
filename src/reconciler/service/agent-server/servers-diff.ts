import { sameEndpoint } from '../../model/endpoint.ts';
import { listRecordEntries, isMaskedMember, MCP_LISTS } from '../../model/mcp.ts';
import {
  isEmpty,
  isRecord,
  createRecord,
  sameValue,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import { readServerName, type Sendable, convertServerLists, twiceProblem } from '../store-body.ts';

/**
 * The PATCH that makes the observed servers those of a config, member by member: null resets the map, and null for a name removes that
 * server. A member that the answer masks and the config omits is preserved: neither it nor its mask is sent. Parts of a server for another
 * list, for another way to authenticate, or for another host are removed: the server would carry the old secret over.
 */
export function serversDiff(config: Value, observed: Value): Sendable {
  if (config === null) return { value: null };
  const lists = isRecord(observed) ? observed : createRecord({});
  const before = convertServerLists(lists);
  const after = convertServerLists(isRecord(config) ? withKept(config, lists) : config);
  if ('twice' in before) return { problem: twiceProblem(before.twice) };
  if ('twice' in after) return { problem: twiceProblem(after.twice) };
  const removed = Object.keys(before.servers)
    .filter((name) => after.servers[name] === undefined)
    .map((name) => [name, null] as const);
  const changed = Object.entries(after.servers).flatMap(([name, server]) => {
    const diff = serverDiff(before.servers[name], server);
    return diff === undefined ? [] : [[name, diff] as const];
  });
  return { value: createRecord([...removed, ...changed]) };
}

/** A config whose entries have the masked members that they leave out: an entry stands for the observed one of its name. */
function withKept(config: ValueRecord, observed: ValueRecord): ValueRecord {
  const kept = MCP_LISTS.map((list) => {
    const names = new Map(
      listRecordEntries(observed[list]).map((entry) => [readServerName(entry), entry] as const),
    );
    return [
      list,
      listRecordEntries(config[list]).map((entry) => keepingMasked(entry, names)),
    ] as const;
  });
  return createRecord([...Object.entries(config), ...kept]);
}

function keepingMasked(
  entry: ValueRecord,
  observed: ReadonlyMap<string | null, ValueRecord>,
): ValueRecord {
  const was = observed.get(readServerName(entry));
  if (was === undefined || !sameEndpoint(was['url'] ?? null, entry['url'] ?? null)) return entry;
  const isKeyed = !isEmpty(entry['api_key']);
  const kept = Object.entries(was).filter(
    ([name, value]) =>
      entry[name] === undefined && isMaskedMember(value) && !(isKeyed && name === 'auth'),
  );
  return createRecord([...Object.entries(entry), ...kept]);
}

/**
 * The differences of a server; undefined if there are none. A server may have inferred its transport from its address: a write of another
 * address names it again.
 */
function serverDiff(before: Value | undefined, after: Value): Value | undefined {
  if (!isRecord(before) || !isRecord(after)) return valueDiff(before, after);
  const diff = valueDiff(before, withoutSecondKey(before, after));
  if (!isRecord(diff) || isEmpty(diff['url'])) return diff;
  return createRecord({ ...diff, transport: after['transport'] ?? null });
}

/** The server refuses a key together with an Authorization header: a new one replaces the header. */
function withoutSecondKey(before: ValueRecord, after: ValueRecord): ValueRecord {
  if (after['auth'] === undefined || before['auth'] !== undefined || !isRecord(after['headers']))
    return after;
  const headers = Object.entries(after['headers']).filter(
    ([name]) => !/^authorization$/i.test(name),
  );
  return createRecord({ ...after, headers: createRecord(headers) });
}

/** Returns the difference; undefined if the values are equal. A removed member is null, and a new one has no nulls. */
function valueDiff(before: Value | undefined, after: Value): Value | undefined {
  if (before !== undefined && sameValue(before, after)) return undefined;
  if (!isRecord(before) || !isRecord(after)) return after;
  const gone = Object.keys(before)
    .filter((name) => after[name] === undefined)
    .map((name) => [name, null] as const);
  const changed = Object.entries(after).flatMap(([name, value]) => {
    const diff = valueDiff(before[name], value);
    return diff === undefined ? [] : [[name, diff] as const];
  });
  return createRecord([...gone, ...changed]);
}
