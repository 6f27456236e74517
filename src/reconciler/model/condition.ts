/** What may be wrong with a controller itself, in the order in which it is shown. */
export const CONDITION_KINDS = [
  'journal',
  'locks',
  'suspensions',
  'files',
  'git',
  'receiver',
] as const;

export type ConditionKind = (typeof CONDITION_KINDS)[number];

/** Something that is wrong with a controller itself. `since` is ISO 8601, UTC. */
export interface Condition {
  readonly kind: ConditionKind;
  /** The name of the receiver; null for the other kinds. */
  readonly receiver: string | null;
  /** What happened, and what follows from it, in sentences. */
  readonly message: string;
  readonly since: string;
}
