import { isCollectionBlock } from '../model/collection-forms.ts';
import { formatPath, isWithin } from '../model/path.ts';
import type { DesiredState } from '../model/state.ts';
import { isNeverReported, leftWhole } from '../model/without.ts';
import { namesListed } from '../model/wording.ts';
import { leavableItems } from '../plan/leave.ts';

/** How many names a sentence has. */
const MOST_NAMES = 3;

/** Which writes want a value that is missing, and which do not: what an apply can do without it. */
export class WantedValues {
  readonly #wanting = new Set<string>();
  readonly #others = new Set<string>();
  #inBlocks = false;

  add(desired: DesiredState): void {
    const missing = desired.missing
      .map(({ path }) => leftWhole(path))
      .filter((path) => !isNeverReported(path));
    for (const path of missing) {
      this.#wanting.add(formatPath(path));
      this.#inBlocks ||= isCollectionBlock(path[0] ?? '');
    }
    const declared = [
      ...desired.fields.map(({ field }) => field.path),
      ...leavableItems(desired).map(({ path }) => path),
    ];
    for (const path of declared)
      if (!desired.missing.some((one) => isWithin(one.path, path)))
        this.#others.add(formatPath(path));
  }

  /** The ways in sentences; empty if every write wants the value. */
  ways(): string {
    const wanting = [...this.#wanting];
    if (wanting.length === 0) return '';
    const it = wanting.length === 1 ? 'it' : 'them';
    const needs = wanting.length === 1 ? 'needs' : 'need';
    const others =
      this.#others.size === 0
        ? ''
        : `; ${namesListed([...this.#others], MOST_NAMES)} can be written without`;
    const flags = wanting.slice(0, MOST_NAMES).map((path) => `--without ${path}`);
    const always = this.#inBlocks ? `take ${it} out of the file` : `list ${it} under unmanaged`;
    return `Only ${namesListed(wanting, MOST_NAMES)} ${needs} ${it}${others}. In this run ${flags.join(' ')} leaves ${it} alone; ${always} to leave ${it} alone always.`;
  }
}
