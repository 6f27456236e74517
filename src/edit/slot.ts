import type { Change } from '../model/plan.ts';
import type { LeftAlone, PulledAction } from '../model/pulled.ts';
import type { Json } from '../model/value.ts';
import type { Stub } from './stub.ts';

/** A value to be put into one block of a file: which one is decided when all targets are known. */
export interface Slot {
  /** From the top of a block: `settings`, the field, and, for an mcp list, its name. */
  readonly path: readonly string[];
  readonly value: Json;
  readonly stubs: readonly Stub[];
}

/** What a target's file takes in from its service, and what it does not. */
export interface Pulled {
  readonly slots: readonly Slot[];
  /** What a change of the plan, which would turn the service into what the file says, is the other way round. */
  readonly made: readonly (readonly [PulledAction, Change])[];
  readonly left: readonly LeftAlone[];
}

export const NOTHING_PULLED: Pulled = { slots: [], made: [], left: [] };
