/** Works on at most `limit` items at a time; the results are in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  await processInOrder(items, limit, work, async (result) => {
    results.push(result);
  });
  return results;
}

/** Results that may wait for an earlier one: enough that a slow item does not hold up the others. */
const WAITING = 1024;

/**
 * Works on at most `limit` items at a time, and hands each result to `take` in the order of the items, one at a time. Results are dropped
 * after that, and items are not begun far ahead of the one whose result is next. After an error of `work` or `take` no item is begun;
 * those that are under way are waited for, and of several errors the one of the earliest item is thrown, whichever came first.
 */
export async function processInOrder<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
  take: (result: R) => Promise<void>,
): Promise<void> {
  // A ring: a map would be created again and again while results come and go.
  const done: ({ readonly result: R } | undefined)[] = [];
  const run = { begun: 0, taken: 0, taking: false, failed: false };
  const errors: { readonly index: number; readonly error: unknown }[] = [];
  let waiting: (() => void)[] = [];
  const room = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const go of woken) go();
  };
  const takeReady = async (): Promise<void> => {
    if (run.taking) return;
    run.taking = true;
    for (let next = done[run.taken % WAITING]; next !== undefined;) {
      done[run.taken % WAITING] = undefined;
      await take(next.result);
      run.taken += 1;
      wake();
      next = run.failed ? undefined : done[run.taken % WAITING];
    }
    run.taking = false;
  };
  const worker = async (): Promise<void> => {
    while (!run.failed && run.begun < items.length) {
      if (run.begun - run.taken >= WAITING) {
        await room();
        continue;
      }
      const index = run.begun;
      run.begun += 1;
      try {
        done[index % WAITING] = { result: await work(items[index] as T) };
        await takeReady();
      } catch (error) {
        run.failed = true;
        errors.push({ index, error });
        wake();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(limit, items.length)) }, worker));
  const [first] = errors.toSorted((one, other) => one.index - other.index);
  if (first !== undefined) throw first.error;
}
