import { formatPath } from '../../reconciler/model/path.ts';
import type { Condition, Suspension, WatchState } from '../../reconciler/model/watch.ts';
import { namesListed } from '../../reconciler/model/wording.ts';
import { isHealable, whyMustNotHeal } from './healing.ts';

export { isHealable } from './healing.ts';

/** Paths that are named; the others are counted. */
const MOST_PATHS = 3;
const LONGEST_PATH = 160;
/** A reason that somebody gives is whole; a message may be foreign. */
const LONGEST = 500;

/** What differs, in short: the first paths, or why the last read failed. Empty if nothing does. */
export function whatDiffers({ plan, found }: Pick<WatchState, 'plan' | 'found'>): string {
  if (plan === null || found === 'in-sync') return '';
  if (plan.error !== null) return shortened(withoutOrigin(plan.error.message, plan.origin));
  const paths = (plan.changes.length > 0 ? plan.changes : plan.unknown).map(({ path }) => path);
  return pathsInShort(paths.map((path) => formatPath(path)));
}

/** The first of some names: `a, b, c and 2 more`. */
export function pathsInShort(names: readonly string[]): string {
  return namesListed(
    names.map((name) => shortened(name, LONGEST_PATH)),
    MOST_PATHS,
  );
}

/** Without the address of its service, which is that of the environment: `GET /api/settings failed: …`. */
function withoutOrigin(message: string, origin: string | null): string {
  return origin === null ? message : message.replaceAll(`${origin.replace(/\/$/, '')}/`, '/');
}

function byWhom({ by }: Suspension): string {
  return by === undefined ? '' : ` by ${by}`;
}

/** Why an environment is suspended and by whom, for where its state is said already. */
export function suspensionInShort(suspension: Suspension): string {
  const who = byWhom(suspension);
  return `${shortened(suspension.reason)}${who === '' ? '' : ` (${who.trim()})`}`;
}

function shortened(text: string, longest = LONGEST): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

/** What of a controller keeps it from healing, whatever the environment is. */
const HINDERS: Readonly<Partial<Record<Condition['kind'], string>>> = {
  journal: 'the journal cannot be used',
  locks: 'the locks cannot be used',
  suspensions: 'it cannot be read who is suspended',
};

/**
 * Why what differs is not healed, in a few words; null if nothing is to be healed, or it is about to be. `now` is in milliseconds since 1970; `problems` are
 * those of the controller.
 */
export function whyNotHealed(
  state: WatchState,
  problems: readonly Condition[],
  now: number,
): string | null {
  const { suspended, found, plan, heldBy, stopped, healFailed, settings } = state;
  if (found === 'in-sync' || found === 'not-read' || found === 'error') return null;
  if (suspended !== null) return `suspended${byWhom(suspended)}: ${shortened(suspended.reason)}`;
  const [refusal] = plan?.refusals ?? [];
  if (refusal !== undefined) return `refused by ${refusal.rule}`;
  if (!isHealable(found)) return null;
  if (settings.mode === 'detect') return 'detect only';
  if (stopped !== null)
    return `healing stopped: something else writes ${shortened(stopped.path, LONGEST_PATH)}`;
  if (heldBy !== null) return `held by ${shortened(heldBy)}`;
  for (const { kind } of problems) if (HINDERS[kind] !== undefined) return HINDERS[kind];
  const isSeenOnce = state.lastRead === state.since;
  const not = whyMustNotHeal(state, !isSeenOnce, now);
  if (healFailed !== null && (not === null || !not.again))
    return `${healFailed.isRefused ? 'the service refuses the write' : 'healing fails'}: ${shortened(healFailed.message)}`;
  return not === null ? null : not.words;
}
