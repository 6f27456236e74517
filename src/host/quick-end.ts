import { setFlagsFromString } from 'node:v8';

/**
 * A process that used undici waits at its end until V8 has optimised undici's WebAssembly, longer than a request takes; the
 * quick compiler alone is enough. Commands that send requests import this before undici.
 */
setFlagsFromString('--liftoff-only');
