import type { ErrorReport, FORMAT_VERSION, Tool } from './plan.ts';
import type { Dialect } from './state.ts';
import type { Json } from './value.ts';

/** What one target's service has. `settings` is null where nothing is stored, or where it could not be looked at. */
export interface EnvironmentSettings {
  readonly name: string;
  readonly origin: string | null;
  readonly dialect: Dialect | null;
  readonly status: 'stored' | 'empty' | 'error';
  readonly settings: Json;
  readonly error: ErrorReport | null;
}

/** What `get settings` found, masked. schemas/observed.schema.json is its schema. */
export interface ObservedDocument {
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'observed';
  readonly tool: Tool;
  readonly environments: readonly EnvironmentSettings[];
}
