import { tmpdir } from 'node:os';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DiskAnswers } from '../../../src/reconciler/host/disk-answers.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Disks by the first name of a path; those of `hung` answer once they are let go. */
function disks(hung: readonly string[]) {
  const asked: string[] = [];
  const waiting = new Map<string, () => void>();
  const answers = new DiskAnswers((path) => {
    asked.push(path);
    if (!hung.includes(path.split('/')[1] ?? '')) return Promise.resolve();
    return new Promise((resolve) => waiting.set(path, resolve));
  });
  const silentOf = async (...paths: string[]): Promise<string[]> => {
    const found = answers.findSilent(paths);
    const isOver = { now: false };
    void found.finally(() => {
      isOver.now = true;
    });
    while (!isOver.now) {
      await vi.advanceTimersByTimeAsync(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return [...(await found)];
  };
  return { asked, waiting, silentOf };
}

it('a disk that does not answer is found out, and the others beside it', async () => {
  const { silentOf } = disks(['hung-a']);
  expect(await silentOf('/hung-a/one', '/well/one')).toEqual(['/hung-a/one']);
});

it('a disk that hangs is not asked again until it has answered', async () => {
  const hung = ['hung-a'];
  const { silentOf, asked, waiting } = disks(hung);
  await silentOf('/hung-a/one');
  expect(await silentOf('/hung-a/one')).toEqual(['/hung-a/one']);
  expect(asked).toEqual(['/hung-a/one']);
  waiting.get('/hung-a/one')?.();
  hung.length = 0;
  expect(await silentOf('/hung-a/one')).toEqual([]);
  expect(asked).toEqual(['/hung-a/one', '/hung-a/one']);
});

it('two disks that hang hold up two threads, and no more', async () => {
  const { silentOf, asked } = disks(['hung-a', 'hung-b', 'hung-c']);
  const paths = ['/hung-a/x/one', '/hung-b/y/one', '/hung-c/z/one', '/hung-c/z/two'];
  expect(await silentOf(...paths)).toEqual(paths);
  expect(asked.length).toBeLessThanOrEqual(2);
});

it('what is not there, or may not be read, is an answer', async () => {
  vi.useRealTimers();
  const answers = new DiskAnswers();
  expect(await answers.findSilent(['/nowhere/at/all', tmpdir(), '/dev/zero'])).toEqual(new Set());
});
