import { isCollectionBlock } from '../model/collection-forms.ts';
import type { SetpointError } from '../model/error.ts';
import { formatPath, isWithin } from '../model/path.ts';
import type { DesiredState } from '../model/state.ts';
import { isNeverReported, leftWhole } from '../model/without.ts';
import { counted, namesListed } from '../model/wording.ts';
import { leavableItems } from '../plan/leave.ts';
import { referenceError } from './leavable.ts';

/** How many names a sentence has, and how many lines an error. */
const MOST_NAMES = 3;
const MOST_LINES = 10;

/** References without a value, of one environment or more: what wants them, and what an apply can do without them. */
export class MissingReferences {
  /** The places that want a reference, by what is wrong with it. */
  readonly #lines = new Map<string, { environments: Set<string>; paths: Set<string> }>();
  readonly #wanting = new Set<string>();
  readonly #others = new Set<string>();
  #inBlocks = false;

  /** Adds an environment with what its settings lack; `ofServer` is what its service cannot be reached without. */
  add(environment: string, ofServer: string | null, desired: DesiredState): void {
    if (ofServer !== null) this.#note(ofServer, environment, null);
    for (const { path, reason, ref } of desired.missing)
      this.#note(`(${ref}): ${reason}.`, environment, formatPath(path));
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

  #note(problem: string, environment: string, path: string | null): void {
    const line = this.#lines.get(problem) ?? { environments: new Set(), paths: new Set() };
    line.environments.add(environment);
    if (path !== null) line.paths.add(path);
    this.#lines.set(problem, line);
  }

  /** The error with a line for each reference; null if none is missing. */
  error(): SetpointError | null {
    const lines = [...this.#lines].map(([problem, { environments, paths }]) => {
      const where = namesListed([...environments], MOST_NAMES);
      const what = paths.size === 0 ? '' : `${namesListed([...paths], MOST_NAMES)} `;
      return `${where}: ${what}${problem}`.replaceAll('\n', ' ');
    });
    const [only] = lines;
    if (only === undefined) return null;
    const more = lines.length - MOST_LINES;
    const message =
      lines.length === 1
        ? only
        : [
            `${counted(lines.length, 'reference')} cannot be used.`,
            ...lines.slice(0, MOST_LINES),
            ...(more > 0 ? [`And ${counted(more, 'more reference')}.`] : []),
          ].join('\n');
    return referenceError(message, this.#ways());
  }

  /** The ways to do without, in sentences; empty if there is none. */
  #ways(): string {
    const [path, ...more] = this.#wanting;
    if (path === undefined) return '';
    const [it, flag] = more.length === 0 ? ['it', path] : ['them', 'PATH'];
    const others =
      this.#others.size === 0
        ? ''
        : `${namesListed([...this.#others], MOST_NAMES)} can be written without. `;
    const always = this.#inBlocks ? `take ${it} out of the file` : `list ${it} under unmanaged`;
    return `${others}To leave ${it} alone: --without ${flag} in this run, or ${always}.`;
  }
}
