export { plan, type PlanRequest } from './operations/plan.ts';
export { apply, type ApplyRequest } from './operations/apply.ts';
export { drift } from './operations/drift.ts';
export { validate } from './operations/validate.ts';
export { getSettings } from './operations/get-settings.ts';
export { InvalidSettings } from './operations/load.ts';
export { startEmulator, type Emulator, type EmulatorOptions } from './emulator/start.ts';
export { SetpointError, type ErrorCode } from './model/error.ts';
export { VERSION } from './model/version.ts';
export type { Options } from './operations/options.ts';
export type { SettingsFile } from './model/settings.gen.ts';
export type { Diagnostic, DiagnosticCode } from './model/diagnostic.ts';
export type {
  Action,
  Change,
  EnvironmentPlan,
  ErrorReport,
  PlanDocument,
  Summary,
  Unknown,
  Warning,
} from './model/plan.ts';
export type {
  EnvironmentOutcome,
  OutcomeChange,
  OutcomeDocument,
  Remainder,
  Result,
} from './model/outcome.ts';
export type { EnvironmentSettings, ObservedDocument } from './model/observed.ts';
export type { ValidationDocument } from './model/validation.ts';
export type { Clock } from './model/ports.ts';
export type { Dialect } from './model/state.ts';
export type { Source } from './model/source.ts';
export type { Path } from './model/path.ts';
export type { Json } from './model/value.ts';
