import type { Options } from '../operations/options.ts';

type Callback = (...given: readonly unknown[]) => unknown;

/**
 * Runs an operation whose request has functions of the caller. If one of them throws, or what it returns rejects, the operation is
 * stopped as its signal would stop it, and rejects with that very error. A promise of a callback that is not waited for while the
 * operation runs is waited for at its end.
 */
export async function withCallbacks<R extends object, T>(
  request: R & Pick<Options, 'signal'>,
  operation: (request: R) => Promise<T>,
): Promise<T> {
  const failures: { readonly error: unknown }[] = [];
  const pending = new Set<Promise<unknown>>();
  const stop = new AbortController();
  const fail = (error: unknown): never => {
    failures.push({ error });
    stop.abort();
    throw error;
  };
  const guard =
    (callback: Callback): Callback =>
    (...given) => {
      try {
        const result = callback(...given);
        if (!isThenable(result)) return result;
        const ended = Promise.resolve(result).catch(fail);
        const done = ended.catch(() => {}).finally(() => pending.delete(done));
        pending.add(done);
        return ended;
      } catch (error) {
        return fail(error);
      }
    };
  const callbacks = Object.entries(request).flatMap(([name, value]) =>
    typeof value === 'function' ? [[name, guard(value as Callback)] as const] : [],
  );
  if (callbacks.length === 0) return operation(request);
  const signal =
    request.signal === undefined ? stop.signal : AbortSignal.any([request.signal, stop.signal]);
  const ended = operation({ ...request, ...Object.fromEntries(callbacks), signal });
  const settled = await ended.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  while (pending.size > 0) await Promise.all(pending);
  const [failure] = failures;
  if (failure !== undefined) throw failure.error;
  if ('error' in settled) throw settled.error;
  return settled.value;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
