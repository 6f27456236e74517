import { USUAL_MEMORY_FLAGS } from './memory.ts';

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

/** What sets V8 back to how it starts. It takes a compiled form only under the flags under which that was made. */
export const USUAL_FLAGS: readonly string[] = [
  '--no-liftoff-only',
  '--wasm-tier-up',
  '--wasm-dynamic-tiering',
  `--${PIECE}=920`,
  ...USUAL_MEMORY_FLAGS,
];
