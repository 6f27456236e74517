import type { ErrorReport, FORMAT_VERSION, Tool } from './plan.ts';

/** A status of the task that starts a conversation, and when it was first observed: seconds since the request. */
export interface SmokeStep {
  readonly status: string;
  readonly seconds: number;
}

/** The smoke test of one environment. `conversation` and `sandbox` remain on the service, as far as it reported them. */
export interface EnvironmentSmoke {
  readonly name: string;
  readonly origin: string | null;
  readonly status: 'ready' | 'failed';
  readonly steps: readonly SmokeStep[];
  readonly conversation: string | null;
  readonly sandbox: string | null;
  readonly error: ErrorReport | null;
}

/** What `smoke` found: whether a conversation can start, and nothing else. schemas/smoke.schema.json is its schema. */
export interface SmokeDocument {
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'smoke';
  readonly tool: Tool;
  readonly started_at: string;
  readonly finished_at: string;
  readonly environments: readonly EnvironmentSmoke[];
}
