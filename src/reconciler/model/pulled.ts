import type { ErrorReport, FORMAT_VERSION, Tool, Unknown } from './plan.ts';
import type { Path, Source } from './path.ts';
import type { Json } from './value.ts';

/** What happened to a value in the file: `set`, `change` and `clear` of a field; `add` and `remove` of an mcp entry; `adopt`. */
export type PulledAction = 'set' | 'change' | 'clear' | 'add' | 'remove' | 'adopt';

/** A value of the service that the file got. `before` is what the file declared; secrets are masked. */
export interface PulledValue {
  readonly path: Path;
  readonly action: PulledAction;
  readonly before: Json;
  readonly after: Json;
  readonly sensitive: boolean;
  /** Its place in the file; null if it was removed. */
  readonly source: Source | null;
}

/** Something that differs and that the file did not get. */
export interface LeftAlone {
  readonly path: Path;
  readonly reason: string;
  readonly ref: string | null;
}

/** A variable that the file reads from now on, for a secret that the service holds. */
export interface NewVariable {
  readonly name: string;
  readonly path: Path;
}

/**
 * One environment's part of a pull. `differs`: nothing was written; `skipped`: another environment's service could not be read.
 * `unknown`: what could not be compared.
 */
export interface EnvironmentPull {
  readonly name: string;
  readonly origin: string | null;
  readonly status: 'in-sync' | 'differs' | 'pulled' | 'skipped' | 'error';
  readonly pulled: readonly PulledValue[];
  readonly left: readonly LeftAlone[];
  readonly unknown: readonly Unknown[];
  readonly variables: readonly NewVariable[];
  readonly error: ErrorReport | null;
}

/** What a pull did to a file; `differs` if it would be edited and nothing is written. */
export interface PulledFile {
  readonly file: string;
  readonly status: 'unchanged' | 'differs' | 'written';
}

export interface PullDocument {
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'pull';
  readonly tool: Tool;
  readonly files: readonly PulledFile[];
  readonly environments: readonly EnvironmentPull[];
}

/** A line of a settings file, and how it is shown: possible secrets are masked. */
export interface ShownLine {
  readonly text: string;
  readonly shown: string;
}

/** A file before and after an edit, line by line. */
export interface FileEdit {
  readonly file: string;
  readonly before: readonly ShownLine[];
  readonly after: readonly ShownLine[];
}

/** What `init` wrote. `variables` are those that the settings read; `left` is what the service has and the file did not get. */
export interface InitDocument {
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'init';
  readonly tool: Tool;
  readonly environment: string;
  readonly origin: string | null;
  readonly status: 'stored' | 'empty';
  readonly files: readonly {
    readonly file: string;
    readonly status: 'created' | 'extended' | 'unchanged';
  }[];
  readonly variables: readonly NewVariable[];
  readonly left: readonly LeftAlone[];
}
