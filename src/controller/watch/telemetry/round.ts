import type { WatchState } from '../../../reconciler/model/watch.ts';
import {
  needsAttention,
  WATCH_STATUSES,
  verdictGravity,
} from '../../../reconciler/model/verdict.ts';
import { counted, grouped, namesListed } from '../../../reconciler/model/wording.ts';
import { ageText } from '../../../reconciler/render/change.ts';
import { whatDiffers, whyNotHealed } from '../reasons.ts';
import type { Watching } from '../watching.ts';
import type { LogEntry } from './log.ts';

/** What a controller watches, before it has read anything. */
export function watchesEntry(
  states: readonly WatchState[],
  { files, data }: { readonly files: readonly string[]; readonly data: string },
): LogEntry {
  const healed = states.filter(({ settings }) => settings.mode === 'heal').length;
  const [count, detected] = [states.length, states.length - healed];
  const modes =
    healed === 0
      ? 'detect only'
      : detected === 0
        ? `${count === 1 ? 'it is' : 'all are'} healed`
        : `${grouped(healed)} healed, ${grouped(detected)} detect only`;
  const intervals = states.flatMap(({ settings: { interval } }) => interval ?? []);
  const [least, most] = [Math.min(...intervals), Math.max(...intervals)];
  const every =
    least === most ? ageText(least, ' ') : `${ageText(least, ' ')} to ${ageText(most, ' ')}`;
  const of = files.length === 0 ? '' : ` of ${namesListed(files)}`;
  const what = count === 0 ? 'nothing yet' : `${counted(count, 'environment')}${of}`;
  const how = count === 0 ? '' : ` (${modes}), each every ${every}`;
  return {
    level: 'info',
    message: `watching ${what}${how}; journal in ${data}`,
    details: { environments: count, heal: healed, files },
  };
}

/** Environments that are listed after the first round; the others are counted. */
const MOST_LISTED = 20;

/**
 * Calls `tell` once, when each environment that is watched at the first read has been read: what was found, and each that is not as declared,
 * the worst first. What it returns ends the wait. After a read no more is done than for one environment, whatever their number.
 */
export function afterFirstRound(
  watching: Pick<Watching, 'states' | 'state' | 'subscribe' | 'conditions'>,
  now: () => number,
  tell: (entry: LogEntry, environment: string | null) => void,
): () => void {
  let unread: Set<string> | null = null;
  const end = watching.subscribe(({ name }, event) => {
    if (event.kind !== 'read') return;
    unread ??= new Set(watching.states().map((state) => state.name));
    unread.delete(name);
    // Those that the files no longer have are waited for no more.
    for (const one of unread) {
      if (watching.state(one) !== undefined) return;
      unread.delete(one);
    }
    end();
    const states = watching.states();
    tell(foundEntry(states), null);
    const others = states
      .filter(({ status }) => needsAttention(status))
      .toSorted((one, other) => verdictGravity(other.status) - verdictGravity(one.status));
    for (const state of others.slice(0, MOST_LISTED)) {
      const why = whyNotHealed(state, watching.conditions.list(), now());
      tell(notInSyncEntry(state, why), state.name);
    }
    const more = others.length - MOST_LISTED;
    if (more > 0)
      tell({ ...foundEntry(states), message: `and ${grouped(more)} more: setpoint status` }, null);
  });
  return end;
}

function foundEntry(states: readonly WatchState[]): LogEntry {
  const counts = WATCH_STATUSES.toReversed().flatMap((status) => {
    const count = states.filter((state) => state.status === status).length;
    return count === 0 ? [] : [[status, count] as const];
  });
  const parts = counts.map(([status, count]) => `${grouped(count)} ${status}`);
  return {
    level: 'info',
    message: `read ${counted(states.length, 'environment')}: ${parts.join(', ')}`,
    details: { statuses: Object.fromEntries(counts) },
  };
}

function notInSyncEntry(state: WatchState, why: string | null): LogEntry {
  const { status, since } = state;
  const what = whatDiffers(state);
  const known = `${since.slice(0, 16).replace('T', ' ')} UTC`;
  const parts = [`${status} since ${known}`, ...(what === '' ? [] : [what])];
  return {
    level: status === 'pending' ? 'info' : 'warn',
    message: `${parts.join(': ')}${why === null ? '' : ` (${why})`}`,
    details: { status, since, what, not_healed: why },
  };
}
