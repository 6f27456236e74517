import { scanLexemes } from '../desired/read-yaml.ts';
import { findTextKind } from '../desired/blocks.ts';
import { inBlock } from '../desired/blocks/block.ts';
import { hasValidReference, parseWholeReference } from '../desired/references.ts';
import { isSensitiveUrl } from '../model/address.ts';
import type { ShownLine } from '../model/pulled.ts';
import { isSecretText, isSensitiveName } from '../model/secret-words.ts';
import { MASK } from '../model/secret.ts';
import { type EditNode, type EditScalar, yamlSource } from '../yaml-edit/source.ts';
import { type Splice, applySplices } from '../yaml-edit/splice.ts';

/**
 * The lines of a settings file, each with what may be shown of it. Masked is what plans mask although a file may hold it
 * (arguments and variables of programs, urls with userinfo or query), and what has the form of a secret in a comment. Nothing is shown
 * of a text that cannot be read.
 */
export function maskFileLines(whole: string): ShownLine[] {
  const source = yamlSource(whole);
  const text = source === null ? whole : source.text;
  const shown =
    source === null
      ? null
      : applySplices(text, [...masks(source.root, [], text), ...inComments(text)]);
  const [real, masked] = [text.split('\n'), (shown ?? '').split('\n')];
  return real.map((line, index) => ({
    text: line,
    shown: shown === null ? MASK : (masked[index] ?? MASK),
  }));
}

function masks(node: EditNode, path: readonly string[], text: string): Splice[] {
  if (node.kind === 'map')
    return node.members.flatMap(({ key, node: value }) => masks(value, [...path, key], text));
  if (node.kind === 'list')
    return node.items.flatMap(({ node: item }, index) =>
      masks(item, [...path, String(index)], text),
    );
  return staysReadable(node, path) ? [] : [createMaskSplice(node, text)];
}

/** Keeps the number of lines. */
function createMaskSplice({ start, end }: EditScalar, text: string): Splice {
  const breaks = text.slice(start, end).split('\n').length - 1;
  return { start, end, text: MASK + '\n'.repeat(breaks) };
}

function staysReadable({ value }: EditScalar, path: readonly string[]): boolean {
  if (typeof value !== 'string' || value === '') return true;
  const [block, name, list, , member] = inBlock(path);
  const stdio = block === 'settings' && name === 'mcp_config' && list === 'stdio_servers';
  const whole = parseWholeReference(value);
  if (findTextKind(path) === 'secret' || (stdio && (member === 'args' || member === 'env')))
    return whole !== null && !(whole.kind === 'env' && whole.fallback !== null);
  return hasValidReference(value) || !isSensitiveUrl(value);
}

function inComments(text: string): Splice[] {
  return [...scanLexemes(text)].flatMap(({ lexeme, at, scalar }) => {
    if (scalar || !lexeme.startsWith('#')) return [];
    const shown = maskCommentWords(lexeme);
    return shown === lexeme ? [] : [{ start: at, end: at + lexeme.length, text: shown }];
  });
}

const NAMED = /([\w.-]+["']?\s*[:=]\s*)([^\s#]+)/g;

function maskCommentWords(comment: string): string {
  return comment
    .replaceAll(NAMED, (whole, name: string, value: string) =>
      isSensitiveName(name) && !isHarmlessWord(value) ? name + MASK : whole,
    )
    .replaceAll(/[^\s"'`,;()]+/g, (word) => (isSecretText(word) && word !== MASK ? MASK : word));
}

function isHarmlessWord(value: string): boolean {
  const bare = value.replaceAll(/["',]/g, '');
  return bare === 'null' || bare === '{' || parseWholeReference(bare) !== null || bare === MASK;
}
