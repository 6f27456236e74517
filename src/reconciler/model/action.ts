/** What a change does to what it is about: marks, colours, what counts as a loss and who must look first follow from it. */
export type Effect = 'add' | 'alter' | 'drop';

interface Verb {
  readonly effect: Effect;
  /** What has become of a sandbox: `will be started`. Absent for changes of what a settings file has a path to. */
  readonly done?: string;
}

/**
 * The verbs of changes, with what each does. `set`: there was none (null, absent or ""); `change`: there was another; `rotate`: a secret
 * whose value cannot be compared is sent; `remove`: an entry or item goes.
 */
const VERBS = {
  set: { effect: 'add' },
  change: { effect: 'alter' },
  clear: { effect: 'drop' },
  remove: { effect: 'drop' },
  rotate: { effect: 'alter' },
  start: { effect: 'add', done: 'started' },
  resume: { effect: 'alter', done: 'resumed' },
  pause: { effect: 'alter', done: 'paused' },
} as const satisfies Readonly<Record<string, Verb>>;

export type Action = keyof typeof VERBS;
export type SandboxAction = 'start' | 'resume' | 'pause';
export type SettingsAction = Exclude<Action, SandboxAction>;
export type ActionCounts = Readonly<Record<Action, number>>;

/** All verbs, in the order in which sentences count them. */
export const ACTIONS = Object.keys(VERBS) as readonly Action[];

export function effectOf(action: Action): Effect {
  return VERBS[action].effect;
}

/** `started`; null if a change of this kind is told by its reason. */
export function participleOf(action: Action): string | null {
  const verb: Verb = VERBS[action];
  return verb.done ?? null;
}

export function countActions(changes: Iterable<{ readonly action: Action }>): ActionCounts {
  const counts = Object.fromEntries(ACTIONS.map((action) => [action, 0])) as Record<Action, number>;
  for (const { action } of changes) counts[action] += 1;
  return counts;
}
