import { unnamedField } from '../model/field.ts';
import {
  callNames,
  entryOf,
  entryPaths,
  memberIn,
  memberPathIn,
  pathedEntries,
} from '../model/mcp.ts';
import { pathKey, type Path } from '../model/path.ts';
import type { DesiredField, DesiredState, NamedSettings, ObservedState } from '../model/state.ts';
import { serversIn } from '../model/state.ts';
import { isList, isRecord, sameValue, type Value } from '../model/value.ts';
import { managesEntry } from './declared.ts';
import { shownHere } from './field-here.ts';

/** Where Agent Server has what other servers have at the top of their settings. */
const OF_AGENT_SERVER: ReadonlyMap<NamedSettings['name'], Path> = new Map([
  ['marketplaces', ['agent_settings', 'agent_context', 'registered_marketplaces']],
  ['disabled_skills', ['agent_settings', 'agent_context', 'disabled_skills']],
]);

/** Every path that plans may have for a declared field, whichever service is asked. */
export function pathsOfField({ field, block }: Pick<DesiredField, 'field' | 'block'>): Path[] {
  if (block === undefined) return [field.path];
  return [field.path, OF_AGENT_SERVER.get(block.name) ?? [block.name]];
}

/** The paths that plans may have for a path of the file. */
export function plannedPaths(path: Path, { fields }: DesiredState): readonly Path[] {
  const [name = '', item, identity = '', ...rest] = path;
  if (name === 'mcp_servers' && item !== undefined) return [path];
  const isEntry = name === 'mcp_config' && identity !== '';
  const called = isEntry ? 'mcp_servers' : name;
  const declared = fields.find(({ block }) => block?.name === called);
  if (declared === undefined) return [path];
  if (!isEntry) return pathsOfField(declared);
  const named = pathedEntries(declared.value, entryPaths(declared)).filter(
    ({ list, entry }) => list === item && callNames(list, entry).includes(identity),
  );
  return named.map(({ path: own }) => memberPathIn(own, rest));
}

/** The desired state with the fields of named blocks where these services have them, in the order in which they have their items. */
export function namedHere(desired: DesiredState, observed: ObservedState): DesiredState {
  if (desired.fields.every(({ block }) => block === undefined)) return desired;
  return { ...desired, fields: desired.fields.map((field) => fieldOf(field, observed)) };
}

function fieldOf(declared: DesiredField, observed: ObservedState): DesiredField {
  const { block, field, value } = declared;
  const other = block === undefined ? undefined : OF_AGENT_SERVER.get(block.name);
  if (other === undefined) return declared;
  const here = observed.dialect.name === 'agent-server' ? unnamedField(other, false) : field;
  return { ...declared, field: here, value: inOrderOf(value, shownHere(observed, here.path)) };
}

/** A list whose order means nothing, in the order of the items that are there. */
function inOrderOf(value: Value, shown: Value | undefined): Value {
  if (!isList(value) || !isList(shown)) return value;
  const at = (item: Value): number => {
    const found = shown.findIndex((other) => sameValue(nameOf(other), nameOf(item)));
    return found === -1 ? shown.length : found;
  };
  return value.toSorted((one, other) => at(one) - at(other));
}

function nameOf(item: Value): Value {
  return isRecord(item) ? (item['name'] ?? null) : item;
}

/** The mcp servers that a block of servers by name does not speak of, as that block would name them. */
export function leftServers(desired: DesiredState, { values }: ObservedState): Path[] {
  const declared = serversIn(desired);
  if (declared?.block === undefined) return [];
  return pathedEntries(values['mcp_config'], entryPaths(declared)).flatMap(
    ({ list, entry, path }) => (managesEntry(desired, list, entry) ? [] : [path]),
  );
}

/** The secrets of mcp servers that are gone from a service, as the file calls the servers. */
export function bareHere(
  desired: DesiredState,
  { bare = [], values }: ObservedState,
): readonly Path[] {
  const declared = serversIn(desired);
  if (bare.length === 0 || declared?.block === undefined) return bare;
  const config = values['mcp_config'];
  const own = pathedEntries(config, entryPaths(declared)).map(({ path }) => path);
  const called = new Map(
    pathedEntries(config).map(({ path }, index) => [pathKey(path), own[index] ?? path]),
  );
  return bare.map((path) => {
    const server = called.get(pathKey(entryOf(path)));
    return server === undefined ? path : memberPathIn(server, memberIn(entryOf(path), path));
  });
}
