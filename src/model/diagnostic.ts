import type { Path } from './path.ts';

/** One problem in a settings file: where it is, what it is, and what to do about it. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The keys that lead to the place, from the top of the file. */
  readonly path: Path;
  /** The line itself, what may be a secret struck out; null where the file has no such line. */
  readonly excerpt: string | null;
}

/** Every code a diagnostic may carry, with what it stands for. docs/diagnostics.md says the same; a test keeps them in step. */
export const DIAGNOSTICS = {
  alias: 'An alias or anchor; a settings file repeats itself by environments, not by aliases.',
  'bad-value': 'A value outside what its field takes.',
  'base-not-allowed': 'A base file holds a block that only the file above it may hold.',
  'cannot-be-had': 'A value that the service has no way to reach.',
  directive: 'A YAML directive, which would change how the file is read.',
  'duplicate-entry': 'The same mcp server, sandbox or sandbox spec twice in one list.',
  'duplicate-key': 'The same key twice in one map.',
  'empty-value': 'A key without a value.',
  'file-too-large': 'The file is larger than the limit.',
  'forbidden-variable': 'A variable that no settings file may read.',
  'key-does-not-follow': 'An environment moves the url but names no key of its own.',
  'literal-secret': 'A secret written into the file.',
  'malformed-reference': 'Text that looks like a reference but is none.',
  'missing-key': 'A key that must be there is not.',
  'not-utf8': 'The file is not UTF-8 text.',
  'number-not-exact': 'A number that would change on its way to the service.',
  policy: 'Something that the policy given with --policy does not allow.',
  syntax: 'Text that is not YAML.',
  tag: 'A YAML tag; types follow from the schema.',
  'too-deep': 'More levels inside each other than 64.',
  unreadable: 'A file that cannot be read.',
  'unknown-key': 'A key the schema does not have.',
  'unknown-path': 'A path that leads nowhere.',
  'several-documents': 'More than one YAML document in the file.',
  'wrong-type': 'A value of another type than its field takes.',
} as const;

export type DiagnosticCode = keyof typeof DIAGNOSTICS;
