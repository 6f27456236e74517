import type { Diagnostic } from '../model/diagnostic.ts';
import type { Document } from 'yaml';
import { buildNode } from './build-node.ts';
import { compose } from './compose.ts';
import { duplicateKeys } from './duplicate-keys.ts';
import { asIfQuoted, asWritten, flowReferences } from './flow-reference.ts';
import type { Node } from './node.ts';
import { diagnostic, type Finding } from './report.ts';
import { sourceFile, type SourceFile } from './source-file.ts';
import { syntaxFindings, type Problem } from './syntax-findings.ts';

export interface ParsedFile {
  readonly file: SourceFile;
  /** Null where the text could not be read as one YAML document. */
  readonly root: Node | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** The text as one document of plain data. */
export function parseFile(path: string, text: string): ParsedFile {
  const file = sourceFile(path, text.startsWith('\uFEFF') ? text.slice(1) : text);
  const diagnostics: Diagnostic[] = [];
  const report = (at: number, finding: Finding) => diagnostics.push(diagnostic(file, at, finding));
  const composed = compose(file.text) ?? composeMended(file, report);
  const nothing = { file, root: null, diagnostics };
  if (composed === null) return nothing;
  for (const [at, finding] of composed.found) report(at, finding);
  const [document] = composed.documents;
  if (document === undefined) return nothing;
  if (composed.second !== null) report(composed.second, SEVERAL_DOCUMENTS);
  const { findings, broken } = syntaxFindings(file, problemsOf(document), composed);
  for (const [at, finding] of findings) report(at, finding);
  if (broken || composed.second !== null) return nothing;
  const { contents } = document;
  const root = contents === null ? null : buildNode(contents, { file, written: asWritten });
  if (root?.kind === 'map') return { file, root, diagnostics };
  const empty = root === null || (root.kind === 'scalar' && root.bare);
  if (root?.reported !== true) report(empty ? 0 : root.at, empty ? EMPTY : NO_MAP);
  return nothing;
}

function problemsOf({ errors, contents }: Document.Parsed): Problem[] {
  const duplicates = duplicateKeys(contents).map((at): Problem => ({
    code: 'DUPLICATE_KEY',
    pos: [at, at + 1],
    message: '',
  }));
  return [...errors, ...duplicates];
}

/** References in flow style that are not quoted are reported, and the rest is read as if they were. */
function composeMended(
  file: SourceFile,
  report: (at: number, finding: Finding) => void,
): ReturnType<typeof compose> {
  const dollars = flowReferences(file.text);
  for (const at of dollars) report(at, UNQUOTED);
  const mended = asIfQuoted(file.text, dollars);
  return mended === null ? null : compose(mended);
}

const UNQUOTED: Finding = {
  code: 'syntax',
  message: 'Inside { } and [ ] YAML reads the braces of a reference as its own.',
  hint: 'Quote the reference: "${env:NAME}".',
};

const SEVERAL_DOCUMENTS: Finding = {
  code: 'several-documents',
  message: 'A second document starts here.',
  hint: 'Keep one document in a file; use environments, or a file for each target.',
};

const EMPTY: Finding = {
  code: 'wrong-type',
  message: 'The file is empty.',
  hint: 'Start with version: 1.',
};

const NO_MAP: Finding = {
  code: 'wrong-type',
  message: 'The file is not a map of keys.',
  hint: 'Start with version: 1, then server: and settings:.',
};
