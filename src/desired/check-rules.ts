import { fieldNamed, fields } from '../model/field.ts';
import { bareUrl } from '../model/identity.ts';
import { identityMember, isMcpList, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { parsePath } from '../model/path.ts';
import { isReservedHeader } from '../model/reserved-header.ts';
import { didYouMean } from '../model/suggest.ts';
import { checkSandboxes } from './check-sandboxes.ts';
import { member, textOf, type MapNode, type Node } from './node.ts';
import { mayHoldReference } from './references.ts';
import type { PlacedFinding } from './report.ts';

type Path = readonly string[];
type Rule = (block: MapNode, path: Path) => PlacedFinding[];

const RULES: readonly Rule[] = [
  impossibleUrl,
  reservedHeaders,
  unreachableValues,
  impossibleEntryUrls,
  duplicateEntries,
  checkSandboxes,
  unmanagedPaths,
];

/** What a schema cannot say, for every block of a file: the blocks at the top, and those of each environment. */
export function checkRules(root: MapNode): PlacedFinding[] {
  const environments = member(root, 'environments');
  const blocks: [Node, Path][] = [[root, []]];
  if (environments?.kind === 'map') {
    for (const { key, node } of environments.members.values())
      blocks.push([node, ['environments', key]]);
  }
  return blocks.flatMap(([block, path]) =>
    block.kind === 'map' ? RULES.flatMap((rule) => rule(block, path)) : [],
  );
}

function at(node: Node, finding: PlacedFinding['finding']): PlacedFinding {
  return { file: node.file, at: node.at, finding };
}

/** A url that has the form of one, but a host or port that no url can have. */
function impossibleUrl(block: MapNode, path: Path): PlacedFinding[] {
  const url = member(member(block, 'server'), 'url');
  if (url === undefined || !isImpossible(url, /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i)) return [];
  return [at(url, impossible([...path, 'server', 'url'], 'https://agents.example.com'))];
}

function reservedHeaders(block: MapNode, path: Path): PlacedFinding[] {
  const headers = member(member(block, 'server'), 'headers');
  if (headers?.kind !== 'map') return [];
  return [...headers.members.values()]
    .filter(({ key }) => isReservedHeader(key))
    .map(({ key, keyFile, keyAt }) => ({
      file: keyFile,
      at: keyAt,
      finding: {
        code: 'bad-value',
        message: `server.headers may not hold ${key}: setpoint sets it for each request.`,
        hint: 'Remove it; the host of a request is that of server.url.',
        path: [...path, 'server', 'headers', key],
      },
    }));
}

function impossibleEntryUrls(block: MapNode, path: Path): PlacedFinding[] {
  return entriesOf(block, path).flatMap(({ list, entry, path }) => {
    if (list === 'stdio_servers') return [];
    const url = member(entry, 'url') ?? entry;
    return isImpossible(url, /^(https?|wss?):\/\/[^\s/?#]+\S*$/i)
      ? [
          at(
            url,
            impossible(url === entry ? path : [...path, 'url'], 'https://mcp.example.com/mcp'),
          ),
        ]
      : [];
  });
}

function isImpossible(node: Node, form: RegExp): boolean {
  const text = textOf(node)?.trim() ?? '';
  return form.test(text) && !mayHoldReference(text) && !URL.canParse(text);
}

function impossible(path: Path, example: string): PlacedFinding['finding'] {
  return {
    code: 'bad-value',
    message: 'This is no address: its host or port cannot be one.',
    hint: `Write it like ${example}.`,
    path,
  };
}

function unreachableValues(block: MapNode, path: Path): PlacedFinding[] {
  const consent = member(member(block, 'settings'), 'user_consents_to_analytics');
  if (consent?.kind !== 'scalar' || consent.value !== null || consent.bare) return [];
  return [
    at(consent, {
      code: 'cannot-be-had',
      message: 'The service has no way back to null: sent null, it keeps the answer it has.',
      hint: 'Write true or false, or remove the key to leave it alone.',
      path: [...path, 'settings', 'user_consents_to_analytics'],
    }),
  ];
}

function duplicateEntries(block: MapNode, path: Path): PlacedFinding[] {
  const seen = new Set<string>();
  return entriesOf(block, path).flatMap(({ list, entry, path }) => {
    const key = identityMember(list);
    const known = member(entry, key) ?? entry;
    const text = textOf(known)?.trim() ?? '';
    const identity = key === 'name' ? text : bareUrl(text);
    if (identity === '') return [];
    if (!seen.has(`${list} ${identity}`)) {
      seen.add(`${list} ${identity}`);
      return [];
    }
    return [
      at(known, {
        code: 'duplicate-entry',
        message: `This ${key} stands in the list a second time.`,
        hint:
          key === 'name'
            ? 'Keep one of the two: an entry is known by its name.'
            : 'Keep one of the two: an entry is known by its url without userinfo, query and fragment.',
        path: known === entry ? path : [...path, key],
      }),
    ];
  });
}

/** The entries of the mcp lists that a block holds. */
function entriesOf(
  block: MapNode,
  path: Path,
): { readonly list: McpList; readonly entry: Node; readonly path: Path }[] {
  const mcp = member(member(block, 'settings'), 'mcp_config');
  return MCP_LISTS.flatMap((list) => {
    const entries = member(mcp, list);
    return entries?.kind !== 'list'
      ? []
      : entries.items.map((entry, index) => ({
          list,
          entry,
          path: [...path, 'settings', 'mcp_config', list, String(index)],
        }));
  });
}

function unmanagedPaths(block: MapNode, path: Path): PlacedFinding[] {
  const list = member(block, 'unmanaged');
  if (list?.kind !== 'list') return [];
  return list.items.flatMap((item, index) => {
    const text = textOf(item);
    const hint = text === undefined ? null : problemOfPath(text);
    if (hint === null) return [];
    return [
      at(item, {
        code: 'unknown-path',
        message: 'This path leads to no field and no mcp entry.',
        hint,
        path: [...path, 'unmanaged', String(index)],
      }),
    ];
  });
}

const EXAMPLE = 'Write a field (language) or an mcp entry (mcp_config.sse_servers[https://x/sse]).';

function problemOfPath(text: string): string | null {
  const segments = parsePath(text);
  if (segments === null) return EXAMPLE;
  const [name = '', list, identity, ...rest] = segments;
  if (fieldNamed(name) === undefined) {
    const names = fields().map((field) => field.name);
    return didYouMean(name, names) || EXAMPLE;
  }
  if (list === undefined) return null;
  if (name !== 'mcp_config') return EXAMPLE;
  if (!isMcpList(list)) return didYouMean(list, MCP_LISTS) || EXAMPLE;
  if (identity === undefined) return null;
  if (rest.length > 0) return EXAMPLE;
  const known = identity.replace(/#\d+$/, '');
  const isUrl = identityMember(list) === 'url';
  return !isUrl || bareUrl(known) === known || mayHoldReference(known)
    ? null
    : 'Write the url without userinfo, query and fragment.';
}
