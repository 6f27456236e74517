import type { Path } from './path.ts';

/** The kinds of trials: a model with its key, a key that models share, an mcp server, an agent profile. */
export type ProofKind = 'model' | 'key' | 'server' | 'agent';

/**
 * The result of a trial. `works`: the service tried it and found no fault; `fails`: it found one; `not-checked`: nothing is known, and
 * `found` has the reason.
 */
export interface TrialResult {
  readonly status: 'works' | 'fails' | 'not-checked';
  /** A sentence without its full stop, in which nothing is quoted of what a provider or a server answered. */
  readonly found: string;
}

export interface Proof extends TrialResult {
  readonly kind: ProofKind;
  readonly path: Path;
}

/** The side effects of a trial, beyond a request: it asks a model, reaches a server or starts a program. */
export type Cost = 'model' | 'reach' | 'program';

/** The number of trials of each cost. */
export type Costs = Readonly<Record<Cost, number>>;

export function works(found: string): TrialResult {
  return { status: 'works', found };
}

export function fails(found: string): TrialResult {
  return { status: 'fails', found };
}

export function notChecked(found: string): TrialResult {
  return { status: 'not-checked', found };
}
