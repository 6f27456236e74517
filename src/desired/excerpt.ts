import { fieldNamed } from '../model/field.ts';
import { inBlock } from './reference-place.ts';
import { knownKeys } from './schema-lookup.ts';
import { isShowable } from './shown-key.ts';

const OPEN_MEMBERS: ReadonlySet<string> = new Set(['url', 'name', 'command', 'timeout']);
const STRUCK = '•••';
const FARTHEST = 160;

const LINE =
  /^(\s*(?:- +)*)(?:(["']?)([^\s"'#:,[\]{}&*!|>%@`][^\s"':,[\]{}]{0,63})\2(\s*:)(?=\s|$))?(\s*)(.*)$/s;
const REFERENCE = /^(["']?)\$\{(?:env:[A-Za-z_][A-Za-z0-9_]*|file:[^}:]+)\}\1$/;
const NUMBER_OR_WORD =
  /^(["']?)(?:[-+]?\d[\d.eE+_-]{0,24}|[-+]?\.inf|\.nan|true|false|yes|no|on|off|null|~)\1$/i;
const ADDRESS = /^(["']?)(?:embedded:|[a-z]{2,8}:\/\/)[^?#@{}[\]"',\s]{0,100}\1$/i;
const PATH = /^(["']?)[a-z_]+(?:[.[][^?#@{}"',\s]{0,100})?\1$/i;
const TOKEN =
  /\$\{[^}]*\}|"(?:[^"\\]|\\.)*"?|'[^']*'?|[{}[\],]|\s+|:(?=[\s,[\]{}]|$)|(?:[^\s{}[\],:]|:(?![\s,[\]{}]|$))+/gs;

/**
 * A line of the file as a diagnostic quotes it. The key stays where it reads like a name; the value stays only where the place
 * that `path` leads to holds no secret and the value looks like what belongs there. Everything else is struck out in one way,
 * so that neither length nor likeness shows. Without a path nothing is known of the place, and every value is struck out.
 * Inside a flow collection what stands before the column keeps its width, which the column tells anyway.
 */
export function excerpt(line: string, path: readonly string[], column: number): string {
  const [, indent = '', quote = '', key, colon = '', blank = '', rest = ''] = LINE.exec(line) ?? [];
  const before = line.length - blank.length - rest.length;
  if (column - 1 > before + blank.length && column <= Math.min(FARTHEST, line.length))
    return upTo(column - 1, line, path);
  const value = rest.trim().replace(/(^|\s+)#.*$/s, '');
  if (key === undefined) {
    if (/^(-|)$/.test(rest)) return indent + rest;
    if (value === '') return `${indent}# ${STRUCK}`;
    return indent + blank + (isOpen(value, placeOnLine(path, key)) ? value : STRUCK);
  }
  const shownKey = isShowable(key) ? `${quote}${key}${quote}` : STRUCK;
  if (value === '') return indent + shownKey + colon;
  return (
    indent + shownKey + colon + blank + (isOpen(value, placeOnLine(path, key)) ? value : STRUCK)
  );
}

/** The line up to what the caret points at: keys of the schema stay, values keep their width only. */
function upTo(caret: number, line: string, path: readonly string[]): string {
  let shown = '';
  let inFlow = false;
  for (const { 0: token, index } of line.matchAll(TOKEN)) {
    const isKey = /^\s*:(?=[\s,[\]{}]|$)/.test(line.slice(index + token.length));
    const bare = token.replaceAll(/^["']|["']$/g, '');
    if (index === caret) {
      if (isKey) return `${shown}${isShowable(bare) ? token : STRUCK}: …`;
      const value = isOpen(token, path) ? token : STRUCK;
      const more = line.slice(index + token.length).trim() === '' ? '' : ' …';
      return shown + value + more;
    }
    if (index + token.length > caret) return shown + '•'.repeat(caret - index) + STRUCK;
    inFlow ||= token === '{' || token === '[';
    const plain =
      /^(?:[\s{}[\],:]+|[-?])$/.test(token) ||
      (isKey && (knownKeys().has(bare) || (!inFlow && isShowable(bare)))) ||
      REFERENCE.test(token);
    shown += plain ? token : '•'.repeat(token.length);
  }
  return shown;
}

function isOpen(value: string, path: readonly string[]): boolean {
  if (REFERENCE.test(value)) return true;
  const [block, name, list, , member = 'url'] = inBlock(path);
  switch (block) {
    case 'version':
    case 'guards':
      return NUMBER_OR_WORD.test(value);
    case 'sandboxes':
      return NUMBER_OR_WORD.test(value) || isPlainWord(value.replaceAll(':', '-'));
    case 'name':
    case 'extends':
      return isPlainWord(value);
    case 'unmanaged':
      return PATH.test(value) && isWords(value);
    case 'server':
      return name === 'url' ? isAddress(value) : name === 'auth' && isPlainWord(value);
    case 'settings':
      if (name === 'mcp_config') return path.length > 3 && isOpenInEntry(value, list, member);
      return fieldNamed(name ?? '')?.readable === true && NUMBER_OR_WORD.test(value);
    default:
      return false;
  }
}

function isOpenInEntry(value: string, list: string | undefined, member: string): boolean {
  if (!OPEN_MEMBERS.has(member)) return false;
  if (member === 'timeout' || /^(null|~|\d{1,9})$/.test(value)) return NUMBER_OR_WORD.test(value);
  if (member === 'url') return list !== 'stdio_servers' && isAddress(value);
  return isPlainWord(value);
}

/** Text without blanks that reads like a name, quoted or not. */
function isPlainWord(value: string): boolean {
  const word = /^(["']?)(.*)\1$/s.exec(value)?.[2] ?? '';
  return isShowable(word.replaceAll(/[/@]/g, '-'));
}

function isAddress(value: string): boolean {
  return ADDRESS.test(value) && isWords(value);
}

function isWords(value: string): boolean {
  return value.split(/[\s"'[\]:/.#]+/).every((part) => isShowable(part) || /^\d{1,5}$/.test(part));
}

/** The path of the value that stands on the line: a path that ends at an entry of a list is continued by the line's key. */
function placeOnLine(path: readonly string[], key: string | undefined): readonly string[] {
  const last = path.at(-1);
  if (last === undefined || key === last) return path;
  if (!/^\d+$/.test(last)) return [];
  return key === undefined ? path : [...path, key];
}
