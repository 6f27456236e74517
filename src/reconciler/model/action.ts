/** The effect of a change on its subject. It decides marks, colours, what counts as a loss and the order of attention. */
export type Effect = 'add' | 'alter' | 'drop';

interface Verb {
  readonly effect: Effect;
  /** Only for a part that the service names by an id; one with a path in the settings file is reported by that path. */
  readonly wording?: {
    /** The result in words: `will be started`. */
    readonly done: string;
    /** The name of one, and of several. */
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
  start: { effect: 'add', wording: { done: 'started', nouns: SANDBOX } },
  resume: { effect: 'alter', wording: { done: 'resumed', nouns: SANDBOX } },
  pause: { effect: 'alter', wording: { done: 'paused', nouns: SANDBOX } },
} as const satisfies Readonly<Record<string, Verb>>;

/** The verb of a change. */
export type Action = keyof typeof VERBS;
export type SandboxAction = 'start' | 'resume' | 'pause';
export type SettingsAction = Exclude<Action, SandboxAction | 'rename'>;
export type ActionCounts = Readonly<Record<Action, number>>;

/** All verbs, in the order in which sentences count them. */
export const ACTIONS = Object.keys(VERBS) as readonly Action[];

export function findActionEffect(action: Action): Effect {
  return VERBS[action].effect;
}

/** Reports whether it gives an item another name, and changes no value. */
export function isRename({ action }: { readonly action: Action }): boolean {
  return action === 'rename';
}

/** `started`; null if a change of this kind is reported by its reason. */
export function findActionParticiple(action: Action): string | null {
  const verb: Verb = VERBS[action];
  return verb.wording?.done ?? null;
}

/** Returns the noun for the subject of a change of this kind, one or several; null if its path identifies it. */
export function formatActionNoun(action: Action, count = 1): string | null {
  const verb: Verb = VERBS[action];
  return verb.wording?.nouns[count === 1 ? 0 : 1] ?? null;
}

/** Returns the member of an outcome with the id of a started thing; empty without an id. */
export function createStartMember(id: string | undefined): StartedMember {
  return id === undefined ? {} : { sandbox: id };
}

/** The id of what a change started; null if it started nothing. */
export function findStartId({ sandbox }: StartedMember): string | null {
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
