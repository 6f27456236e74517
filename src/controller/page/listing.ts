import type { WatchState } from '../../reconciler/model/watch.ts';
import { isFlapping } from '../watch/flapping.ts';
import {
  isStateFilter,
  needsAttention,
  verdictGravity,
  type StateFilter,
} from '../../reconciler/model/verdict.ts';
import { causeKey, groupByCause, type CauseGroup } from '../../reconciler/render/cause-groups.ts';
import { partKey } from './page-parts.ts';

/** Which environments a list shows. */
export interface ListQuery {
  /** Words that are all in the name, the origin or a label (`ring=0`). */
  readonly text: string;
  /** `usual`: no choice was made. Of many environments those that need attention are shown then, else all. */
  readonly state: StateFilter | 'usual';
  /** The id of the cause that they failed for; empty for any. */
  readonly cause?: string;
  /** From 1. */
  readonly page: number;
}

export const ON_A_PAGE = 100;
const LONGEST_TEXT = 200;

/** The number of environments above which only those that need attention are shown first, and the others on request. */
const FEW = 20;

export interface ListPage {
  readonly rows: readonly (WatchState | CauseGroup<WatchState>)[];
  /** The number of environments left out because they need no attention. */
  readonly hidden: number;
  /** The number of environments on all pages. */
  readonly total: number;
  readonly page: number;
  readonly pages: number;
}

/** The query of an address; what is not valid counts as not given. */
export function listQuery(parameters: URLSearchParams): ListQuery {
  const state = parameters.get('state') ?? '';
  const page = Number(parameters.get('page'));
  return {
    text: (parameters.get('q') ?? '').slice(0, LONGEST_TEXT),
    state: isStateFilter(state) ? state : 'usual',
    cause: (parameters.get('cause') ?? '').slice(0, LONGEST_TEXT),
    page: Number.isInteger(page) && page > 0 ? page : 1,
  };
}

/** The address of a list, with what differs from the usual one. */
export function listAddress({ text, state, cause, page }: Partial<ListQuery>): string {
  const parameters = new URLSearchParams();
  if (text) parameters.set('q', text);
  if (state !== undefined && state !== 'usual') parameters.set('state', state);
  if (cause) parameters.set('cause', cause);
  if (page !== undefined && page > 1) parameters.set('page', String(page));
  const query = parameters.toString();
  return query === '' ? '/' : `/?${query}`;
}

/** Selects the environments for a query, on all pages. `isShort` means that the others were not requested. */
export function selectListedStates(
  sorted: readonly WatchState[],
  query: ListQuery,
  now: number,
): { readonly found: readonly WatchState[]; readonly isShort: boolean } {
  const isShort =
    query.state === 'usual' && query.text === '' && !query.cause && sorted.length > FEW;
  const state = isShort ? 'attention' : query.state;
  return { found: matching(sorted, { ...query, state }, now), isShort };
}

/** One page of what a query asks for. `sorted` is in the order of `worstFirst`. */
export function pageOfList(sorted: readonly WatchState[], query: ListQuery, now: number): ListPage {
  const { found, isShort } = selectListedStates(sorted, query, now);
  const isGrouped = query.text === '' && !query.cause;
  const rows = isGrouped ? groupByCause(found, ({ plan }) => plan?.error) : found;
  const pages = Math.max(1, Math.ceil(rows.length / ON_A_PAGE));
  const page = Math.min(query.page, pages);
  return {
    rows: rows.slice((page - 1) * ON_A_PAGE, page * ON_A_PAGE),
    hidden: isShort ? sorted.length - found.length : 0,
    total: found.length,
    page,
    pages,
  };
}

export function matching(
  states: readonly WatchState[],
  { text, state, cause = '' }: Pick<ListQuery, 'text' | 'state' | 'cause'>,
  now: number,
): readonly WatchState[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const filter = state === 'usual' ? 'any' : state;
  if (words.length === 0 && filter === 'any' && cause === '') return states;
  const hasCause = causeMatcher(cause);
  return states.filter(
    (one) =>
      isOfFilter(one, filter, isFlapping(one, now)) &&
      hasCause(one) &&
      words.every((word) => hasWord(one, word)),
  );
}

/** The id of a cause, as an address names it. */
export function causeId(key: string): string {
  return partKey('cause', key);
}

/** Returns a matcher for environments that failed for the cause of an id; each cause is digested once. */
function causeMatcher(id: string): (state: WatchState) => boolean {
  if (id === '') return () => true;
  const known = new Map<string, boolean>();
  return ({ status, plan }) => {
    const key = status === 'error' ? causeKey(plan?.error) : '';
    const isSame = known.get(key) ?? (key !== '' && causeId(key) === id);
    known.set(key, isSame);
    return isSame;
  };
}

function hasWord({ name, origin, labels }: WatchState, word: string): boolean {
  return (
    name.toLowerCase().includes(word) ||
    (origin?.toLowerCase().includes(word) ?? false) ||
    Object.entries(labels).some(([key, value]) => `${key}=${value}`.toLowerCase().includes(word))
  );
}

/** The members of an environment that filters read. */
type FilterInput = Pick<WatchState, 'status' | 'heldBy'> & { readonly stopped: object | null };

export function isOfFilter(state: FilterInput, filter: StateFilter, flaps: boolean): boolean {
  switch (filter) {
    case 'any':
      return true;
    case 'attention':
      return isAttentionDue(state, flaps);
    case 'flapping':
      return flaps;
    case 'healing-stopped':
      return state.stopped !== null;
    case 'held-elsewhere':
      return state.heldBy !== null;
    default:
      return state.status === filter;
  }
}

/** Whether somebody should look at it: it is not as declared, nobody has suspended it, healing has stopped, or it is flapping. */
export function isAttentionDue(
  { status, stopped }: Pick<FilterInput, 'status' | 'stopped'>,
  flaps: boolean,
): boolean {
  return needsAttention(status) || stopped !== null || (flaps && status !== 'suspended');
}

/** By state, then those whose healing has stopped, then, of those that need attention, those that have lasted longest, then by name. */
export function worstFirst(states: readonly WatchState[]): WatchState[] {
  return states.toSorted(
    (one, other) =>
      verdictGravity(other.status) - verdictGravity(one.status) ||
      Number(other.stopped !== null) - Number(one.stopped !== null) ||
      (needsAttention(one.status) ? order(one.since, other.since) : 0) ||
      order(one.name, other.name),
  );
}

function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

export function countStateChanges({ plan }: WatchState): number {
  return plan?.changes.length ?? 0;
}
