import { getEventListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { answer, rawServer, SETTINGS } from './raw-server.ts';
import { serviceAt, written } from './service.ts';

describe('a write of 30 s at most', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['the connection', 0, 5_000, 'not-applied', 'No connection was made within 5 s'],
    ['the headers', 1, 10_000, 'ambiguous', 'No answer began within 10 s'],
    ['M16: the body', 2, 30_000, 'ambiguous', 'The answer was not complete within 30 s'],
  ])('waits for %s so long', async (_, steps, after, kind, words) => {
    const abort = vi.fn();
    const dispatcher = halting(steps, { abort } as unknown as Dispatcher.DispatchController);
    const service = serviceAt('http://127.0.0.1:9', { dispatcher, timeout: 30_000 });
    const ended = vi.fn();
    const writing = written(service).finally(ended);
    await vi.advanceTimersByTimeAsync(after - 1);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(2);
    await expect(writing).resolves.toMatchObject({
      kind,
      error: { code: 'timed-out', message: expect.stringContaining(words) },
    });
    expect(abort).toHaveBeenCalledTimes(steps === 0 ? 0 : 1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('sends nothing if the connection is established too late', async () => {
  const abort = vi.fn();
  let late = () => {};
  const dispatch: Dispatcher['dispatch'] = (_, handler) => {
    late = () =>
      handler.onRequestStart?.({ abort } as unknown as Dispatcher.DispatchController, null);
    return true;
  };
  const dispatcher = { dispatch } as Dispatcher;
  const service = serviceAt('http://127.0.0.1:9', { dispatcher, timeout: 20 });
  await expect(written(service)).resolves.toMatchObject({ kind: 'not-applied' });
  late();
  expect(abort).toHaveBeenCalledTimes(1);
  expect(service.connection.requests.post).toBe(0);
});

it('M22: leaves nothing behind on the signal it was given', async () => {
  const server = await rawServer((socket) => socket.write(answer(200, SETTINGS)));
  const { signal } = new AbortController();
  await serviceAt(server.url).observer.observe(signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

const JSON_TYPE = { 'content-type': 'application/json' };

/** A network on which a request comes so far and no further: 1, it is sent; 2, an answer begins. */
function halting(steps: number, controller: Dispatcher.DispatchController): Dispatcher {
  const dispatch: Dispatcher['dispatch'] = (_, handler) => {
    if (steps > 0) handler.onRequestStart?.(controller, null);
    if (steps > 1) handler.onResponseStart?.(controller, 200, JSON_TYPE);
    return true;
  };
  return { dispatch } as Dispatcher;
}
