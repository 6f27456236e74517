import { USUAL_MEMORY_FLAGS } from './memory.ts';

interface Compiler {
  readonly compile: (bytes: Uint8Array) => Promise<unknown>;
}

/**
 * Makes this process end quickly although it sends requests: it would wait at its end until V8 has optimised undici's WebAssembly,
 * longer than a request takes. The quick compiler alone is enough, and it begins now, in the background: undici gets what it has
 * made of the same bytes. Called before the first request; nothing else of the process may rely on V8's optimising compiler for
 * WebAssembly.
 */
export async function endQuickly(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--liftoff-only');
  setFlagsFromString('--no-wasm-lazy-compilation');
  // @ts-expect-error: this file of undici has no types.
  const parser: unknown = await import('undici/lib/llhttp/llhttp_simd-wasm.js');
  const { default: bytes } = parser as { readonly default: Uint8Array };
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: Compiler };
  // If this processor cannot run it, undici finds that out itself, and takes another.
  WebAssembly.compile(bytes).catch(() => {});
  // Compiling begins in the event loop, once the bytes are read. Without this it would begin when undici already waits for it.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
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
  '--wasm-lazy-compilation',
  `--${PIECE}=920`,
  ...USUAL_MEMORY_FLAGS,
];
