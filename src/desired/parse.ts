import { Composer, Lexer, Parser, type Document, type YAMLParseError } from 'yaml';
import type { Diagnostic } from '../model/diagnostic.ts';
import { buildNode } from './build-node.ts';
import type { Node } from './node.ts';
import { diagnostic, type Finding } from './report.ts';
import { sourceFile, type SourceFile } from './source-file.ts';
import { breaksStructure, syntaxFinding } from './syntax-finding.ts';

export interface ParsedFile {
  readonly file: SourceFile;
  /** Null where the text could not be read as one YAML document. */
  readonly root: Node | null;
  readonly diagnostics: readonly Diagnostic[];
}

const MAX_DEPTH = 64;
const SCALAR_FOLLOWS = '\u001f';

/**
 * The text as one document of plain data. The lexer runs first and is watched: what could change the meaning of the file
 * (directives, tags, aliases) is found before anything is composed from it, and a text nested deeper than 64 is given up
 * before the composer, which recurses, sees it.
 */
export function parseFile(path: string, text: string): ParsedFile {
  const file = sourceFile(path, text.startsWith('\uFEFF') ? text.slice(1) : text);
  const diagnostics: Diagnostic[] = [];
  const report = (at: number, finding: Finding) => diagnostics.push(diagnostic(file, at, finding));
  const documents = compose(file.text, report);
  const [document, second] = documents;
  if (document === undefined) return { file, root: null, diagnostics };
  if (second !== undefined) {
    const at = file.text.indexOf('\n---', document.range[1] - 1) + 1;
    report(at, {
      code: 'several-documents',
      message: 'A second document starts here.',
      hint: 'Keep one document in a file; use environments, or a file for each target.',
    });
  }
  const broken = reportErrors(file, document.errors, report);
  if (broken || second !== undefined) return { file, root: null, diagnostics };
  const root = document.contents === null ? null : buildNode(file, document.contents, report);
  if (root?.kind !== 'map') {
    report(0, {
      code: 'wrong-type',
      message:
        root === null || (root.kind === 'scalar' && root.bare)
          ? 'The file is empty.'
          : 'The file is not a map of keys.',
      hint: 'Start with version: 1.',
    });
    return { file, root: null, diagnostics };
  }
  return { file, root, diagnostics };
}

function compose(text: string, report: (at: number, finding: Finding) => void): Document.Parsed[] {
  const parser = new Parser();
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    strict: true,
    uniqueKeys: true,
    stringKeys: true,
    merge: false,
    logLevel: 'error',
    prettyErrors: false,
  });
  const documents: Document.Parsed[] = [];
  let scalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (!scalar) watch(lexeme, parser.offset, report);
    scalar = lexeme === SCALAR_FOLLOWS;
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
    if (parser.stack.length > MAX_DEPTH && depth(parser) > MAX_DEPTH) {
      report(parser.offset - lexeme.length, {
        code: 'too-deep',
        message: `More than ${MAX_DEPTH} levels stand inside each other.`,
        hint: 'No setting is nested like this; check the brackets and the indentation.',
      });
      return [];
    }
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(documents.length === 0, text.length));
  return documents;
}

function depth(parser: Parser): number {
  return parser.stack.filter(
    (token) => /^(block|flow)-/.test(token.type) && token.type !== 'block-scalar',
  ).length;
}

function watch(lexeme: string, at: number, report: (at: number, finding: Finding) => void): void {
  switch (lexeme.at(0)) {
    case '!':
      report(at, {
        code: 'tag',
        message: 'Tags have no meaning here.',
        hint:
          lexeme === '!env'
            ? 'Write a reference: ${env:NAME}.'
            : 'Remove it; quote a value that shall be text.',
      });
      break;
    case '&':
    case '*':
      report(at, {
        code: 'alias',
        message: lexeme[0] === '&' ? 'Anchors are not read.' : 'Aliases are not read.',
        hint: 'Write the value where it is used, or once in the blocks above environments.',
      });
      break;
    case '%':
      report(at, {
        code: 'directive',
        message: 'Directives are not read: the file is YAML 1.2.',
        hint: 'Remove the line.',
      });
      break;
    default:
  }
}

/** Whether the structure is broken. One finding a line; what follows from an earlier error is left out. */
function reportErrors(
  file: SourceFile,
  errors: readonly YAMLParseError[],
  report: (at: number, finding: Finding) => void,
): boolean {
  const lines = new Set<number>();
  let broken = false;
  for (const error of errors) {
    const follows = broken && error.code === 'UNEXPECTED_TOKEN';
    const [at, finding] = placed(file, error);
    const line = file.text.lastIndexOf('\n', at);
    if (!follows && !lines.has(line)) report(at, finding);
    lines.add(line);
    broken ||= breaksStructure(error);
  }
  return broken;
}

/** An error where a person would look for it: at an unquoted reference in flow style, at the quote that was opened. */
function placed(file: SourceFile, error: YAMLParseError): readonly [number, Finding] {
  const [at] = error.pos;
  const lineStart = file.text.lastIndexOf('\n', at - 1) + 1;
  const reference = file.text.slice(lineStart, at + 2).search(/[{[,][^'"]*\$\{/);
  if (reference !== -1) {
    const dollar = file.text.indexOf('${', lineStart + reference);
    const finding: Finding = {
      code: 'syntax',
      message: 'Inside { } and [ ] YAML reads the brace of a reference as its own.',
      hint: 'Quote the reference: "${env:NAME}".',
    };
    return [dollar, finding];
  }
  const quote = /quote$/.exec(error.message) === null ? -1 : openingQuote(file.text.slice(0, at));
  return [quote === -1 ? Math.min(at, file.text.length) : quote, syntaxFinding(error)];
}

function openingQuote(text: string): number {
  let open = -1;
  let at = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme[0] === '"' || lexeme[0] === "'") open = at;
    if (!/^[\u0002\u0018\u001f]$/.test(lexeme)) at += lexeme.length;
  }
  return open;
}
