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
import { checkRequest, type FunctionName, OPTION_RULES } from './check-request.ts';
import { SetpointError } from '../model/error.ts';

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

/** The options that have another name than their flag. */
const SHORT: Readonly<Record<string, string>> = {
  '-e': 'targets',
  '-f': 'file',
  '-l': 'selector',
  '--env': 'targets',
  '--only-if-empty': 'ifEmpty',
};

/** Rewrites an error of use, or of a file, of the command line: it names the options of the function instead of flags. */
function inOptions(name: FunctionName, thrown: unknown): unknown {
  if (!(thrown instanceof SetpointError)) return thrown;
  if (thrown.code !== 'usage' && thrown.code !== 'file-unreadable') return thrown;
  const { code, message, hint } = thrown;
  const rules = OPTION_RULES[name];
  const rename = (text: string): string =>
    text.replaceAll(/(?<![\w-])--?[a-z][a-z-]*/g, (flag) => {
      const option =
        SHORT[flag] ??
        flag.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return Object.hasOwn(rules, option) ? option : flag;
    });
  const isGeneral = hint === new SetpointError(code, '').hint && code === 'usage';
  return Object.assign(thrown, {
    message: rename(message),
    hint: isGeneral ? 'docs/reference/library.md lists the options.' : rename(hint),
  });
}

type Callback = (...given: readonly unknown[]) => unknown;

/**
 * Runs an operation whose request has functions of the caller. If one of them throws, or what it returns rejects, the operation is
 * stopped as its signal would stop it, and rejects with that very error. A promise of a callback that is not waited for while the
 * operation runs is waited for at its end.
 */
export async function withCallbacks<R extends object, T>(
  request: R & Pick<Options, 'signal'>,
  operation: (request: R) => Promise<T>,
): Promise<T> {
  const failures: { readonly error: unknown }[] = [];
  const pending = new Set<Promise<unknown>>();
  const stop = new AbortController();
  const fail = (error: unknown): never => {
    failures.push({ error });
    stop.abort();
    throw error;
  };
  const guard =
    (callback: Callback): Callback =>
    (...given) => {
      try {
        const result = callback(...given);
        if (!isThenable(result)) return result;
        const ended = Promise.resolve(result).catch(fail);
        const done = ended.catch(() => {}).finally(() => pending.delete(done));
        pending.add(done);
        return ended;
      } catch (error) {
        return fail(error);
      }
    };
  const callbacks = Object.entries(request).flatMap(([name, value]) =>
    typeof value === 'function' ? [[name, guard(value as Callback)] as const] : [],
  );
  if (callbacks.length === 0) return operation(request);
  const signal =
    request.signal === undefined ? stop.signal : AbortSignal.any([request.signal, stop.signal]);
  const ended = operation({ ...request, ...Object.fromEntries(callbacks), signal });
  const settled = await ended.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  while (pending.size > 0) await Promise.all(pending);
  const [failure] = failures;
  if (failure !== undefined) throw failure.error;
  if ('error' in settled) throw settled.error;
  return settled.value;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
