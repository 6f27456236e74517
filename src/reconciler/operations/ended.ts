import type { ErrorReport } from '../model/plan.ts';
import type { Options } from './options.ts';

/** Work on `total` environments that reports to `onEnvironment` how many of them have ended. */
export function reportingEnd<T, E extends { readonly error: ErrorReport | null }>(
  total: number,
  { onEnvironment }: Pick<Options, 'onEnvironment'>,
  work: (item: T) => Promise<E>,
): (item: T) => Promise<E> {
  if (onEnvironment === undefined) return work;
  let done = 0;
  let failed = 0;
  onEnvironment({ done, total, failed });
  return async (item) => {
    const ended = await work(item);
    done += 1;
    if (ended.error !== null && ended.error.code !== 'skipped') failed += 1;
    onEnvironment({ done, total, failed });
    return ended;
  };
}
