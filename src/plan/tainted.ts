import { entriesOf, isMcpList, type McpList } from '../model/mcp.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredState } from '../model/state.ts';
import {
  isList,
  isRecord,
  recordOf,
  secretsIn,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { matchEntries } from './match-entries.ts';
import { compareEntry } from './mcp-entry.ts';
import { shownLike } from './plan-mcp-list.ts';
import { concealed } from './plan-plain.ts';

/**
 * What a service holds, with everything masked that the file reads from a reference: each place that is written as one, whatever
 * it holds, and the same values wherever else they are. A reference without a value masks its own place and nothing else. The
 * arguments and variables of programs are open if they are the literals that the committed file has there.
 */
export function withoutTainted(record: ValueRecord, desired: DesiredState): ValueRecord {
  const references = desired.fields
    .flatMap(({ value }) => secretsIn(value))
    .filter(({ ref }) => ref !== null);
  const declared = new Map<string, Value>(
    desired.fields.map(({ field, value }) => [field.name, value]),
  );
  return recordOf(
    Object.entries(record).map(([name, value]) => {
      const own = declared.get(name);
      if (own === undefined) return [name, conceal(value, references)];
      if (name === 'mcp_config' && isRecord(own) && isRecord(value))
        return [name, conceal(openLists(value, own), references)];
      return [name, conceal(maskedLike(value, own), references)];
    }),
  );
}

function openLists(config: ValueRecord, declared: ValueRecord): ValueRecord {
  return recordOf(
    Object.entries(config).map(([name, value]) => [
      name,
      isMcpList(name) && isList(value) && declared[name] !== undefined
        ? openEntries(name, value, entriesOf(declared[name]))
        : value,
    ]),
  );
}

function openEntries(
  list: McpList,
  values: readonly Value[],
  declared: readonly ValueRecord[],
): readonly Value[] {
  const entries = entriesOf(values);
  const { pairs } = matchEntries(
    list,
    declared,
    entries,
    (one, other) => compareEntry(list, declared[one] ?? {}, entries[other] ?? {}).differing.length,
  );
  const like = new Map(pairs.map((pair) => [entries[pair.actual], declared[pair.declared]]));
  return values.map((value) => {
    const own = isRecord(value) ? like.get(value) : undefined;
    return own === undefined ? value : maskedLike(shownLike(value, own), own);
  });
}

/** What came from a reference may not even be known by its address. */
const NAMELESS = new Secret('');

/** Masks each place that the file writes as a reference, whatever is there. */
function maskedLike(value: Value, declared: Value | undefined): Value {
  if (declared instanceof Secret && declared.ref !== null) return conceal(value, null);
  if (isList(value) && isList(declared))
    return value.map((item, index) => maskedLike(item, declared[index]));
  if (!isRecord(value) || !isRecord(declared)) return value;
  return recordOf(
    Object.entries(value).map(([key, member]) => [key, maskedLike(member, declared[key])]),
  );
}

/** Masks what is the same as one of the secrets; every scalar where there is no list of them. */
function conceal(value: Value, secrets: readonly Secret[] | null): Value {
  if (isList(value)) return value.map((item) => conceal(item, secrets));
  if (isRecord(value))
    return recordOf(Object.entries(value).map(([key, member]) => [key, conceal(member, secrets)]));
  if (value === null) return value;
  if (value instanceof Secret)
    return secrets?.some((secret) => secret.sameAs(value)) === false ? value : NAMELESS;
  return secrets === null || secrets.some((secret) => secret.sameAs(value))
    ? concealed(value)
    : value;
}
