import { setMaxListeners } from 'node:events';

/**
 * Makes this process end quickly although it sends requests: it would wait at its end until V8 has optimised undici's WebAssembly,
 * longer than a request takes. The quick compiler alone is enough. Called before the first request; nothing else of the process may
 * rely on V8's optimising compiler for WebAssembly.
 */
export function endQuickly(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--liftoff-only');
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
  /** What was in use after the last time. */
  left: number;
}

/**
 * Has V8 collect what is not used any more. By itself it lets a heap of 30 MiB grow to 150 MiB before it does, which is most of the
 * memory of a run over tens of thousands of environments. That takes some 10 ms, and makes V8 optimise again some of what it has
 * optimised. Does nothing if V8 does not offer it.
 */
export function freeMemory(): void {
  collector ??= newCollector();
  collector.collect();
  collector.left = collector.used();
}

/** The same if that may be much: for a run to call now and then. */
export function freeGrownMemory(): void {
  collector ??= newCollector();
  if (collector.used() - collector.left >= GROWTH) freeMemory();
}

/**
 * Has V8 leave the space for young objects as large as it is. It grows to 32 MiB by itself, of which a controller uses none: what a
 * read leaves behind is collected as well in a small one. For a process that is this run and nothing else.
 */
export function keepYoungSpace(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(`--${YOUNG_GROWTH}=1`);
}

const YOUNG_GROWTH = 'semi-space-growth-factor';

/** What sets V8 back to how it starts. It takes a compiled form only under the flags under which that was made. */
export const USUAL_FLAGS: readonly string[] = [
  '--no-liftoff-only',
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
    used: () => getHeapStatistics().used_heap_size,
    collect: typeof offered === 'function' ? (offered as () => void) : () => {},
    // The first time finds what reading the files has left behind.
    left: Number.NEGATIVE_INFINITY,
  };
}

/** Lets each request of a run listen to the run's signal. Node warns from eleven listeners on, which may be a mistake elsewhere. */
export function allowListeners(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal);
}
