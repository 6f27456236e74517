import type { Waits, WatchState } from '../../reconciler/model/watch.ts';
import { namesListed } from '../../reconciler/model/wording.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { mostOf } from '../../reconciler/operations/parallel.ts';
import { isHealable } from './healing.ts';

/** How long an environment must stay as declared after an edit was written to it before the next ones follow, in milliseconds. */
export const SOAK = 60_000;
/** The share of the environments reached by an edit that may fail before it reaches no more. */
const MOST_FAILED = '10%';
/** How many more an edit reaches for each environment that is verified, where no rings are declared. */
const GROWTH = 10;

/** How far an edit has come in an environment: `blocked` waits for something else than the others. */
type Stage = 'blocked' | 'failed' | 'open' | 'verified' | 'waiting';

interface Reached {
  readonly state: WatchState;
  readonly stage: Stage;
}

interface RolloutTools {
  readonly clock: Pick<Clock, 'now'>;
  readonly states: () => readonly WatchState[];
  /** Has an environment read now. */
  readonly wake: (name: string) => void;
  /** See SOAK; 0 lets an edit reach all at once. */
  readonly soak: number;
}

/** Lets an edit of the files reach the environments ring by ring, or first one, then ten times as many as are verified. Drift is put back everywhere at once. */
export class Rollouts {
  readonly #tools: RolloutTools;
  /** Environments that are being written. */
  readonly #writing = new Set<string>();
  readonly #waiting = new Set<string>();

  constructor(tools: RolloutTools) {
    this.#tools = tools;
  }

  /** Returns why an edit must not be written to an environment yet; null if it may be, which counts as being written until `end`. */
  begin(state: WatchState): Waits | null {
    const { soak, clock, states } = this.#tools;
    const why =
      soak === 0 ? null : whyWait(state, states(), this.#writing, { now: clock.now(), soak });
    if (why === null) {
      this.#waiting.delete(state.name);
      this.#writing.add(state.name);
    } else this.#waiting.add(state.name);
    return why;
  }

  end(name: string): void {
    this.#writing.delete(name);
  }

  /** Takes a read of an environment. Those that may follow it are read; returns in how many milliseconds it is to be read to be verified, null if it is not. */
  after({ rollout }: WatchState): number | null {
    if (rollout === null) return null;
    const { clock, soak, wake, states } = this.#tools;
    const now = clock.now();
    if (this.#waiting.size > 0) {
      const all = states();
      const known = new Map(all.map((state) => [state.name, state]));
      const writing = new Set(this.#writing);
      for (const name of this.#waiting) {
        const waiting = known.get(name);
        if (waiting === undefined || waiting.edit === null) this.#waiting.delete(name);
        else if (whyWait(waiting, all, writing, { now, soak }) === null) {
          writing.add(name);
          wake(name);
        } else break;
      }
    }
    const left = Date.parse(rollout.at) + soak - now;
    return left > 0 && left <= soak ? left : null;
  }
}

/** Returns why an edit must not be written to an environment yet; null if it may be. `writing` are those that are being written. */
export function whyWait(
  state: WatchState,
  all: readonly WatchState[],
  writing: ReadonlySet<string>,
  { now, soak }: { readonly now: number; readonly soak: number },
): Waits | null {
  const { edit, rollout, name } = state;
  // One that was written already has its own limits.
  if (edit === null || rollout?.edit === edit || isApproved(state)) return null;
  const reached = all.flatMap((other): Reached[] =>
    other.name === name || !isOf(other, edit)
      ? []
      : [{ state: other, stage: stageOf(other, edit, writing, now, soak) }],
  );
  const failed = reached.filter(({ stage }) => stage === 'failed');
  const written = reached.filter(({ stage }) => stage !== 'waiting' && stage !== 'blocked');
  if (failed.length > mostOf(MOST_FAILED, written.length))
    return {
      words: `the edit stopped: ${failed.length} of ${written.length} failed or differ again (${namesOf(failed)})`,
      isStopped: true,
    };
  const below = reached.filter((one) => rankOf(one.state, state) < 0);
  const unread = all.filter((other) => rankOf(other, state) < 0 && isUnread(other, edit));
  if (below.length + unread.length > 0) return whyWaitForRing(below, unread);
  const isLowest = all.every(
    (other) => other.settings.mode !== 'heal' || rankOf(other, state) >= 0,
  );
  if (ringOf(state) !== null && isLowest) return null;
  const open = written.filter(({ stage }) => stage === 'open');
  // Where the write failed, another one made it as declared: that does not show that the edit works.
  const verified = written.filter(
    (one) => one.stage === 'verified' && one.state.rollout?.result === 'done',
  ).length;
  if (open.length < Math.max(1, verified * GROWTH)) return null;
  return waitsFor(`until ${namesOf(open)} ${open.length === 1 ? 'is' : 'are'} verified`);
}

/** A ring with some that are verified does not wait for those of it that cannot be written. */
function whyWaitForRing(below: readonly Reached[], unread: readonly WatchState[]): Waits | null {
  const left = below.filter(({ stage }) => stage !== 'verified');
  const rings = [...below, ...unread.map((state) => ({ state, stage: 'waiting' as const }))];
  const inOrder = rings.toSorted((one, other) => rankOf(one.state, other.state));
  for (const ring of new Set(inOrder.map((one) => ringOf(one.state)))) {
    const isOfRing = (one: Reached): boolean => ringOf(one.state) === ring;
    const isUnreadThere = unread.some((state) => ringOf(state) === ring);
    const waited = left.filter(isOfRing);
    const isVerified = below.some((one) => isOfRing(one) && one.stage === 'verified');
    const areBlocked = waited.length > 0 && waited.every(({ stage }) => stage === 'blocked');
    if (waited.length === 0 && !isUnreadThere) continue;
    if (areBlocked && isVerified && !isUnreadThere) continue;
    const why = areBlocked ? `, where ${namesOf(waited)} cannot be written` : '';
    return waitsFor(`for ring ${ring ?? ''}${why}`);
  }
  return null;
}

function waitsFor(what: string): Waits {
  return { words: `waits ${what}`, isStopped: false };
}

function namesOf(all: readonly Reached[]): string {
  return namesListed(
    all.map(({ state }) => state.name),
    3,
  );
}

/** Whether an edit is of an environment. Of one that cannot be read, what is declared may have changed with it. */
function isOf({ edit, rollout, settings, found, declaredAt }: WatchState, one: string): boolean {
  if (settings.mode !== 'heal') return false;
  if (edit === one || rollout?.edit === one) return true;
  return found === 'error' && declaredAt !== null && declaredAt >= one;
}

/** What was approved by its digest was looked at by itself. */
function isApproved({ settings }: WatchState): boolean {
  return settings.approvals !== undefined;
}

function isUnread({ lastRead, settings }: WatchState, edit: string): boolean {
  return settings.mode === 'heal' && (lastRead === null || Date.parse(lastRead) < Date.parse(edit));
}

function stageOf(
  { name, rollout, found, suspended, stopped, heldBy, lastRead }: WatchState,
  edit: string,
  writing: ReadonlySet<string>,
  now: number,
  soak: number,
): Stage {
  if (writing.has(name)) return 'open';
  if (rollout?.edit !== edit) {
    const isBlocked = suspended !== null || stopped !== null || heldBy !== null;
    return isBlocked || !isHealable(found) ? 'blocked' : 'waiting';
  }
  if (rollout.result === 'begun') return 'open';
  if (found !== 'in-sync' && found !== 'unknown') return 'failed';
  const at = Date.parse(rollout.at);
  // The clock was set back: it was written some time ago.
  if (now < at) return 'verified';
  return lastRead !== null && Date.parse(lastRead) >= at + soak ? 'verified' : 'open';
}

/** The ring of an environment, by its label; null without one. */
function ringOf({ labels }: WatchState): string | null {
  return labels['ring'] ?? null;
}

const ORDER = new Intl.Collator('en', { numeric: true });

/** Less than 0 if one is in a ring before that of another; those without a ring come last. */
function rankOf(one: WatchState, other: WatchState): number {
  const [ring, its] = [ringOf(one), ringOf(other)];
  if (ring === null || its === null) return Number(ring === null) - Number(its === null);
  return ORDER.compare(ring, its);
}
