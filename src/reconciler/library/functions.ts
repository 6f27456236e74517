import type {
  DoctorDocument,
  ExplainDocument,
  InitDocument,
  ObservedDocument,
  PullDocument,
  SmokeDocument,
  ValidationDocument,
} from '../model/documents.gen.ts';
import type { Effective } from '../model/effective.ts';
import type { OutcomeDocument } from '../model/outcome.ts';
import type { PlanDocument } from '../model/plan.ts';
import { apply as applyOperation } from '../operations/apply.ts';
import { doctor as doctorOperation } from '../operations/doctor.ts';
import { effective as effectiveOperation } from '../operations/effective.ts';
import { explain as explainOperation } from '../operations/explain.ts';
import { get as getOperation } from '../operations/get.ts';
import { init as initOperation } from '../operations/init.ts';
import type {
  ApplyRequest,
  DoctorRequest,
  DriftRequest,
  ExplainRequest,
  GetRequest,
  InitRequest,
  Options,
  PlanRequest,
  PullRequest,
  SmokeRequest,
} from '../operations/options.ts';
import { drift as driftOperation, plan as planOperation } from '../operations/plan.ts';
import { pull as pullOperation } from '../operations/pull.ts';
import { smoke as smokeOperation } from '../operations/smoke.ts';
import { validate as validateOperation } from '../operations/validate.ts';
import { withCallbacks } from './callbacks.ts';
import { checkRequest, type FunctionName } from './check-request.ts';
import { inOptions } from './words.ts';

/** Runs an operation for a program: its request is checked first, and an error of one of its functions is rejected with unchanged. */
async function run<R extends Pick<Options, 'signal' | 'state'> & { readonly text?: unknown }, T>(
  name: FunctionName,
  request: R,
  operation: (request: R) => Promise<T>,
): Promise<T> {
  checkRequest(name, request);
  const state = request.state ?? (request.text === undefined ? undefined : null);
  return withCallbacks({ ...request, state }, (checked) =>
    operation(checked).catch((thrown: unknown) => {
      throw inOptions(name, thrown);
    }),
  );
}

/**
 * Plans every environment, reading only. One that cannot be observed has status `error` in the document. Throws a SetpointError
 * if nothing could be observed because files, names or options are wrong.
 */
export function plan(request: PlanRequest): Promise<PlanDocument> {
  return run('plan', request, planOperation);
}

/** A plan whose changes are read as drift: differences that were made on the service, or edits that are not applied yet. */
export function drift(request: DriftRequest): Promise<PlanDocument> {
  return run('drift', request, driftOperation);
}

/**
 * Reconciles each environment once, one after another in the order given. It starts no more when more than `maxFailures` did not
 * end well. Every file, key and reference is checked before the first request. The outcome has a result for every change. Throws a
 * SetpointError if nothing was begun.
 */
export function apply(request: ApplyRequest): Promise<OutcomeDocument> {
  return run('apply', request, applyOperation);
}

/** Checks the files offline: schema, form of references, rules across fields. Variables are not read. */
export function validate(request: Options): Promise<ValidationDocument> {
  return run('validate', request, validateOperation);
}

/** All blocks of one environment merged, each value with its origin. Offline: no variable is read, nothing is sent. */
export function effective(request: Options): Promise<Effective> {
  return run('effective', request, effectiveOperation);
}

/**
 * Imports the values of the services into the settings files, in place: every value into the block it came from, references and
 * secrets untouched, everything else byte for byte the same. Reads the services only. The edited files are read back, checked,
 * and planned against the same observations before anything is written. With `text` nothing is written. Throws a SetpointError if
 * a file or a name is not valid, or if a file cannot be written.
 */
export function pull(request: PullRequest): Promise<PullDocument> {
  return run('pull', request, pullOperation);
}

/**
 * Writes a first settings file from a service, or adds an environment to a file, with `.env.example` and lines in `.gitignore`
 * next to it. Reads the service only. Nothing is overwritten, and a plan of the settings against the same observation is empty.
 * Throws a SetpointError if nothing was written.
 */
export function init(request: InitRequest): Promise<InitDocument> {
  return run('init', request, initOperation);
}

/**
 * The meaning of a path of the file, what each environment declares there and in which block, and what an apply would do about it.
 * Reads only: the settings once, or the part of the service that the path is about. Without a settings file there is no
 * environment, and nothing is read. Throws a SetpointError for an unknown path.
 */
export function explain(request: ExplainRequest): Promise<ExplainDocument> {
  return run('explain', request, explainOperation);
}

/** The state of the service of every environment, masked. Reads only. Without a settings file `server` names the service. */
export function get(request: GetRequest): Promise<ObservedDocument> {
  return run('get', request, getOperation);
}

/**
 * Checks this machine, the settings files, and whether the service of every environment can be reached and believed; sends only
 * GET, unless it is to check what is stored. Without a settings file `server` names the service. A failed check stops no other that
 * still makes sense. Throws a SetpointError if names or options are wrong.
 */
export function doctor(request: DoctorRequest): Promise<DoctorDocument> {
  return run('doctor', request, doctorOperation);
}

/**
 * Starts one conversation in each environment, one after another, follows it until it is ready, and removes it again. That costs
 * a call to the model. A conversation that cannot be removed without harm remains, and is named. Throws a SetpointError if nothing
 * was begun.
 */
export function smoke(request: SmokeRequest): Promise<SmokeDocument> {
  return run('smoke', request, smokeOperation);
}
