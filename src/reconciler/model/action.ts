/** What a change does to what it is about: marks, colours, what counts as a loss and who must look first follow from it. */
export type Effect = 'add' | 'alter' | 'drop';

interface Verb {
  readonly effect: Effect;
  /** Only of what the service names by an id; what has a path in the settings file is told by that. */
  readonly told?: {
    /** What has become of it: `will be started`. */
    readonly done: string;
    /** What one is called, and several. */
    readonly nouns: readonly [string, string];
  };
}

const SANDBOX = ['sandbox', 'sandboxes'] as const;

/**
 * The verbs of changes, with what each does. `set`: there was none (null, absent or ""); `change`: there was another; `rotate`: a secret
 * whose value cannot be compared is sent; `rename`: an item has another name from then on; `remove`: an entry or item goes.
 */
const VERBS = {
  set: { effect: 'add' },
  change: { effect: 'alter' },
  clear: { effect: 'drop' },
  remove: { effect: 'drop' },
  rotate: { effect: 'alter' },
  rename: { effect: 'alter' },
  start: { effect: 'add', told: { done: 'started', nouns: SANDBOX } },
  resume: { effect: 'alter', told: { done: 'resumed', nouns: SANDBOX } },
  pause: { effect: 'alter', told: { done: 'paused', nouns: SANDBOX } },
} as const satisfies Readonly<Record<string, Verb>>;

export type Action = keyof typeof VERBS;
export type SandboxAction = 'start' | 'resume' | 'pause';
export type SettingsAction = Exclude<Action, SandboxAction | 'rename'>;
export type ActionCounts = Readonly<Record<Action, number>>;

/** All verbs, in the order in which sentences count them. */
export const ACTIONS = Object.keys(VERBS) as readonly Action[];

export function effectOf(action: Action): Effect {
  return VERBS[action].effect;
}

/** Whether it gives an item another name, and is none of its values. */
export function isRename({ action }: { readonly action: Action }): boolean {
  return action === 'rename';
}

/** `started`; null if a change of this kind is told by its reason. */
export function participleOf(action: Action): string | null {
  const verb: Verb = VERBS[action];
  return verb.told?.done ?? null;
}

/** What a change of this kind is about, one or several of it; null if it is told by its path. */
export function nounOf(action: Action, count = 1): string | null {
  const verb: Verb = VERBS[action];
  return verb.told?.nouns[count === 1 ? 0 : 1] ?? null;
}

/** What an outcome has of the id that the service gave to what a change started; nothing if there is none. */
export function startedAs(id: string | undefined): StartedMember {
  return id === undefined ? {} : { sandbox: id };
}

/** The id of what a change started; null if it started nothing. */
export function startedId({ sandbox }: StartedMember): string | null {
  return sandbox ?? null;
}

export interface StartedMember {
  /** The id of a sandbox that was started. */
  readonly sandbox?: string;
}

export function countActions(changes: Iterable<{ readonly action: Action }>): ActionCounts {
  const counts = Object.fromEntries(ACTIONS.map((action) => [action, 0])) as Record<Action, number>;
  for (const { action } of changes) counts[action] += 1;
  return counts;
}
