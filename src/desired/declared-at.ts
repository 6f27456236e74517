import { isMcpList } from '../model/mcp.ts';
import type { Path } from '../model/path.ts';
import { isBlock } from './is-block.ts';
import { member, type Node } from './node.ts';
import { writtenIdentity } from './resolve-mcp.ts';
import type { Target } from './target.ts';

/** What a target's file declares at a path from its top, all blocks merged; undefined where it declares nothing. */
export function declaredAt(target: Target, filePath: Path): Node | undefined {
  const [block = '', ...rest] = filePath;
  let node = isBlock(block) ? target[block] : member(target.root, block);
  for (const [index, segment] of rest.entries()) {
    const list = rest[index - 1];
    if (node?.kind !== 'list') node = member(node, segment);
    else if (index === 2 && rest[0] === 'mcp_config' && isMcpList(list))
      node = node.items.find((entry) => writtenIdentity(list, entry) === segment);
    else node = /^\d+$/.test(segment) ? node.items[Number(segment)] : undefined;
  }
  return node;
}
