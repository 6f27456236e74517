import { isSensitiveUrl } from '../model/identity.ts';
import type { Path } from '../model/path.ts';
import { MASK } from '../model/secret.ts';
import type { Json } from '../model/value.ts';
import type { Node } from './node.ts';
import { isMalformed, mayHoldReference, parseTemplate, wholeReference } from './references.ts';

/**
 * What a file declares, as documents show it: references as they are written, and masked what a plan masks though it may
 * stand in the file: the arguments and variables of stdio servers, and urls with userinfo or query.
 */
export function shownValue(node: Node, filePath: Path): Json {
  if (node.kind === 'list')
    return node.items.map((item, index) => shownValue(item, [...filePath, String(index)]));
  if (node.kind === 'map') {
    const members = [...node.members.values()];
    return Object.fromEntries(
      members.map((m) => [m.key, shownValue(m.node, [...filePath, m.key])]),
    );
  }
  if (typeof node.value !== 'string') return node.value;
  return isOpen(node.value, filePath) ? node.value : MASK;
}

function isOpen(text: string, [block, name, list, , key]: Path): boolean {
  const stdio = block === 'settings' && name === 'mcp_config' && list === 'stdio_servers';
  if (stdio && (key === 'args' || key === 'env')) return wholeReference(text) !== null;
  return holdsReference(text) || !isSensitiveUrl(text);
}

function holdsReference(text: string): boolean {
  if (!mayHoldReference(text)) return false;
  const parts = parseTemplate(text);
  return !isMalformed(parts) && parts.some((part) => typeof part === 'object');
}
