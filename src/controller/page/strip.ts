import type { ReadMark } from '../../reconciler/model/watch.ts';
import type { WatchStatus } from '../../reconciler/model/verdict.ts';
import { counted } from '../../reconciler/model/wording.ts';
import { markup, type Markup } from '../../reconciler/render/html/markup.ts';
import { LABELS } from '../../reconciler/render/verdict.ts';

const MOST = 100;
const STEP = 3;
const HEIGHT = 24;

/** The last reads, the latest at the right: a bar for each, the higher the worse. Its label has the same in words. */
export function stripHtml(reads: Iterable<ReadMark>): Markup {
  const marks = [...reads].slice(-MOST);
  if (marks.length === 0) return markup`<span class="soft">no reads yet</span>`;
  return markup`<svg class="strip" viewBox="0 0 ${MOST * STEP} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${stripText(marks)}"><path class="ground" d="M0 ${HEIGHT - 1}h${MOST * STEP}"/>${runsOf(
    marks,
  ).map(({ status, from, length }) => {
    const [tone, height] = BARS[status];
    const x = (MOST - marks.length + from) * STEP;
    return markup`<path class="${tone}" stroke-width="${height}" d="M${x} ${HEIGHT - height / 2}h${length * STEP}"/>`;
  })}</svg>`;
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

interface Run {
  readonly status: WatchStatus;
  /** The index of its first read. */
  readonly from: number;
  readonly length: number;
}

function runsOf(marks: readonly ReadMark[]): Run[] {
  const runs: Run[] = [];
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
  return `Last ${counted(marks.length, 'read')}: ${parts.join(', ')}. The latest: ${latest}.`;
}
