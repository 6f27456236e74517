import { counted } from '../model/counted.ts';
import { formatPath } from '../model/path.ts';
import type { Unknown } from '../model/plan.ts';
import { paint, type Style } from './style.ts';
import { visible } from './visible.ts';

/** What is said of an empty plan: `No changes.`, and what could not be compared. `alsoCounted` says that it counts all the same. */
export function unchangedText(unknown: readonly Unknown[], style: Style, alsoCounted = ''): string {
  const sentence = paint(style, 'green', 'No changes.');
  if (unknown.length === 0) return sentence;
  const names = unknown.map(({ path }) => visible(formatPath(path))).join(', ');
  const values = counted(unknown.length, 'value');
  return `${sentence} ${values} could not be compared${alsoCounted}: ${names}`;
}
