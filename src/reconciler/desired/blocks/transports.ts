import { NATIVE_SERVERS } from '../../model/field.ts';
import { LIST_TRANSPORTS, MCP_LISTS } from '../../model/mcp.ts';
import {
  findNode,
  isNull,
  listMembers,
  member,
  readNodeText,
  type MapNode,
  type Node,
  type PlacedFinding,
} from '../node.ts';
import { createFindingForNode, type FilePath } from './block.ts';

/** Finds mcp servers of the settings whose `transport` contradicts the list that they are in, or their url or command. */
export function findTransportFaults(holder: MapNode, path: FilePath): PlacedFinding[] {
  const named = ['settings', ...NATIVE_SERVERS];
  return [
    ...MCP_LISTS.flatMap((list) => {
      const place = ['settings', 'mcp_config', list];
      const entries = findNode(holder, place);
      const own = LIST_TRANSPORTS[list];
      return (entries?.kind === 'list' ? entries.items : []).flatMap((entry, index) =>
        judgeTransport(entry, [...path, ...place, String(index)], (transport) => {
          if (own.includes(transport)) return null;
          const other = MCP_LISTS.find((one) => LIST_TRANSPORTS[one].includes(transport));
          return [
            `The transport of ${list} is ${own.join(' or ')}.`,
            `Remove transport, or move the entry to ${other}.`,
          ];
        }),
      );
    }),
    ...findNamedTransportFaults(findNode(holder, named), [...path, ...named]),
  ];
}

/** Finds servers under their names whose `transport` needs a url or command that they lack. An environment may declare neither. */
export function findNamedTransportFaults(
  servers: Node | undefined,
  path: FilePath,
): PlacedFinding[] {
  return listMembers(servers).flatMap(({ key, node }) =>
    judgeTransport(node, [...path, key], (transport) => {
      const [needed, other] = transport === 'stdio' ? ['command', 'url'] : ['url', 'command'];
      if (isSet(node, needed) || !isSet(node, other)) return null;
      return [
        `The transport ${transport} needs ${needed}, and this server has only ${other}.`,
        `Remove transport, or write ${needed} instead of ${other}.`,
      ];
    }),
  );
}

function judgeTransport(
  entry: Node,
  path: FilePath,
  judge: (transport: string) => readonly [message: string, hint: string] | null,
): PlacedFinding[] {
  const node = member(entry, 'transport');
  const transport = readNodeText(node);
  if (node === undefined || transport === undefined || !TRANSPORTS.has(transport)) return [];
  const found = judge(transport);
  if (found === null) return [];
  const [message, hint] = found;
  return [
    createFindingForNode(node, {
      code: 'bad-value',
      message,
      hint,
      path: [...path, 'transport'],
    }),
  ];
}

/** Other texts are references, or reported as no transport. */
const TRANSPORTS: ReadonlySet<string> = new Set(Object.values(LIST_TRANSPORTS).flat());

function isSet(entry: Node, key: string): boolean {
  const node = member(entry, key);
  return node !== undefined && !isNull(node);
}
