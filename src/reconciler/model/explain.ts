import type { SpecifiedField } from './field.ts';
import type { Path, Source } from './path.ts';
import type { Change, ErrorReport, FORMAT_VERSION, Tool, Unknown, Warning } from './plan.ts';
import type { Spoken } from './state.ts';
import type { Json } from './value.ts';

/** The block that declares a value: at the top, in the environment, or in the base file. */
export type Block = 'top' | 'environment' | 'base';

/** Where a value comes from. */
export interface Origin {
  readonly source: Source;
  readonly block: Block;
}

/** Where a value may contain a reference: as the `whole` value only, `inside` text, or nowhere. */
export type ReferenceForm = 'whole' | 'inside' | 'none';

/** What the store does with a field of the settings: see SpecifiedField. */
export interface StoreReport {
  readonly on_null: SpecifiedField['onNull'];
  readonly clear_with: SpecifiedField['clearWith'];
  readonly readable: boolean;
  readonly set_flag: string | null;
  readonly later: boolean;
}

/** What a path of the file accepts and means, from the schema. `types` are JSON Schema's; without `default` there is none. */
export interface Meaning {
  readonly description: string;
  readonly types: readonly string[];
  readonly values: readonly string[];
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly nullable: boolean;
  readonly secret: boolean;
  readonly reference: ReferenceForm;
  readonly default?: Json;
  readonly store: StoreReport | null;
}

/** A reference of the file, and whether what it names has a value; never the value. `problem` is why it cannot be used. */
export interface ReferenceReport {
  readonly ref: string;
  readonly kind: 'env' | 'file';
  readonly name: string;
  readonly set: boolean;
  readonly problem: string | null;
}

/** A declared value: a reference as it is written, and everything masked that a plan would mask. */
export interface DeclaredReport extends Origin {
  readonly value: Json;
}

/**
 * One environment's part: what its file declares, and what an apply would do about it. `not-observed`: the service was not
 * read, because of `offline`, or because it keeps nothing of this path.
 */
export interface EnvironmentExplained extends Spoken {
  readonly name: string;
  readonly origin: string | null;
  readonly status: 'observed' | 'not-observed' | 'error';
  readonly declared: DeclaredReport | null;
  /** Listed under `unmanaged`. */
  readonly unmanaged: boolean;
  readonly references: readonly ReferenceReport[];
  readonly changes: readonly Change<Json>[];
  readonly unknown: readonly Unknown[];
  readonly warnings: readonly Warning[];
  readonly error: ErrorReport | null;
}

/** What `explain PATH` found. schemas/explain.schema.json is its schema. */
export interface ExplainDocument {
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'explanation';
  readonly tool: Tool;
  readonly path: Path;
  /** What the path belongs to: the settings, the sandboxes, or what only the file has. */
  readonly part: 'settings' | 'secrets' | 'sandboxes' | 'file';
  readonly meaning: Meaning;
  readonly environments: readonly EnvironmentExplained[];
}
