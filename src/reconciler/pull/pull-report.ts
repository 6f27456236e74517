import { itemsDeclared } from '../model/collection.ts';
import { findFieldPath } from '../model/field.ts';
import { callNames, listRecordEntries, isMcpList, MCP_LISTS } from '../model/mcp.ts';
import { isWithin, samePath, type Path, type Source } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { EnvironmentPull, PulledValue } from '../model/documents.gen.ts';
import type { DesiredState } from '../model/state.ts';
import { isRecord, maskSecrets, collectSecrets } from '../model/value.ts';
import { comparableState, sourceWithDummies } from './comparison.ts';
import type { PullEdits } from './edits.ts';
import { isOfNamed } from './pull-named.ts';

/** A target's part of the document: the changes of the plan the other way round, and what was adopted. */
export function pullReport(
  name: string,
  origin: string | null,
  { pulls, references, edited }: PullEdits,
  source: ReferenceSource,
  written: boolean,
): EnvironmentPull {
  const pull = pulls.get(name);
  const target = edited.get(name);
  const own = references.get(name) ?? [];
  const desired =
    target === undefined ? null : comparableState(target, sourceWithDummies(source, own)).desired;
  const pulled = (pull?.made ?? []).map(([action, { path, before, after, sensitive }]) => ({
    path,
    action,
    before: maskSecrets(after),
    after: maskSecrets(before),
    sensitive,
    source: action === 'remove' ? null : findValueSource(desired, path),
  }));
  const adopted = (pull?.adopted ?? []).map(({ path, value }): PulledValue => ({
    path,
    action: 'adopt',
    before: null,
    after: maskSecrets(value),
    sensitive: collectSecrets(value).length > 0 || own.some((one) => isWithin(one.path, path)),
    source: findValueSource(desired, path),
  }));
  const some = pulled.length + adopted.length > 0;
  return {
    name,
    origin,
    status: !some ? 'in-sync' : written ? 'pulled' : 'differs',
    pulled: [...pulled, ...adopted],
    left: pull?.left ?? [],
    unknown: pull?.unknown ?? [],
    variables: own.map(({ name: variable, path }) => ({ name: variable, path })),
    error: null,
  };
}

const NOTHING = { items: new Map() };

/** The place of a value in the edited file. */
function findValueSource(desired: DesiredState | null, path: Path): Source | null {
  const [name = '', list, segment] = path;
  const own = findFieldPath(path);
  const item = itemsDeclared(desired ?? NOTHING, { block: name }).find((one) => one.name === list);
  if (item !== undefined) return item.source;
  const field =
    desired?.fields.find((one) => samePath(one.field.path, own)) ??
    desired?.fields.find((one) => isOfNamed(path, [one]));
  if (field === undefined) return null;
  const isByName = name === 'mcp_servers';
  if (!isByName && (name !== 'mcp_config' || !isMcpList(list))) return field.source();
  const called = isByName ? list : segment;
  const lists = isMcpList(list) && !isByName ? [list] : MCP_LISTS;
  const entries = lists.flatMap((one) => {
    const all = isRecord(field.value) ? listRecordEntries(field.value[one]) : [];
    const index = all.findIndex((entry) => callNames(one, entry).includes(called ?? ''));
    return index === -1 ? [] : [[one, String(index)]];
  });
  return field.source(entries[0] ?? (isByName ? [] : [list ?? '']));
}
