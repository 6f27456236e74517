export { plan } from './operations/plan.ts';
export { apply, type ApplyRequest } from './operations/apply.ts';
export { drift } from './operations/plan.ts';
export { pull, type PullRequest } from './operations/pull.ts';
export { init } from './operations/init.ts';
export type { InitRequest } from './operations/initial.ts';
export { explain, type ExplainRequest } from './operations/explain.ts';
export { effective, type Effective } from './operations/effective.ts';
export { doctor } from './operations/doctor.ts';
export { smoke, type SmokeRequest } from './operations/smoke.ts';
export { validate } from './operations/validate.ts';
export { report } from './operations/report.ts';
export { readSaved } from './operations/saved-document.ts';
export { get, type GetRequest } from './operations/get.ts';
export { InvalidSettings } from './operations/load.ts';
export { startEmulator, type Emulator, type EmulatorOptions } from './emulator/start.ts';
export { SetpointError, type ErrorCode } from './model/error.ts';
export { VERSION } from './model/version.ts';
export type { EnvironmentsEnded, Options, PlanRequest } from './operations/options.ts';
export type { SettingsFile } from './model/settings.gen.ts';
export type { Diagnostic, DiagnosticCode } from './model/diagnostic.ts';
export type { Action } from './model/action.ts';
export type {
  Change,
  EnvironmentPlan,
  ErrorReport,
  Merged,
  PlanDocument,
  Run,
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
export type { Shard } from './model/shard.ts';
export type {
  ConversationReport,
  EnvironmentObserved,
  ObservedDocument,
  Resource,
  SandboxReport,
  SpecReport,
} from './model/observed.ts';
export type {
  Block,
  DeclaredReport,
  EnvironmentExplained,
  ExplainDocument,
  Meaning,
  Origin,
  ReferenceForm,
  ReferenceReport,
  StoreReport,
} from './model/explain.ts';
export type {
  EffectiveDocument,
  EffectiveList,
  EffectiveMap,
  EffectiveMember,
  EffectiveNode,
  EffectivePart,
  EffectiveScalar,
  EffectiveValue,
} from './model/effective.ts';
export type {
  EnvironmentPull,
  FileEdit,
  InitDocument,
  LeftAlone,
  NewVariable,
  PullDocument,
  PulledAction,
  PulledFile,
  PulledValue,
  ShownLine,
} from './model/pulled.ts';
export type {
  Check,
  DoctorDocument,
  EnvironmentHealth,
  MachineCheck,
  TargetCheck,
} from './model/doctor.ts';
export type { EnvironmentSmoke, SmokeDocument, SmokeStep } from './model/smoke.ts';
export type {
  Attention,
  EnvironmentCounts,
  OutcomeSummary,
  PlanSummary,
  Summary,
} from './model/summary.ts';
export type { OutcomeVerdict, PlanVerdict, Verdict } from './model/verdict.ts';
export type { SandboxProgress } from './reconcile/contract.ts';
export type { ValidationDocument } from './model/validation.ts';
export type { Clock } from './model/ports.ts';
export type { DialectName } from './model/dialect.ts';
export type { Source } from './model/path.ts';
export type { Path } from './model/path.ts';
export type { Refusal } from './model/guard.ts';
export type { Json } from './model/value.ts';
