import { NATIVE_SERVERS } from '../../model/field.ts';
import { LIST_TRANSPORTS, MCP_LISTS } from '../../model/mcp.ts';
import type { Path } from '../../model/path.ts';
import {
  findNode,
  isNull,
  listMembers,
  member,
  readNodeText,
  type MapNode,
  type Member,
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
      if (isNodeSet(member(node, needed)) || !isNodeSet(member(node, other))) return null;
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

/** Finds items without a required member: the url or command of a server and its transport, the place of a marketplace. */
export function incompleteNamed({
  mcp_servers: servers,
  marketplaces: places,
  settings,
}: Readonly<Partial<Record<'mcp_servers' | 'marketplaces' | 'settings', Node | undefined>>>) {
  const native = findNode(settings, NATIVE_SERVERS);
  const place = ['settings', ...NATIVE_SERVERS];
  const named = [
    [servers, ['mcp_servers']],
    [native, place],
  ] as const;
  return [
    ...findNamedTransportFaults(servers, ['mcp_servers']),
    // The schema judges the names of the block.
    ...listMembers(native).flatMap((one) =>
      one.key !== '' && one.key === one.key.trim()
        ? []
        : createNameFinding(
            one,
            place,
            'bad-value',
            'Invalid mcp server name.',
            'Write one without a blank at either end.',
          ),
    ),
    ...named.flatMap(([node, path]) =>
      listMembers(node).flatMap((one) =>
        ['url', 'command'].some((key) => isNodeSet(member(one.node, key)))
          ? []
          : findMissing(one, path, 'url or command', 'Add url, or command for a program.'),
      ),
    ),
    ...listMembers(places).flatMap((one) =>
      isNodeSet(member(one.node, 'source'))
        ? []
        : findMissing(one, ['marketplaces'], 'source', 'Add source: github:owner/repo.'),
    ),
  ];
}

/** The finding of an item that lacks a member. Null removes an item. */
function findMissing(one: Member, path: Path, what: string, hint: string): PlacedFinding[] {
  return isNull(one.node)
    ? []
    : createNameFinding(one, path, 'missing-key', `${what} is missing here.`, hint);
}

function createNameFinding(
  { key, keyFile, keyAt }: Member,
  path: Path,
  code: 'missing-key' | 'bad-value',
  message: string,
  hint: string,
): PlacedFinding[] {
  return [{ file: keyFile, at: keyAt, finding: { code, message, hint, path: [...path, key] } }];
}

/** Reports whether there is a node that is not null. */
export function isNodeSet(node: Node | undefined): boolean {
  return node !== undefined && !isNull(node);
}
