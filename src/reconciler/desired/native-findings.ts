import { faultsIn, type Fault } from '../model/json-schema.ts';
import { MCP_LISTS } from '../model/mcp.ts';
import { NATIVE_PARTS } from '../model/field.ts';
import { isList, isRecord, type Value } from '../model/value.ts';
import { judgedByLock, lockedFinding } from './locked-findings.ts';
import { member, nodeAt, plainValue, type MapNode, type Node } from './node.ts';
import { badValue, missingKeys, unknownKeys } from './schema-findings.ts';
import { settingsNodes, settingsPart } from './schema-lookup.ts';
import type { PlacedFinding } from './source-file.ts';

/**
 * What the native parts of a file have that no server has, or not in that form. It is found here because a server drops a member that
 * it does not know, and says that it has stored it.
 */
export function checkNative(root: MapNode): PlacedFinding[] {
  const environments = member(root, 'environments');
  const inner =
    environments?.kind === 'map'
      ? [...environments.members.values()].map(
          ({ key, node }) => [node, ['environments', key]] as const,
        )
      : [];
  return [[root, []] as const, ...inner].flatMap(([holder, path]) => {
    const settings = member(holder, 'settings');
    if (settings?.kind !== 'map') return [];
    const { lock } = root.file;
    const found = partFaults(settings);
    const { faults, values } =
      lock === undefined ? { faults: found, values: [] } : judgedByLock(found, settings, lock);
    return [
      ...faults.flatMap((fault) => findingsOf(root, path, fault)),
      ...values.flatMap((fault) =>
        lockedFinding(root, [...path, 'settings', ...fault.path], fault),
      ),
    ];
  });
}

function partFaults(settings: MapNode): Fault[] {
  const own = [...settings.members.values()].filter(({ key }) => NATIVE_PARTS.has(key));
  return [
    ...own.flatMap(({ key, node }) => {
      const [schema, defs] = settingsPart(key);
      return faultsIn(plainValue(node), schema, defs, [key]);
    }),
    ...entryFaults(member(settings, 'mcp_config')),
  ];
}

/** The members of entries of the mcp lists that only servers with native parts have. */
function entryFaults(config: Node | undefined): Fault[] {
  if (config === undefined) return [];
  return MCP_LISTS.flatMap((list) => {
    const entries = member(config, list);
    const values = entries === undefined ? [] : plainValue(entries);
    return (isList(values) ? values : []).flatMap((entry, index) =>
      isRecord(entry) ? membersOf(entry, ['mcp_config', list, String(index)]) : [],
    );
  });
}

function membersOf(entry: Readonly<Record<string, Value>>, path: readonly string[]): Fault[] {
  return Object.entries(entry).flatMap(([key, value]) => {
    if (isOwn(path[1], key)) return [];
    const [, defs] = settingsPart('mcp_config');
    const nodes = settingsNodes([...path, key]);
    return nodes.length === 0 ? [] : faultsIn(value, { anyOf: nodes }, defs, [...path, key]);
  });
}

/** The members that the validator of the specification's part judges. */
function isOwn(list: string | undefined, key: string): boolean {
  return (
    ['url', 'api_key', 'name', 'command', 'args'].includes(key) ||
    (key === 'env' && list === 'stdio_servers') ||
    (key === 'timeout' && list === 'shttp_servers')
  );
}

function findingsOf(root: MapNode, holder: readonly string[], fault: Fault): PlacedFinding[] {
  const path = [...holder, 'settings', ...fault.path];
  if (fault.kind === 'value') {
    const node = nodeAt(root, path);
    return node === undefined ? [] : [badValue({ root, path, node })];
  }
  const above = path.slice(0, -1);
  const node = nodeAt(root, above);
  if (node === undefined) return [];
  const keys = new Set([path.at(-1) ?? '']);
  return (fault.kind === 'unknown' ? unknownKeys : missingKeys)({ root, path: above, node }, keys);
}
