import { fieldNamed, fields } from '../../model/field.ts';
import { bareUrl } from '../../model/address.ts';
import { identityMember, isMcpList, MCP_LISTS } from '../../model/mcp.ts';
import { parsePath, type Path } from '../../model/path.ts';
import { didYouMean } from '../../model/wording.ts';
import { member, textOf, type MapNode, type Node } from '../node.ts';
import { mayHoldReference } from '../references.ts';
import type { PlacedFinding } from '../source-file.ts';
import { findingAt, type Block, type FilePath } from './block.ts';
import { isPlainPath } from './quotable.ts';

export const unmanaged: Block<'unmanaged'> = {
  name: 'unmanaged',
  pulled: true,
  check: unmanagedPaths,
  isQuotable: isPlainPath,
};

/** The paths that a target lists as unmanaged. */
export function unmanagedOf(node: Node | undefined): Path[] {
  if (node?.kind !== 'list') return [];
  return node.items.flatMap((item) => {
    const path = parsePath(textOf(item) ?? '');
    return path === null ? [] : [path];
  });
}

function unmanagedPaths(holder: MapNode, path: FilePath): PlacedFinding[] {
  const list = member(holder, 'unmanaged');
  if (list?.kind !== 'list') return [];
  return list.items.flatMap((item, index) => {
    const text = textOf(item);
    const hint = text === undefined ? null : problemOfPath(text);
    if (hint === null) return [];
    return [
      findingAt(item, {
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
