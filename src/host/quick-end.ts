/**
 * Makes this process end quickly although it sends requests: it would wait at its end until V8 has optimised undici's WebAssembly,
 * longer than a request takes. The quick compiler alone is enough. Called before the first request; nothing else of the process
 * may rely on V8's optimising compiler for WebAssembly.
 */
export async function endQuickly(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--liftoff-only');
}
