import type { EnvironmentOutcome } from '../../reconciler/model/outcome.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { Json } from '../../reconciler/model/value.ts';
import { groupThousands } from '../../reconciler/model/wording.ts';

/** Characters of the values of a plan that a state stores, unless its source has another limit. */
export const MOST_STORED = 512 * 1024;

/** Characters of a value that is stored shortened, at the least. */
const FEWEST = 40;
/** Characters of one text of a plan, and of all that a list of it takes, at the least. */
const LONGEST_TEXT = 2_000;
const LEAST_LIST = 4_000;

/** The common members of a plan and an outcome whose size a service decides. */
interface StoredDocument extends Pick<
  EnvironmentPlan,
  'changes' | 'error' | 'refusals' | 'unknown' | 'warnings'
> {
  readonly unmanaged?: EnvironmentPlan['unmanaged'];
  readonly remaining?: EnvironmentOutcome['remaining'];
}

/**
 * A plan or an outcome with values of so many characters in all, for as long as its state is known: a service may answer as much as it likes, and nothing is
 * written of what is stored. A value that is longer than its share is stored as the beginning of its text, and so are messages. Lists that only people read
 * end with the number of entries that are left out.
 */
export function limitStoredPlan<T extends StoredDocument>(document: T, most: number): T {
  return limitValues(limitTexts(document, most), most);
}

function limitValues<T extends StoredDocument>(document: T, most: number): T {
  const { changes, remaining = [] } = document;
  const values = [
    ...changes.flatMap(({ before, after }) => [before, after]),
    ...remaining.flatMap(({ expected, actual }) => [expected, actual]),
  ];
  if (values.reduce((sum: number, value) => sum + measurePlanValue(value), 0) <= most)
    return document;
  const share = Math.max(FEWEST, Math.floor(most / values.length));
  const shorten = (value: Json): Json =>
    measurePlanValue(value) <= share ? value : begin(value, share);
  return {
    ...document,
    changes: changes.map((change) => ({
      ...change,
      before: shorten(change.before),
      after: shorten(change.after),
    })),
    ...(document.remaining === undefined
      ? {}
      : {
          remaining: remaining.map((one) => ({
            ...one,
            expected: shorten(one.expected),
            actual: shorten(one.actual),
          })),
        }),
  };
}

function limitTexts<T extends StoredDocument>(document: T, most: number): T {
  const { error, refusals, unknown, warnings, unmanaged } = document;
  const lists = [error, refusals, unknown, warnings, unmanaged];
  if (JSON.stringify(lists).length <= LONGEST_TEXT) return document;
  const room = Math.max(LEAST_LIST, most / 4);
  return {
    ...document,
    warnings: limitList(warnings.map(shortenMessage), room, (last, message) => ({
      ...last,
      message,
    })),
    refusals: limitList(refusals.map(shortenMessage), room, (last, message) => ({
      ...last,
      message,
    })),
    unknown: unknown.map((one) => ({ ...one, reason: shortenText(one.reason) })),
    ...(unmanaged === undefined
      ? {}
      : { unmanaged: limitList(unmanaged, room, (_last, message) => [message]) }),
    error: error && {
      ...error,
      message: shortenText(error.message),
      hint: shortenText(error.hint),
    },
  };
}

function shortenMessage<T extends { readonly message: string }>(one: T): T {
  return { ...one, message: shortenText(one.message) };
}

/** The first entries of a list, within so many characters, and one that counts the others. `createLast` makes it of the first that is left out. */
function limitList<T>(
  list: readonly T[],
  room: number,
  createLast: (first: T, message: string) => T,
): readonly T[] {
  let left = room;
  const end = list.findIndex((one) => {
    left -= JSON.stringify(one).length;
    return left < 0;
  });
  const first = list[end];
  if (first === undefined || end === list.length - 1) return list;
  return [...list.slice(0, end), createLast(first, `… and ${list.length - end} more.`)];
}

/** The text of a message that is stored. */
export function shortenText(text: string): string {
  return text.length <= LONGEST_TEXT ? text : begin(text, LONGEST_TEXT);
}

function measurePlanValue(value: Json): number {
  return shortenPlanValue(value).length;
}

function shortenPlanValue(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The beginning of a text. A copy: a part of a text has all of it stay in memory. */
function begin(value: Json, length: number): string {
  const text = shortenPlanValue(value);
  const start = Buffer.from(text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')).toString();
  return `${start}… (${groupThousands(text.length)} characters)`;
}
