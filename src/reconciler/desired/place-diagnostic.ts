import { readLine, locate, type Finding, type PlacedFinding, type SourceFile } from './node.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isShowable } from '../model/secret-words.ts';
import { findBlock } from './blocks.ts';
import { inBlock, isNumberOrWord, isPlainWord, isReference } from './blocks/block.ts';
import { collectSchemaKeys } from './schema-lookup.ts';

/** A finding at an offset of a file, as a diagnostic with its line quoted. */
export function diagnostic(file: SourceFile, at: number, finding: Finding): Diagnostic {
  const source = locate(file, at);
  const path = finding.path ?? [];
  return {
    severity: finding.severity ?? 'error',
    code: finding.code,
    message: finding.message,
    hint: finding.hint,
    ...source,
    path: path.map(formatDiagnosticKey),
    ...(finding.fix === undefined ? {} : { fix: finding.fix }),
    excerpt: excerpt(readLine(file, source.line), path, source.column),
  };
}

/** A key of a file as the path of a diagnostic has it. */
export function formatDiagnosticKey(key: string): string {
  return isShowable(key) ? key : '…';
}

export function createDiagnostic({ file, at, finding }: PlacedFinding): Diagnostic {
  return diagnostic(file, at, finding);
}

const STRUCK = '•••';
const FARTHEST = 160;

const LINE =
  /^(\s*(?:- +)*)(?:(["']?)([^\s"'#:,[\]{}&*!|>%@`][^\s"':,[\]{}]{0,63})\2(\s*:)(?=\s|$))?(\s*)(.*)$/s;
const TOKEN =
  /\$\{[^}]*\}|"(?:[^"\\]|\\.)*"?|'[^']*'?|[{}[\],]|\s+|:(?=[\s,[\]{}]|$)|(?:[^\s{}[\],:]|:(?![\s,[\]{}]|$))+/gs;

/**
 * A line of the file as a diagnostic quotes it. The key stays if it has the form of a name. The value stays only if the place that
 * `path` leads to holds no secret, and the value has a form that is common there. Everything else is struck out in one way, so
 * that neither its length nor its characters show. Without a path every value is struck out. Inside a flow collection the text
 * before the column keeps its width, which the column shows anyway.
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
    return indent + blank + (isQuotableValue(value, pathOnLine(path, key)) ? value : STRUCK);
  }
  const shownKey = isShowable(key) ? `${quote}${key}${quote}` : STRUCK;
  if (value === '') return indent + shownKey + colon;
  return (
    indent +
    shownKey +
    colon +
    blank +
    (isQuotableValue(value, pathOnLine(path, key)) ? value : STRUCK)
  );
}

/** The line up to what the caret points at. Keys of the schema stay; of values only the width stays. */
function upTo(caret: number, line: string, path: readonly string[]): string {
  let shown = '';
  let inFlow = false;
  for (const { 0: token, index } of line.matchAll(TOKEN)) {
    const isKey = /^\s*:(?=[\s,[\]{}]|$)/.test(line.slice(index + token.length));
    const bare = token.replaceAll(/^["']|["']$/g, '');
    if (index === caret) {
      if (isKey) return `${shown}${isShowable(bare) ? token : STRUCK}: …`;
      const value = isQuotableValue(token, path) ? token : STRUCK;
      const more = line.slice(index + token.length).trim() === '' ? '' : ' …';
      return shown + value + more;
    }
    if (index + token.length > caret) return shown + '•'.repeat(caret - index) + STRUCK;
    inFlow ||= token === '{' || token === '[';
    const plain =
      /^(?:[\s{}[\],:]+|[-?])$/.test(token) ||
      (isKey && (collectSchemaKeys().has(bare) || (!inFlow && isShowable(bare)))) ||
      isReference(token);
    shown += plain ? token : '•'.repeat(token.length);
  }
  return shown;
}

/** Reports whether a value may be quoted. The block decides for its values. */
function isQuotableValue(value: string, path: readonly string[]): boolean {
  if (isReference(value)) return true;
  const found = findBlock(path);
  if (found !== null) return found.block.isQuotable?.(value, found.path) ?? false;
  const [key] = inBlock(path);
  if (key === 'version') return isNumberOrWord(value);
  return (key === 'name' || key === 'extends') && isPlainWord(value);
}

/** The path of the value on the line: a path that ends at an entry of a list continues with the line's key. */
function pathOnLine(path: readonly string[], key: string | undefined): readonly string[] {
  const last = path.at(-1);
  if (last === undefined || key === last) return path;
  if (!/^\d+$/.test(last)) return [];
  return key === undefined ? path : [...path, key];
}
