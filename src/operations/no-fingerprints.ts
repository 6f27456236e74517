import type { Fingerprints } from '../model/ports.ts';

/** Nothing is known of what was last written. */
export const NO_FINGERPRINTS: Fingerprints = { compare: () => 'none' };
