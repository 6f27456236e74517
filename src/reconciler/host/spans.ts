import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  context,
  createContextKey,
  diag,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
} from 'opentelemetry-api-1.3';
import { asSetpointError, ERRORS } from '../model/error.ts';
import type { TracedPart, Tracer, Variables } from '../model/ports.ts';
import { VERSION } from '../model/version.ts';

/**
 * Everything that a span may hold, by the names of OpenTelemetry's conventions where they have one. Words, numbers and names that
 * a person chose outside of any reference; never an address, a value, a path or a message.
 */
export const ATTRIBUTES = [
  'cicd.pipeline.name',
  'cicd.pipeline.action.name',
  'cicd.pipeline.run.id',
  'cicd.pipeline.result',
  'cicd.pipeline.task.name',
  'cicd.pipeline.task.type',
  'cicd.pipeline.task.run.id',
  'cicd.pipeline.task.run.result',
  'deployment.environment.name',
  'vcs.ref.head.revision',
  'error.type',
  'process.exit.code',
  'setpoint.status',
  'setpoint.changes',
  'setpoint.dialect',
  'setpoint.watch.mode',
] as const;

type Attributes = Partial<Record<(typeof ATTRIBUTES)[number], string | number>>;

/** The spans of this process. */
export const SPANS: Tracer = {
  // A trace that lasts as long as a controller is never complete: each turn of an environment has its own.
  command: (name, env, work, exitOf) =>
    name === 'watch' ? work() : runCommandSpan(name, env, work, exitOf),
  turn: (state, commit, work) => {
    const { name, settings, lastRead } = state();
    const begun = {
      ...pipeline('watch', settings.mode === 'heal'),
      'deployment.environment.name': name,
      'setpoint.watch.mode': settings.mode,
      ...createRevisionAttributes(commit),
    };
    return inRun(begun, context.active(), work, (run) => {
      const { found: status, dialect, plan, lastRead: read } = state();
      // A turn that was stopped has found nothing.
      const part = { status, dialect, changes: plan?.changes ?? [], error: plan?.error ?? null };
      if (read !== lastRead) run.attributes = partAttributes(part);
      return findWorstCode(run);
    });
  },
  environment: (task, name, work) => {
    const type: Attributes = task === 'apply' ? DEPLOY : {};
    return inTask(task, name, type, work, (part) => {
      const code = part.error?.code ?? null;
      if (code !== null) SPANS.failed(code);
      return { code, attributes: partAttributes(part) };
    });
  },
  read: (what, name, work) => inTask(`read ${what}`, name, {}, work, () => ({ code: null })),
  write: (what, name, work) =>
    inTask(what, name, DEPLOY, work, (answer) => ({
      code: 'error' in answer ? answer.error.code : null,
    })),
  failed: (code) => void currentRun()?.codes.push(code),
  revision: (commit) =>
    Object.assign(currentRun()?.attributes ?? {}, createRevisionAttributes(commit)),
  flush,
};

const DEPLOY: Attributes = { 'cicd.pipeline.task.type': 'deploy' };

/** The notes about a run while it runs. */
interface RunNotes {
  /** The codes of its errors. */
  readonly codes: string[];
  attributes: Attributes;
}

const RUN = createContextKey('setpoint run');

function currentRun(): RunNotes | undefined {
  return context.active().getValue(RUN) as RunNotes | undefined;
}

function runCommandSpan<T>(
  name: string,
  env: Variables,
  work: () => Promise<T>,
  exitOf: (ended: T) => number,
): Promise<T> {
  // The form that OpenTelemetry gives to names of headers in variables: TRACEPARENT, TRACESTATE, BAGGAGE.
  const parent = propagation.extract(context.active(), env, {
    keys: (carrier) => Object.keys(carrier).map((key) => key.toLowerCase()),
    get: (carrier, key) => carrier[key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')],
  });
  return inRun(pipeline(name, name === 'apply'), parent, work, (run, ended) => {
    const exit = exitOf(ended);
    run.attributes['process.exit.code'] = exit;
    // A difference is a finding: the run itself went well.
    if (exit === 0 || exit === DIFFERS) return null;
    return (
      run.codes.find((code) => isCode(code) && ERRORS[code].exit === exit) ??
      findWorstCode(run) ??
      OTHER
    );
  });
}

const DIFFERS = 2;
/** The name in the conventions for an error without a name. */
const OTHER = '_OTHER';

function pipeline(name: string, writes: boolean): Attributes {
  return {
    'cicd.pipeline.name': `setpoint ${name}`,
    'cicd.pipeline.action.name': writes ? 'SYNC' : 'RUN',
    'cicd.pipeline.run.id': randomUUID(),
  };
}

/** `codeOf` returns the code by which a run failed; null if it did not. */
function inRun<T>(
  attributes: Attributes,
  parent: Context,
  work: () => Promise<T>,
  codeOf: (run: RunNotes, value: T) => string | null,
): Promise<T> {
  const run: RunNotes = { codes: [], attributes: {} };
  const name = `${attributes['cicd.pipeline.action.name']} ${attributes['cicd.pipeline.name']}`;
  const start = () => tracer().startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
  return inSpan(start, parent.setValue(RUN, run), 'cicd.pipeline.result', work, (value) => {
    const code = codeOf(run, value);
    return { code, attributes: run.attributes };
  });
}

function inTask<T>(
  name: string,
  environment: string,
  more: Attributes,
  work: () => Promise<T>,
  ended: (value: T) => SpanEnd,
): Promise<T> {
  const attributes: Attributes = {
    'cicd.pipeline.task.name': name,
    'cicd.pipeline.task.run.id': randomUUID(),
    'deployment.environment.name': environment,
    ...more,
  };
  const parent = context.active();
  const start = () => tracer().startSpan(name, { kind: SpanKind.INTERNAL, attributes }, parent);
  return inSpan(start, parent, 'cicd.pipeline.task.run.result', work, ended);
}

/** The end of a span: by a code of an error, or null if it succeeded. */
interface SpanEnd {
  readonly code: string | null;
  readonly attributes?: Attributes;
}

async function inSpan<T>(
  start: () => Span,
  around: Context,
  resultName: 'cicd.pipeline.result' | 'cicd.pipeline.task.run.result',
  work: () => Promise<T>,
  ended: (value: T) => SpanEnd,
): Promise<T> {
  const span = callSdkSafely(start);
  if (span === undefined) return work();
  const end = ({ code, attributes = {} }: SpanEnd): void => {
    const result = classifyExitCode(code);
    span.setAttributes({ ...attributes, [resultName]: result });
    if (FAILED.includes(result)) {
      span.setAttribute('error.type' satisfies keyof Attributes, code ?? OTHER);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  };
  return context.with(trace.setSpan(around, span), async () => {
    try {
      const value = await work();
      callSdkSafely(() => end(ended(value)));
      return value;
    } catch (thrown) {
      callSdkSafely(() => end({ code: asSetpointError(thrown).code }));
      throw thrown;
    }
  });
}

/** Calls the SDK. What it throws must not change what is done to a service, and goes where the SDK's own problems go. */
function callSdkSafely<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    diag.error('setpoint: a span could not be kept.');
    return undefined;
  }
}

function tracer() {
  return trace.getTracer('setpoint', VERSION);
}

function partAttributes({ status, dialect, changes }: TracedPart): Attributes {
  return {
    'setpoint.status': status,
    'setpoint.changes': changes.length,
    ...(dialect === null ? {} : { 'setpoint.dialect': dialect }),
  };
}

const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/** Returns the attributes of a commit; none for a commit that is masked or invalid. */
function createRevisionAttributes(commit: string | null): Attributes {
  return commit !== null && COMMIT.test(commit) ? { 'vcs.ref.head.revision': commit } : {};
}

type Result = 'success' | 'failure' | 'error' | 'timeout' | 'cancellation' | 'skip';

const FAILED: readonly Result[] = ['failure', 'error', 'timeout'];

const RESULTS: Readonly<Record<string, Result>> = {
  'timed-out': 'timeout',
  interrupted: 'cancellation',
  terminated: 'cancellation',
  declined: 'cancellation',
  skipped: 'skip',
  internal: 'error',
} satisfies Partial<Record<keyof typeof ERRORS, Result>>;

function classifyExitCode(code: string | null): Result {
  return code === null ? 'success' : (RESULTS[code] ?? 'failure');
}

/** Returns the first error of a run that is more than a stop. */
function findWorstCode({ codes }: RunNotes): string | null {
  return codes.find((code) => FAILED.includes(classifyExitCode(code))) ?? codes[0] ?? null;
}

function isCode(code: string): code is keyof typeof ERRORS {
  return Object.hasOwn(ERRORS, code);
}

/** The longest wait for a receiver of spans, in milliseconds; and after a second signal to stop. */
const FLUSH = 5_000;
const FLUSH_ABANDONED = 1_000;

interface Flushing {
  readonly forceFlush?: () => Promise<void>;
  /** Returns the provider that an SDK registers. */
  readonly getDelegate?: () => Flushing;
}

async function flush(signal: AbortSignal): Promise<void> {
  const registered = trace.getTracerProvider() as Flushing;
  const provider = registered.getDelegate?.() ?? registered;
  const over = new AbortController();
  const limit = signal.aborted
    ? waitMilliseconds(FLUSH_ABANDONED, over.signal)
    : waitMilliseconds(FLUSH, AbortSignal.any([signal, over.signal]));
  const sent = Promise.resolve(callSdkSafely(() => provider.forceFlush?.()));
  await Promise.race([limit, sent.catch(() => diag.error('setpoint: spans could not be sent.'))]);
  over.abort();
}

/** Resolves after so many milliseconds, or as soon as the signal aborts. */
async function waitMilliseconds(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}
