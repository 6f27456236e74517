import type { Path } from './path.ts';
import type { Secret } from './secret.ts';

/** A secret that was written under a path; null if it was cleared. */
export interface WrittenSecret {
  readonly path: Path;
  readonly value: Secret | null;
}
