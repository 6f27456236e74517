import { setMaxListeners } from 'node:events';
import type { Variables, Clock, Tracer } from '../model/ports.ts';
import type { Run } from '../model/plan.ts';

/**
 * Makes this process end quickly although it sends requests: it would wait at its end until V8 has optimised undici's WebAssembly,
 * longer than a request takes. The quick compiler alone is enough. And it checks a function when that first runs: all at once would be
 * work for other threads, which a busy machine waits for. Called before the first request; nothing else of the process may rely on V8's
 * optimising compiler for WebAssembly. V8 of Node 26 no longer takes the two flags in the middle from the first, and then optimises
 * undici's parser at the second answer, for 30 ms.
 */
export function endQuickly(): void {
  process
    .getBuiltinModule('node:v8')
    .setFlagsFromString(
      '--liftoff-only --no-wasm-tier-up --no-wasm-dynamic-tiering --wasm-lazy-validation',
    );
}

/**
 * Has V8 optimise smaller pieces of this process's code. Its compiler works on another processor, for longer than a run over thousands of
 * environments sends requests: with less to do at a time it is done with what runs often much earlier. For a process that is
 * this run and nothing else.
 */
export function optimizeInSmallPieces(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(`--${PIECE}=400`);
}

const PIECE = 'max-inlined-bytecode-size-cumulative';

/** Bytes by which what is in use may grow before it is looked through. */
const GROWTH = 16 * 1024 * 1024;

let collector: Collector | null = null;

interface Collector {
  readonly used: () => number;
  readonly collect: () => void;
  /** The memory in use after the last time. */
  left: number;
}

/**
 * Makes V8 collect unused memory. By default it lets a heap of 30 MiB grow to 150 MiB first, which is most of the memory of a run over tens
 * of thousands of environments. That takes some 10 ms, and makes V8 optimise some code again. Does nothing if V8 does not offer it.
 */
export function freeMemory(): void {
  collector ??= newCollector();
  collector.collect();
  collector.left = collector.used();
}

/** Frees memory if there may be much: for a run to call now and then. */
export function freeGrownMemory(): void {
  collector ??= newCollector();
  if (collector.used() - collector.left >= GROWTH) freeMemory();
}

/**
 * Prevents V8 from enlarging the space for young objects. It grows to 32 MiB by default, which a controller does not need: a small one
 * collects the remains of a read equally well. Only for a process that runs nothing else.
 */
export function keepYoungSpace(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(`--${YOUNG_GROWTH}=1`);
}

/**
 * Gives Node more than four threads for work that the system cannot do in the background: look up names, read and write files. A name
 * server that does not answer holds a thread for each name, longer than a read waits: with four of them no other service would be read.
 * Takes effect only before the first such call of this process, and not if the variable is set.
 */
export function growThreadPool(env: NodeJS.ProcessEnv): void {
  env['UV_THREADPOOL_SIZE'] ??= '32';
}

const YOUNG_GROWTH = 'semi-space-growth-factor';

/** The flags that set V8 back to its initial state. It accepts a compiled form only under the flags under which that was made. */
export const USUAL_FLAGS: readonly string[] = [
  '--no-liftoff-only',
  '--no-wasm-lazy-validation',
  '--wasm-tier-up',
  '--wasm-dynamic-tiering',
  `--${PIECE}=920`,
  '--no-expose-gc',
  `--${YOUNG_GROWTH}=2`,
];

function newCollector(): Collector {
  // Loaded here: most runs never come to this.
  const { getHeapStatistics, setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--expose-gc');
  const offered: unknown = process
    .getBuiltinModule('node:vm')
    .runInNewContext('typeof gc === "function" ? gc : null');
  return {
    used: () => {
      const { used_heap_size: used, external_memory: buffers } = getHeapStatistics();
      return used + buffers;
    },
    collect: typeof offered === 'function' ? (offered as () => void) : () => {},
    // The first time finds what reading the files has left behind.
    left: Number.NEGATIVE_INFINITY,
  };
}

/** Lets each request of a run listen to the run's signal. Node warns from eleven listeners on, which may be a mistake elsewhere. */
export function allowListeners(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal);
}

/** The version of the Node that runs this. */
export const THIS_NODE = process.versions.node;

/** Returns the user who started this run, its commit and its address, from the variables of the pipeline. */
export function runInfo(env: Variables): Run {
  const github = env['GITHUB_ACTIONS'] === 'true';
  const url = github
    ? joinUrl(
        env['GITHUB_SERVER_URL'],
        env['GITHUB_REPOSITORY'],
        'actions/runs',
        env['GITHUB_RUN_ID'],
      )
    : env['CI_JOB_URL'];
  return {
    actor: env['GITHUB_ACTOR'] ?? env['GITLAB_USER_LOGIN'] ?? null,
    commit: env['GITHUB_SHA'] ?? env['CI_COMMIT_SHA'] ?? null,
    url: url ?? null,
  };
}

function joinUrl(...parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join('/');
}

/** This machine's clock. A sleep whose signal aborts ends early, without an error. */
export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const finish = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, milliseconds);
      signal?.addEventListener('abort', finish);
    }),
};

/** The place where @opentelemetry/api stores the SDK's registrations: one for all copies of the API of the same major version. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Reports whether an SDK of OpenTelemetry in this process takes spans. */
export function isTraced(): boolean {
  const registered = (globalThis as { readonly [REGISTERED]?: { readonly trace?: unknown } })[
    REGISTERED
  ];
  return registered?.trace !== undefined;
}

/** Reports finished work to the SDK of this process. Without one nothing is loaded or reported. */
export async function findTracer(): Promise<Tracer> {
  if (!isTraced()) return UNTRACED;
  const { SPANS } = await import('./spans.ts');
  return SPANS;
}

export const UNTRACED: Tracer = {
  command: (_name, _env, work) => work(),
  turn: (_state, _commit, work) => work(),
  environment: (_task, _name, work) => work(),
  read: (_what, _name, work) => work(),
  write: (_what, _name, work) => work(),
  failed: () => {},
  revision: () => {},
  flush: () => Promise.resolve(),
};

/** The share of time above which the event loop counts as the cause of waiting. */
const BUSY = 0.9;
/** The time for measuring that, in milliseconds. */
const MEASURED = 100;

/**
 * Returns a function that reports whether this process is busy with itself, or has too little of its processor, so that answers wait for
 * it.
 */
export function measureLoop(): () => boolean {
  let last = performance.eventLoopUtilization();
  let at = performance.now();
  let isBusy = false;
  return () => {
    const now = performance.now();
    if (now - at < MEASURED) return isBusy;
    const current = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(current, last).utilization > BUSY;
    [last, at] = [current, now];
    return isBusy;
  };
}
