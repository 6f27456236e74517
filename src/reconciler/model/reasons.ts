/**
 * Why a plan has a change. `reason` is what a plan says of it, and `found` what was found, without what an apply would do about it: a drift says that.
 * Without `found` both say the same.
 */
export interface Reason {
  readonly reason: string;
  readonly found?: string;
}

function willBe(found: string, done: string, mark: ',' | ':' | ';' = ','): Reason {
  return { reason: `${found}${mark} will be ${done}`, found };
}

/** All reasons that say what an apply would do: no other sentence does. */
export const REASONS = {
  unset: willBe('not set', 'set'),
  cleared: willBe('set', 'cleared'),
  reset: willBe('set', 'its default again'),
  rotated: willBe('set', 'rotated'),
  entryRotated: { reason: 'will be rotated', found: 'set' },
  changedSince: willBe('set, changed since last written', 'rotated', ':'),
  renewed: willBe('set, its description cannot be changed without it', 'rotated', ':'),
  resent: willBe('set, sent with the other changes', 'rotated', ':'),
  leftOver: { reason: 'an earlier rotation was interrupted' },
  setAgain: willBe('an earlier rotation was interrupted', 'set', ';'),
  rotatedAgain: willBe('an earlier rotation was interrupted', 'rotated', ';'),
  outdated: willBe('the settings have another copy of it', 'activated again'),
  keyChanged: willBe('its key changed since it was activated', 'activated again'),
  storedByPlan: willBe('stored by this plan', 'activated again'),
  changedByPlan: willBe('changed by this plan', 'activated again'),
  connectionChanges: willBe('its connection changes', 'activated again'),
  withoutAddress: willBe('without base_url', 'activated again after the writes'),
} as const satisfies Readonly<Record<string, Reason>>;

/** The same, by way of another name under which the new value is stored first. */
export function addRenameWay({ reason, found = reason }: Reason, name: string): Reason {
  return { reason: `${reason} by way of ${name}`, found };
}

/** A reason as the members of a change; a text says the same in a plan and in a drift. */
export function because(reason: string | Reason): Reason {
  return typeof reason === 'string' ? { reason } : reason;
}
