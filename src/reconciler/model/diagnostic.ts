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
  /** The line itself with possible secrets struck out; null if the file has no such line. */
  readonly excerpt: string | null;
}

/** A diagnostic as documents carry it. */
export type ReportedDiagnostic = Omit<Diagnostic, 'excerpt'>;

/** Every code of a diagnostic and its meaning. docs/diagnostics.md follows from this. */
export const DIAGNOSTICS = {
  alias:
    'An alias or anchor. Environments share values through the blocks above them, not through aliases.',
  'bad-move': 'An entry of `moved` by which no server could rename anything.',
  'bad-value': 'A value that its field does not allow.',
  'base-not-allowed': 'A base file has a key that only the file extending it may have.',
  'declared-twice':
    'A field under its name and at its native place, or in a block and under `settings`.',
  directive: 'A YAML directive, which would change how the file is read.',
  'doubtful-value': 'A value that servers take, and with which something does not work; a warning.',
  'duplicate-entry':
    'The same mcp server, tool, sandbox or sandbox spec twice in one list, or two names of secrets that cannot both be stored.',
  'duplicate-key': 'The same key twice in one map.',
  'empty-value': 'A key without a value.',
  'file-too-large': 'The file is larger than the limit.',
  'forbidden-variable': 'A variable that a settings file cannot read.',
  'key-does-not-follow': 'An environment changes the url but does not declare its own key.',
  'key-shared':
    'A variable, secret file or secret that is the key of one server and would be sent to another.',
  'literal-secret': 'A secret written into the file.',
  'malformed-reference': 'Text that looks like a reference but is not one.',
  'missing-key': 'A required key is missing.',
  'not-utf8': 'The file is not UTF-8 text.',
  'not-in-kubernetes':
    'Something that a SettingsTarget of Kubernetes cannot contain, or an entry of `kubernetes.references` that nothing uses.',
  'not-settable': 'A value that the service cannot be set to.',
  'number-not-exact': 'A number that cannot be sent exactly.',
  policy: 'Something that the policy given with --policy does not allow.',
  syntax: 'Text that is not YAML.',
  tag: 'A YAML tag. The field determines the type.',
  'too-deep': 'More than 64 levels of nesting.',
  unreadable: 'A file that cannot be read.',
  'unknown-command': 'A secret command that SETPOINT_SECRET_COMMANDS does not name here.',
  'unknown-key': 'A key that the schema does not have.',
  'unknown-name':
    'The name of something that the file does not declare, although it declares others of the kind; an error if it removes or renames it.',
  'unknown-path': 'A path that leads nowhere.',
  'several-documents': 'More than one YAML document in the file.',
  'wrong-type': 'A value of a type that its field does not allow.',
} as const;

/** The codes of diagnostics; docs/diagnostics.md lists them. */
export type DiagnosticCode = keyof typeof DIAGNOSTICS;

/** A diagnostic as documents carry it: without the quoted line. */
export function toReportedDiagnostic(diagnostic: Diagnostic): ReportedDiagnostic {
  const { severity, code, message, hint, file, line, column, path } = diagnostic;
  return { severity, code, message, hint, file, line, column, path };
}
