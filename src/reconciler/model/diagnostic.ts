import type { Path } from './path.ts';

/** One problem in a settings file: its place, what it is, and what to do about it. */
export interface Diagnostic {
  /** The severity. */
  readonly severity: 'error' | 'warning';
  /** The code; docs/diagnostics.md lists them. */
  readonly code: DiagnosticCode;
  /** A sentence about what happened. */
  readonly message: string;
  /** A sentence about what to do. */
  readonly hint: string;
  /** The path of the file. */
  readonly file: string;
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1, in UTF-16 units. */
  readonly column: number;
  /** The keys that lead to the place, from the top of the file. */
  readonly path: Path;
  /** The edit that mends it, if there is exactly one. */
  readonly fix?: Fix;
  /** The line itself with possible secrets struck out; null if the file has no such line. */
  readonly excerpt: string | null;
}

/** The edit that mends a problem; it has one of these. */
export interface Fix {
  /** Another name for the last key of its path. */
  readonly rename?: string;
  /** Another value. */
  readonly value?: string;
}

/** A diagnostic as documents carry it. */
export type ReportedDiagnostic = Omit<Diagnostic, 'excerpt'>;

/** Every code of a diagnostic and its meaning. docs/diagnostics.md follows from this. */
export const DIAGNOSTICS = {
  'bad-reference':
    'Text that looks like a reference but is not one, or a reference to a variable or secret command that a settings file cannot use.',
  'bad-value':
    'A value that its field does not allow, or that cannot be sent exactly; an entry of `moved` by which no server could rename anything.',
  'declared-twice':
    'The same key twice in one map, the same item twice in one list, or a field at two places: under its name and at its native place, or in a block and under `settings`.',
  'doubtful-value': 'A value of the right form with which something does not work; a warning.',
  'key-does-not-follow': 'An environment changes the url but does not declare its own key.',
  'key-shared':
    'A variable, secret file or secret that is the key of one server and would be sent to another.',
  'literal-secret': 'A secret written into the file.',
  'missing-key': 'A required key, or the value of a key, is missing.',
  'not-in-kubernetes':
    'Something that a SettingsTarget of Kubernetes cannot contain, or an entry of `kubernetes.references` that nothing uses.',
  policy: 'Something that the policy given with --policy does not allow.',
  syntax:
    'Text that is not YAML, or YAML that a settings file cannot have: an alias, a tag, a directive, a second document, or more than 64 levels of nesting.',
  unreadable: 'A file that cannot be read, is larger than the limit, or is not UTF-8 text.',
  'unknown-key': 'A key or path that does not exist, or that a base file cannot have.',
  'unknown-name':
    'The name of something that the file does not declare, although it declares others of the kind; an error if it removes or renames it.',
  'wrong-type': 'A value of a type that its field does not allow.',
} as const;

/** The codes of diagnostics; docs/diagnostics.md lists them. */
export type DiagnosticCode = keyof typeof DIAGNOSTICS;

/** A diagnostic as documents carry it: without the quoted line. */
export function toReportedDiagnostic(diagnostic: Diagnostic): ReportedDiagnostic {
  const { excerpt: _, ...reported } = diagnostic;
  return reported;
}
