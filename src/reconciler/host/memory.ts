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

/** What sets V8 back to how it starts: see quick-end.ts. */
export const USUAL_MEMORY_FLAGS: readonly string[] = ['--no-expose-gc', `--${YOUNG_GROWTH}=2`];

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
