import { createHash } from 'node:crypto';
import { ACTIVE_FORM, COLLECTION_FORMS } from '../../reconciler/model/collection-forms.ts';
import { formatPath, type Path } from '../../reconciler/model/path.ts';
import { ERRORS, type ErrorCode, type ErrorReport } from '../../reconciler/model/error.ts';
import type { EnvironmentOutcome } from '../../reconciler/model/outcome.ts';
import { NAMED_NULL, removesOther, type Change } from '../../reconciler/model/plan.ts';
import type {
  Heal,
  HealFailed,
  HealingStopped,
  Moment,
  PutBack,
  WatchState,
  Condition,
  Suspension,
} from '../../reconciler/model/watch.ts';
import { isList, isRecord, type Json } from '../../reconciler/model/value.ts';
import type { WatchStatus } from '../../reconciler/model/verdict.ts';
import { counted, namesListed } from '../../reconciler/model/wording.ts';
import { ageText } from '../../reconciler/render/change.ts';
import { isInAnyWindow, nextOpening } from './schedule.ts';

const HOUR = 3_600_000;

/** Why an environment is not healed now, in a few words. `again`: the next read should come soon. */
interface NotHealed {
  readonly words: string;
  readonly again: boolean;
}

/**
 * Why what the last read found must not be healed at a time, in milliseconds since 1970; null if it may be. Two reads some time apart must have
 * found it (`repeated`): during the first, somebody may have been writing.
 */
export function whyMustNotHeal(
  state: WatchState,
  repeated: boolean,
  now: number,
): NotHealed | null {
  const { mode, windows, approved } = state.settings;
  if (state.status === 'suspended') return no('suspended');
  if (mode === 'detect') return no('detect only');
  if (!isHealable(state.found)) return no('nothing is to be healed');
  if (state.stopped !== null) return no('healing stopped');
  if (!isInAnyWindow(windows, now)) return no(`window closed until ${nextOpening(windows, now)}`);
  if (approved !== undefined && approved !== approvalDigest(state))
    return no('the approved plan is another one');
  const kept = keptItem(state);
  if (kept !== null) return no(keptWords(kept));
  if (!repeated) return { words: 'one read only: the next one confirms it', again: true };
  return null;
}

/** The digest of what a state shows, as an approval names it. */
export function approvalDigest({ digest }: Pick<WatchState, 'digest'>): string {
  return `sha256:${createHash('sha256').update(digest).digest('hex')}`;
}

/** What healing would remove of what a service keeps by name, and `watch.remove` does not let it; null if there is none. */
export function keptItem({
  settings,
  plan,
  found,
}: Pick<WatchState, 'settings' | 'plan' | 'found'>): Path | null {
  if (settings.removes || settings.approved !== undefined) return null;
  if (settings.mode === 'detect' || !isHealable(found)) return null;
  return (plan?.changes ?? []).flatMap(removedItems)[0] ?? null;
}

export function keptWords(item: Path): string {
  return `it would remove ${formatPath(item)}, which watch.remove does not allow`;
}

/** What a change removes of what a service keeps by name. A pointer that is cleared removes nothing. */
function removedItems(change: Change<Json>): readonly Path[] {
  const { resource, action, path, before, after, reason } = change;
  if (resource === 'settings' && NAMED_LISTS.has(path.at(-1) ?? '')) {
    const left = new Set(listedNames(after));
    return listedNames(before).flatMap((name) => (left.has(name) ? [] : [[...path, name]]));
  }
  if (action !== 'remove') return [];
  const isItem = COLLECTION_FORMS.some(
    (form) => form.resource === resource && form !== ACTIVE_FORM,
  );
  return isItem || reason === NAMED_NULL || removesOther(change) ? [path] : [];
}

/** Lists in the settings, one change each, that hold what `marketplaces` and `disabled_skills` name. */
const NAMED_LISTS: ReadonlySet<string> = new Set(['registered_marketplaces', 'disabled_skills']);

function listedNames(list: Json): readonly string[] {
  const names = isList(list) ? list.map((one) => (isRecord(one) ? one['name'] : one)) : [];
  return names.filter((name) => typeof name === 'string');
}

function no(words: string): NotHealed {
  return { words, again: false };
}

/** Whether healing is for such a state. Includes `pending` and `conflict`: it makes the service equal to the file. */
export function isHealable(found: WatchStatus): boolean {
  return found === 'drift' || found === 'pending' || found === 'conflict';
}

/**
 * Why healing must stop before the next write: a path would be healed more often in an hour than allowed. Then something else writes the same
 * path, and the two would overwrite each other forever.
 */
export function competing(state: WatchState, now: number): Omit<HealingStopped, 'at'> | null {
  const { plan, heals, settings } = state;
  const kept = heals.filter((heal) => heal.kept !== false);
  const found = tooOften(plan, kept, settings.maxHealsPerHour, now);
  return found === null
    ? null
    : { path: formatPath(found.change.path), reason: knownOf(found, state, now) };
}

/** Whether the service has refused what is to be healed as often in an hour as a path may be healed: then it is tried again later. */
export function refusedTooOften({ plan, heals, settings }: WatchState, now: number): boolean {
  const refused = heals.filter((heal) => heal.kept === false);
  return tooOften(plan, refused, settings.maxHealsPerHour, now) !== null;
}

/** A change whose path was healed at these times, in milliseconds since 1970. */
interface Healed {
  readonly change: Change<Json>;
  readonly times: readonly number[];
}

function tooOften(
  plan: WatchState['plan'],
  heals: readonly Heal[],
  most: number,
  now: number,
): Healed | null {
  const recently = heals
    .map(({ at, paths }) => ({ time: Date.parse(at), paths }))
    .filter(({ time }) => time > now - HOUR);
  for (const change of plan?.changes ?? []) {
    const path = formatPath(change.path);
    const times = recently.filter(({ paths }) => paths.includes(path)).map(({ time }) => time);
    if (times.length >= most) return { change, times };
  }
  return null;
}

/** Heals once the last of them has ended: it is none if nothing was sent, and not kept if the service stored nothing of it. */
export function healsAfter(
  heals: readonly Heal[],
  { requests, changes }: Pick<EnvironmentOutcome, 'requests' | 'changes'>,
): readonly Heal[] {
  const before = heals.slice(0, -1);
  const last = heals.at(-1);
  if (requests.post === 0 || last === undefined) return before;
  return [...before, isSomeSent(changes) ? last : { ...last, kept: false }];
}

/** What was put right last, after another write has ended at a time; `heals` are those after it. */
export function putBackAfter(
  { putBack, found, digest, heals }: Pick<WatchState, 'putBack' | 'found' | 'digest' | 'heals'>,
  { error, requests }: Pick<EnvironmentOutcome, 'error' | 'requests'>,
  at: string,
): PutBack | null {
  if (error !== null || requests.post === 0) return putBack;
  return { at, found, digest, paths: heals.at(-1)?.paths ?? [] };
}

/** Whether the service may have stored a change. */
function isSomeSent(changes: EnvironmentOutcome['changes']): boolean {
  return changes.some(({ result }) => result !== 'not-sent');
}

/** Errors after which it is not known that healing fails: it was interrupted, or somebody else came first. */
const NO_FAILURE: ReadonlySet<string> = new Set([
  'declined',
  'contended',
  'interrupted',
  'terminated',
  'skipped',
  'lock-lost',
  'lock-failed',
  'output-failed',
] satisfies ErrorCode[]);

/** How an attempt to heal ended; without changes nothing was sent. */
type Attempt = Pick<EnvironmentOutcome, 'error'> &
  Partial<Pick<EnvironmentOutcome, 'changes' | 'requests'>>;

/** The heals that failed in a row, after another one has ended at a time. */
export function failedAfter(
  before: HealFailed | null,
  { error, changes = [], requests }: Attempt,
  at: string,
): HealFailed | null {
  if (error === null) return null;
  const { code, message } = error;
  if (NO_FAILURE.has(code)) return before;
  const isSent = requests !== undefined && requests.post > 0;
  const isRefused = isSent && !isSomeSent(changes) && REFUSALS.has(code);
  return { at: before?.at ?? at, count: (before?.count ?? 0) + 1, isRefused, code, message };
}

/** How a service answers what it does not take: as invalid, without the right to write, or with a status that is none of those. */
const REFUSALS: ReadonlySet<string> = new Set([
  'settings-refused',
  'spec-refused',
  'unauthorized',
  'bad-response',
  'not-this-service',
] satisfies ErrorCode[]);

/** Whether an error will come again until the files, the approved plan or the surroundings are changed: no read tells of it. */
export function isStanding({ code }: Pick<ErrorReport, 'code'>): boolean {
  return [3, 5, 6].includes(ERRORS[code as ErrorCode].exit);
}

/** What is known of the other writer of a path. The service does not say who wrote it. */
function knownOf({ change, times }: Healed, state: WatchState, now: number): string {
  const value = change.sensitive ? 'a value that is not shown' : JSON.stringify(change.before);
  const every = ageText((now - Math.min(...times)) / times.length, ' ');
  const last =
    state.after === null
      ? ''
      : `, the last time between ${toSecond(state.after)} and ${toSecond(state.since)}`;
  return (
    `It was healed ${counted(times.length, 'time')} within an hour, and somebody set it to ${value} again, about every ${every}${last}. ` +
    'The service does not say who: look for another pipeline, a person or a start script that writes it.'
  );
}

function toSecond(at: string): string {
  return at.replace(/\.\d+Z$/, 'Z');
}

/** Milliseconds from one time to another; by the time of day only if nothing better is known. */
function between(earlier: Moment, later: Moment): number {
  const [from, to] = [earlier.up, later.up];
  const isSameStart = from !== undefined && to !== undefined && from.boot === to.boot;
  return isSameStart && to.ms >= from.ms
    ? to.ms - from.ms
    : Date.parse(later.at) - Date.parse(earlier.at);
}

/** The heals of the hour before a time. */
export function recent(heals: readonly Heal[], now: Moment): readonly Heal[] {
  return heals.filter((heal) => between(heal, now) < HOUR);
}

/** Heals as the clock of now tells their times, whatever it was set to when they were. */
export function retold(heals: readonly Heal[], now: Moment): readonly Heal[] {
  return heals.map((heal) => ({
    ...heal,
    at: new Date(Date.parse(now.at) - between(heal, now)).toISOString(),
  }));
}

/** Heals with their times moved, after the clock was set by some milliseconds. */
export function moved(heals: readonly Heal[], by: number): readonly Heal[] {
  return heals.map((heal) => ({
    ...heal,
    at: new Date(Date.parse(heal.at) + by).toISOString(),
  }));
}

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
