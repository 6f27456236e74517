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
