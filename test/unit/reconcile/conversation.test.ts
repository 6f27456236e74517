import { describe, expect, it } from 'vitest';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import type { SmokeStep } from '../../../src/reconciler/model/documents.gen.ts';
import {
  followConversation,
  type Conversing,
  type FollowInput,
  type StartTask,
} from '../../../src/reconciler/resources/sandboxes/conversation.ts';
import { inParallel } from '../../../src/reconciler/reconcile/in-order.ts';

const NO_ANSWER = new SetpointError('timed-out', 'No answer.');

function task(status: string, more: Partial<StartTask> = {}): StartTask {
  return { id: 't', status, conversation: null, sandbox: null, ...more };
}

/** Follows a task that reads these one after the other; the last for good. */
async function follow(
  tasks: readonly (StartTask | SetpointError)[],
  more: Partial<FollowInput> = {},
  start: Conversing['start'] | null = null,
) {
  const left = [...tasks];
  const next = (): StartTask => {
    const shown = left.length > 1 ? left.shift() : left[0];
    if (shown === undefined || shown instanceof Error) throw shown ?? new Error('no task');
    return shown;
  };
  const slept: number[] = [];
  const noted: SmokeStep[] = [];
  const asked: string[] = [];
  const passed = () => slept.reduce((sum, one) => sum + one, 0);
  const followed = await followConversation({
    conversing: {
      start:
        start ??
        (async (message) => {
          asked.push(message);
          return { kind: 'begun', task: next() };
        }),
      task: async (id) => {
        asked.push(id);
        return next();
      },
    },
    message: 'Go.',
    clock: {
      now: passed,
      monotonic: passed,
      sleep: async (milliseconds) => void slept.push(milliseconds),
    },
    wait: 20_000,
    onStep: (step) => noted.push(step),
    ...more,
  });
  return { ...followed, slept, noted, asked };
}

describe('a conversation that is started', () => {
  it('is followed until it is ready, each status noted once with the seconds until then', async () => {
    const ends = { conversation: 'c', sandbox: 's' };
    const found = await follow([
      task('WORKING'),
      task('WORKING'),
      task('STARTING'),
      task('READY', ends),
    ]);
    const steps = [
      { status: 'WORKING', seconds: 0 },
      { status: 'STARTING', seconds: 1.3 },
      { status: 'READY', seconds: 2.4 },
    ];
    expect(found).toMatchObject({ steps, noted: steps, ...ends, error: null });
    expect(found.slept).toEqual([500, 750, 1125]);
    expect(found.asked).toEqual(['Go.', 't', 't', 't']);
  });

  it('that fails names the step it failed at', async () => {
    expect((await follow([task('STARTING'), task('ERROR')])).error).toMatchObject({
      code: 'check-failed',
      message: 'The conversation did not start: its task ended with ERROR, after STARTING.',
    });
    expect((await follow([task('ERROR')])).error?.message).toBe(
      'The conversation did not start: its task ended with ERROR.',
    );
  });

  it('that is not ready in time is left as it is', async () => {
    const { error, slept, conversation } = await follow([task('STARTING', { conversation: 'c' })]);
    expect(slept.reduce((sum, one) => sum + one, 0)).toBe(20_000);
    expect(conversation).toBe('c');
    expect(error).toMatchObject({
      code: 'timed-out',
      message: 'The conversation was not ready in time: its status is STARTING.',
      hint: 'It may still start: see setpoint get conversations, or wait longer with --wait.',
    });
  });

  it('is requested once, whatever the answer', async () => {
    const lost = await follow([], {}, async () => ({ kind: 'ambiguous', error: NO_ANSWER }));
    expect(lost).toMatchObject({ steps: [], conversation: null, sandbox: null });
    expect(lost.error).toMatchObject({
      code: 'state-unknown',
      message:
        'A conversation may or may not have been started; it was not requested again. No answer.',
      hint: 'Check with setpoint get conversations.',
      cause: NO_ANSWER,
    });
    const refused = await follow([], {}, async () => ({
      kind: 'not-applied',
      retry: true,
      reached: true,
      error: NO_ANSWER,
    }));
    expect(refused.error).toBe(NO_ANSWER);
  });

  it('that cannot be read any more is an error beside what is known', async () => {
    const found = await follow([task('STARTING', { sandbox: 's' }), NO_ANSWER]);
    expect(found).toMatchObject({
      sandbox: 's',
      steps: [{ status: 'STARTING' }],
      error: NO_ANSWER,
    });
  });

  it('is left by a request to stop, and abandoned by a second one', async () => {
    const stopped = await follow([task('STARTING')], { signal: AbortSignal.abort() });
    expect(stopped).toMatchObject({ slept: [], error: { code: 'interrupted' } });
    const abandon = AbortSignal.abort();
    const abandoned = await follow([], { abandon }, () => new Promise(() => {}));
    expect(abandoned.error?.code).toBe('state-unknown');
  });
});

describe('work in parallel', () => {
  it('is done on so many items at a time, with the results in their order', async () => {
    let [running, most] = [0, 0];
    const work = async (item: number) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      await Promise.resolve();
      running -= 1;
      return item * 2;
    };
    expect(await inParallel([1, 2, 3, 4, 5], 2, work)).toEqual([2, 4, 6, 8, 10]);
    expect(most).toBe(2);
    expect(await inParallel([1, 2], 0, work)).toEqual([2, 4]);
    expect(await inParallel([], 4, work)).toEqual([]);
  });
});
