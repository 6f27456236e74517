import { expect, it, vi } from 'vitest';
import { withCallbacks } from '../../../src/reconciler/library/functions.ts';

const failure = new TypeError('of the caller');

it.each([
  [
    'throws',
    () => {
      throw failure;
    },
  ],
  ['rejects', () => Promise.reject(failure)],
])(
  'rejects with the very error of a callback that %s, whatever the operation makes of it',
  async (_, onPlan) => {
    const stopped = vi.fn<() => void>();
    const operation = async (request: { onPlan: () => unknown; signal?: AbortSignal }) => {
      try {
        await request.onPlan();
      } catch {
        if (request.signal?.aborted === true) stopped();
      }
      return 'a document';
    };
    await expect(withCallbacks({ onPlan }, operation)).rejects.toBe(failure);
    expect(stopped).toHaveBeenCalledOnce();
  },
);

it('rejects with the error of a promise that the operation did not wait for', async () => {
  const onEnvironment = async (): Promise<void> => {
    await new Promise(setImmediate);
    throw failure;
  };
  const operation = async (request: { onEnvironment: () => unknown }) => {
    void request.onEnvironment();
    return 'a document';
  };
  await expect(withCallbacks({ onEnvironment }, operation)).rejects.toBe(failure);
});

it('hands back the first of several errors', async () => {
  const onPlan = vi.fn<() => never>();
  onPlan.mockImplementationOnce(() => {
    throw failure;
  });
  onPlan.mockImplementation(() => {
    throw new Error('later');
  });
  const operation = async (request: { onPlan: () => unknown }) => {
    for (const _ of [1, 2])
      try {
        request.onPlan();
      } catch {
        /* An operation may go on. */
      }
    throw new Error('of the operation');
  };
  await expect(withCallbacks({ onPlan }, operation)).rejects.toBe(failure);
});

it('passes on arguments, results and the signal', async () => {
  const stop = new AbortController();
  const operation = async (request: {
    confirm: (name: string) => Promise<boolean>;
    signal?: AbortSignal;
  }) => {
    stop.abort('enough');
    return [await request.confirm('staging'), request.signal?.reason as unknown];
  };
  const confirm = async (name: string) => name === 'staging';
  expect(await withCallbacks({ confirm, signal: stop.signal }, operation)).toEqual([
    true,
    'enough',
  ]);
});
