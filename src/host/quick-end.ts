import { setFlagsFromString } from 'node:v8';

/**
 * A process that used undici waits at its end for V8 to optimise undici's WebAssembly, longer than a request takes; the quick
 * compiler alone will do. Imported before undici is, by the commands that send requests.
 */
setFlagsFromString('--liftoff-only');
