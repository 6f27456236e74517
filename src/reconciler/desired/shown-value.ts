import { isSensitiveUrl } from '../model/address.ts';
import type { Path } from '../model/path.ts';
import { MASK } from '../model/secret.ts';
import { maskProgramArgument, maskProgramVariable } from '../model/secret-words.ts';
import type { Json } from '../model/value.ts';
import { envPairs, splitShellLine } from './lines.ts';
import { type Node, readNodeText } from './node.ts';
import { hasValidReference, parseWholeReference } from './references.ts';

/**
 * The declaration of a file in the form of documents: references and literals in their written form. Masked are urls with userinfo or
 * query, and arguments and variables that are secrets by their name, flag or form. Without `before`, an argument is masked: a flag may
 * precede it.
 */
export function formatNodeValue(node: Node, filePath: Path, before?: string): Json {
  if (node.kind === 'list')
    return node.items.map((item, index) =>
      formatNodeValue(
        item,
        [...filePath, String(index)],
        readNodeText(node.items[index - 1]) ?? '',
      ),
    );
  if (node.kind === 'map') {
    const members = [...node.members.values()];
    return Object.fromEntries(
      members.map((m) => [m.key, formatNodeValue(m.node, [...filePath, m.key])]),
    );
  }
  return typeof node.value === 'string' ? formatNodeText(node.value, filePath, before) : node.value;
}

function formatNodeText(text: string, path: Path, before: string | undefined): string {
  const [block, name, list, , key, inner] = path;
  const stdio = block === 'settings' && name === 'mcp_config' && list === 'stdio_servers';
  if (stdio && key === 'args')
    return inner === undefined ? argsLine(text) : argument(text, before ?? '--secret');
  if (stdio && key === 'env') return inner === undefined ? envLine(text) : variable(inner, text);
  return hasValidReference(text) || !isSensitiveUrl(text) ? text : MASK;
}

function argument(text: string, before: string): string {
  return unlessReference(text, maskProgramArgument(text, before));
}

function variable(name: string, text: string): string {
  return unlessReference(text, maskProgramVariable(name, text));
}

/** A reference is shown in its written form, even where a secret would be masked. */
function unlessReference(text: string, shown: string): string {
  const masked = shown.endsWith(MASK) ? text.slice(shown.length - MASK.length) : '';
  return parseWholeReference(masked) === null ? shown : text;
}

/** A line is shown as a whole, or masked as a whole. */
function argsLine(line: string): string {
  const words = splitShellLine(line);
  const open = words.every((word, index) => argument(word, words[index - 1] ?? '') === word);
  return open ? line : MASK;
}

function envLine(line: string): string {
  const pairs = envPairs(line);
  return pairs.every(({ name, text }) => variable(name, text ?? '') === (text ?? '')) ? line : MASK;
}
