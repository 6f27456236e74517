import type { ReadMark, WatchState } from '../../reconciler/model/watch.ts';
import { formatCount, groupThousands } from '../../reconciler/model/wording.ts';
import type { Label } from '../../reconciler/render/change.ts';
import { LABELS } from '../../reconciler/render/section.ts';
import type { WatchStatus } from '../../reconciler/model/verdict.ts';
import { markup, markupSource, type Markup } from '../../reconciler/render/html/page.ts';
import type { Paint } from '../../reconciler/render/text.ts';
import { isFlapping } from '../watch/flapping.ts';
import { clockText } from './times.ts';

/** Labels in addition to the state. */
export function extraLabels(state: WatchState, now: number): Label[] {
  const { status, found, stopped, heldBy } = state;
  const unknown = found === 'unknown' ? 0 : countUnknownValues(state);
  return [
    ...(status === 'suspended' && found !== 'in-sync' && found !== 'suspended'
      ? [{ ...LABELS[found], words: `found: ${LABELS[found].words}` }]
      : []),
    ...(unknown === 0
      ? []
      : [{ mark: '?', words: `${groupThousands(unknown)} not compared`, color: 'dim' } as const]),
    ...(stopped === null ? [] : [HEALING_STOPPED]),
    ...(isFlapping(state, now) ? [FLAPPING] : []),
    ...(heldBy === null ? [] : [HELD_ELSEWHERE]),
  ];
}

/** Returns the number of values that the last read could not compare. */
export function countUnknownValues({ plan }: Pick<WatchState, 'plan'>): number {
  return plan?.unknown.length ?? 0;
}

const HEALING_STOPPED: Label = { mark: '■', words: 'healing stopped', color: 'red' };
export const FLAPPING: Label = { mark: '~', words: 'flapping', color: 'yellow' };
const HELD_ELSEWHERE: Label = { mark: '⇄', words: 'held elsewhere', color: 'dim' };

const MOST = 100;
const STEP = 3;
const HEIGHT = 24;

/** The last reads, the latest at the right: a bar for each, the higher the worse. Its label has the same in words. */
export function stripHtml(reads: Iterable<ReadMark>): Markup {
  const marks = [...reads].slice(-MOST);
  if (marks.length === 0) return markup`<span class="soft">no reads yet</span>`;
  return svgHtml(
    marks,
    'img',
    mergeStatusMarks(marks).map((run) => barHtml(marks, run)),
  );
}

/** Renders the strip with the times of its reads below. Each state links to its history; `linkOf` is null for a state without history. */
export function stripWithAxisHtml(
  reads: Iterable<ReadMark>,
  linkOf: (at: string) => string | null,
): Markup {
  const marks = [...reads].slice(-MOST);
  const [first, last] = [marks[0], marks.at(-1)];
  if (first === undefined || last === undefined) return stripHtml(marks);
  const bars = mergeStatusMarks(marks).map((run) => {
    const at = marks[run.from]?.at ?? '';
    const link = linkOf(at);
    const words = `${LABELS[run.status].words}, ${formatCount(run.length, 'read')} from ${clockText(at)}`;
    const reach = markup`<rect class="reach" x="${stripStart(marks, run)}" width="${run.length * STEP}" height="${HEIGHT}"/>`;
    const bar = markup`<g><title>${words}</title>${barHtml(marks, run)}${reach}</g>`;
    return link === null ? bar : markup`<a href="${link}" aria-label="${words}">${bar}</a>`;
  });
  const middle = marks.length < FEWEST_OF_THREE ? undefined : marks[marks.length >> 1];
  const begin = marks.length < FEWEST_OF_TWO ? [] : [first];
  const axis = [...begin, ...(middle === undefined ? [] : [middle]), last];
  return markup`<div class="reads">${svgHtml(marks, 'group', bars)}<p class="axis">${axis.map(({ at }) => markup`<time datetime="${at}">${axisText(at, last.at)}</time>`)}</p></div>
`;
}

/** From how many reads on there is room for the time of the first, and for one in the middle. */
const FEWEST_OF_TWO = 30;
const FEWEST_OF_THREE = 60;

/** The time of day, with the day where that is another one than that of the last read. */
function axisText(at: string, last: string): string {
  const [day, time] = [at.slice(0, 10), at.slice(11, 16)];
  return day === last.slice(0, 10) && at !== last ? time : `${day} ${time}`;
}

function svgHtml(
  marks: readonly ReadMark[],
  role: 'img' | 'group',
  bars: readonly Markup[],
): Markup {
  // An image has room for all reads, so those of a list can be compared; one with an axis is as wide as its reads.
  const most = role === 'img' ? MOST : marks.length;
  const begin = (MOST - most) * STEP;
  const width = role === 'img' ? null : markup` width="${most * 2 * STEP}"`;
  return markup`<svg class="strip"${width} viewBox="${begin} 0 ${most * STEP} ${HEIGHT}" preserveAspectRatio="none" role="${role}" aria-label="${stripText(marks)}"><path class="ground" d="M${begin} ${HEIGHT - 1}h${most * STEP}"/>${bars}</svg>`;
}

function stripStart(marks: readonly ReadMark[], { from }: StatusSpan): number {
  return (MOST - marks.length + from) * STEP;
}

function barHtml(marks: readonly ReadMark[], run: StatusSpan): Markup {
  const [tone, height] = BARS[run.status];
  return markup`<path class="${tone}" stroke-width="${height}" d="M${stripStart(marks, run)} ${HEIGHT - height / 2}h${run.length * STEP}"/>`;
}

const BARS: Readonly<Record<WatchStatus, readonly [tone: string, height: number]>> = {
  'in-sync': ['good', 8],
  suspended: ['plain', 8],
  'not-read': ['plain', 4],
  unknown: ['note', 12],
  pending: ['note', 12],
  drift: ['warn', 16],
  conflict: ['bad', 20],
  refused: ['bad', 20],
  error: ['bad', 24],
};

interface StatusSpan {
  readonly status: WatchStatus;
  /** The index of its first read. */
  readonly from: number;
  readonly length: number;
}

function mergeStatusMarks(marks: readonly ReadMark[]): StatusSpan[] {
  const runs: StatusSpan[] = [];
  for (const [index, { status }] of marks.entries()) {
    const last = runs.at(-1);
    if (last?.status === status) runs[runs.length - 1] = { ...last, length: last.length + 1 };
    else runs.push({ status, from: index, length: 1 });
  }
  return runs;
}

/** `Last 40 reads: 38 in sync, 2 drift. The latest: drift.` */
function stripText(marks: readonly ReadMark[]): string {
  const counts = new Map<WatchStatus, number>();
  for (const { status } of marks) counts.set(status, (counts.get(status) ?? 0) + 1);
  const parts = [...counts].map(([status, count]) => `${count} ${LABELS[status].words}`);
  const latest = LABELS[marks.at(-1)?.status ?? 'not-read'].words;
  return `Last ${formatCount(marks.length, 'read')}: ${parts.join(', ')}. The latest: ${latest}.`;
}

const FILLS: Readonly<Record<Paint, string>> = {
  green: '#0f6630',
  yellow: '#764900',
  red: '#a91b16',
  cyan: '#0a5684',
  dim: '#56606e',
  bold: '#56606e',
};

const LETTER = 6.6;
const LONGEST_NAME = 40;

/** An environment's name and state as a picture of one line. */
export function badgeSvg(state: WatchState): string {
  const { words, color } = LABELS[state.status];
  const name =
    state.name.length > LONGEST_NAME ? `${state.name.slice(0, LONGEST_NAME)}…` : state.name;
  const left = Math.round(name.length * LETTER + 12);
  const right = Math.round(words.length * LETTER + 12);
  const width = left + right;
  return markupSource(markup`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" viewBox="0 0 ${width} 20" role="img" aria-label="${name}: ${words}"><title>${name}: ${words}</title><path fill="#333b47" d="M3 0H${left}V20H3A3 3 0 0 1 0 17V3A3 3 0 0 1 3 0"/><path fill="${FILLS[color]}" d="M${left} 0H${width - 3}A3 3 0 0 1 ${width} 3V17A3 3 0 0 1 ${width - 3} 20H${left}"/><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"><text x="${left / 2}" y="14" textLength="${left - 12}" lengthAdjust="spacingAndGlyphs">${name}</text><text x="${left + right / 2}" y="14" textLength="${right - 12}" lengthAdjust="spacingAndGlyphs">${words}</text></g></svg>
`);
}
