export {
  apply,
  doctor,
  drift,
  effective,
  explain,
  get,
  init,
  plan,
  pull,
  smoke,
  validate,
} from './reconciler/library/functions.ts';
export {
  render,
  type RenderedDocument,
  type RenderFormat,
  type RenderOptions,
} from './reconciler/library/render.ts';
export { stream, type RunEvent } from './reconciler/library/stream.ts';
export { report } from './reconciler/operations/report.ts';
export { readSaved } from './reconciler/operations/saved-document.ts';
export { InvalidSettings } from './reconciler/operations/invalid-settings.ts';
export type { Effective } from './reconciler/model/effective.ts';
export { startEmulator, type Emulator, type EmulatorOptions } from './emulator/start.ts';
export { SetpointError, type ErrorCode, type WarningCode } from './reconciler/model/error.ts';
export { VERSION } from './reconciler/model/version.ts';
export type {
  ApplyRequest,
  DoctorRequest,
  DriftRequest,
  EnvironmentsEnded,
  ExplainRequest,
  GetRequest,
  InitRequest,
  Options,
  PlanRequest,
  PullRequest,
  SettingsText,
  SmokeRequest,
} from './reconciler/operations/options.ts';
export type { SettingsFile } from './reconciler/model/settings.gen.ts';
export type { Diagnostic, DiagnosticCode } from './reconciler/model/diagnostic.ts';
export type { Action } from './reconciler/model/action.ts';
export type {
  Change,
  EnvironmentPlan,
  Merged,
  PlanDocument,
  Run,
  Unknown,
} from './reconciler/model/plan.ts';
export type { ErrorReport, Warning } from './reconciler/model/error.ts';
export type {
  EnvironmentOutcome,
  OutcomeChange,
  OutcomeDocument,
  Remainder,
  Result,
} from './reconciler/model/outcome.ts';
export type { Shard } from './reconciler/model/shard.ts';
export type {
  Block,
  ConversationReport,
  DeclaredReport,
  DoctorDocument,
  EffectiveDocument,
  EffectiveValue,
  EnvironmentExplained,
  EnvironmentHealth,
  EnvironmentObserved,
  EnvironmentPull,
  EnvironmentSmoke,
  ExplainDocument,
  InitDocument,
  LeftAlone,
  Meaning,
  NewVariable,
  ObservedDocument,
  PullDocument,
  PulledAction,
  PulledFile,
  PulledValue,
  ReferenceForm,
  ReferenceReport,
  SandboxReport,
  SmokeDocument,
  SmokeStep,
  SpecReport,
  StoreReport,
  ValidationDocument,
} from './reconciler/model/documents.gen.ts';
export type { Resource } from './reconciler/model/observed.ts';
export type {
  EffectiveList,
  EffectiveMap,
  EffectiveMember,
  EffectiveNode,
  EffectivePart,
  EffectiveScalar,
  Origin,
} from './reconciler/model/effective.ts';
export type { FileEdit, ShownLine } from './reconciler/model/pulled.ts';
export type { Check, MachineCheck, TargetCheck } from './reconciler/model/doctor.ts';
export type { OutcomeSummary } from './reconciler/model/outcome.ts';
export type {
  Attention,
  EnvironmentCounts,
  PlanSummary,
  Summary,
} from './reconciler/model/plan.ts';
export type { OutcomeVerdict, PlanVerdict, Verdict } from './reconciler/model/verdict.ts';
export type { SandboxProgress } from './reconciler/model/progress.ts';
export type { Clock, SecretResolver, Variables } from './reconciler/model/ports.ts';
export type { Dispatcher } from './reconciler/model/dispatcher.ts';
export type { DialectName } from './reconciler/model/dialect.ts';
export type { Source } from './reconciler/model/path.ts';
export type { Path } from './reconciler/model/path.ts';
export type { Refusal } from './reconciler/model/guard.ts';
export type { Json } from './reconciler/model/value.ts';
