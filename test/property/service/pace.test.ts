import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Clock } from '../../../src/reconciler/model/ports.ts';
import type { WireAnswer } from '../../../src/reconciler/service/exchange.ts';
import { RequestNotSentError } from '../../../src/reconciler/service/service-error.ts';
import { Paces } from '../../../src/reconciler/service/network.ts';
import { itHolds, propertyRuns } from '../../fixture/property-runs.ts';

/** Time that passes only while all sleep: the next sleep is over as soon as nothing else happens. */
function virtualTime() {
  let now = 0;
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          sleepers.delete(sleeper);
          resolve();
        };
        const sleeper = { until: now + Math.max(0.001, milliseconds), wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake);
        if (signal?.aborted === true) wake();
      }),
  };
  /** Lets time pass until the work is done. Throws if nobody sleeps and it is not: then it never will be. */
  const until = async (work: Promise<unknown>): Promise<void> => {
    let done = false;
    const ended = work.finally(() => (done = true));
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (done) break;
      const next = [...sleepers].toSorted((one, other) => one.until - other.until)[0];
      if (next === undefined) throw new Error('Everybody waits, and nobody for the clock.');
      now = Math.max(now, next.until);
      next.wake();
    }
    await ended;
  };
  return { clock, until };
}

const reply = (status: number, retryAfter: string | null): WireAnswer => ({
  kind: 'reply',
  status,
  headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
  body: new Uint8Array(),
});
const LOST: WireAnswer = {
  kind: 'fault',
  fault: { kind: 'refused', phase: 'connect', cause: undefined },
};
const TAKEN = reply(200, null);

/** What the service does with a request. */
const fate = fc.oneof(
  { weight: 4, arbitrary: fc.constant(TAKEN) },
  { weight: 1, arbitrary: fc.constant(LOST) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(429, 503), fc.constantFrom(null, '0', '1', '7', '60', '3600'))
      .map(([status, retryAfter]) => reply(status, retryAfter)),
  },
);

const request = fc.record({
  after: fc.constantFrom(0, 0, 0, 1, 700, 3_000),
  latency: fc.nat(2_000),
  fates: fc.array(fate, { minLength: 1, maxLength: 6 }),
  time: fc.constantFrom(500, 20_000, 120_000),
  stoppedAfter: fc.option(fc.nat(20_000), { freq: 3 }),
  writes: fc.boolean(),
});

const requestsOf = fc.array(request, { minLength: 1, maxLength: 40 });

it('every turn comes or is refused, and nothing is sent while the service asks to wait', async () => {
  await fc.assert(
    fc.asyncProperty(requestsOf, fc.integer({ min: 1, max: 8 }), async (requests, parallel) => {
      const { clock, until } = virtualTime();
      const paces = new Paces();
      let pausedUntil = 0;
      const environment = async ({ after, latency, fates, time, ...one }: (typeof requests)[0]) => {
        const turns = paces.open('a', { clock, random: () => 1, patience: 120_000 });
        if (after > 0) await clock.sleep(after);
        const deadline = clock.monotonic() + time;
        const stop = new AbortController();
        if (one.stoppedAfter !== null)
          void clock.sleep(one.stoppedAfter).then(() => stop.abort('SIGTERM'));
        for (const answer of fates) {
          const asked = clock.monotonic();
          if (one.writes) {
            if (turns.write('POST a') !== null) return 'not sent';
          } else {
            try {
              await turns.read({ place: 'GET a', deadline, signal: stop.signal });
            } catch (thrown) {
              if (stop.signal.aborted) return 'stopped';
              expect(thrown).toBeInstanceOf(RequestNotSentError);
              return 'not sent';
            }
            if (asked < deadline) expect(clock.monotonic()).toBeLessThanOrEqual(deadline + 0.01);
          }
          expect(clock.monotonic()).toBeGreaterThanOrEqual(pausedUntil - 0.01);
          const told = turns.sent();
          await clock.sleep(latency);
          told(answer);
          if (answer.kind === 'reply' && answer.status !== 200) {
            const wait = Number(answer.headers['retry-after'] ?? Number.NaN) * 1000;
            if (!Number.isNaN(wait)) pausedUntil = Math.max(pausedUntil, clock.monotonic() + wait);
          } else if (answer === TAKEN) return 'taken';
        }
        return 'given up';
      };
      const ends: string[] = [];
      const left = [...requests];
      const worker = async (): Promise<void> => {
        for (let next = left.shift(); next !== undefined; next = left.shift())
          ends.push(await environment(next));
      };
      const all = Promise.allSettled(Array.from({ length: parallel }, worker));
      await until(all);
      for (const ended of await all) if (ended.status === 'rejected') throw ended.reason;
      expect(ends).toHaveLength(requests.length);
    }),
    { numRuns: propertyRuns(150) },
  );
}, 600_000);

itHolds(
  'a service with any limit takes everything, at a rate near its limit',
  12,
  async (numRuns) => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          rate: fc.integer({ min: 2, max: 200 }),
          burst: fc.integer({ min: 5, max: 50 }),
          parallel: fc.integer({ min: 1, max: 32 }),
          latency: fc.integer({ min: 1, max: 100 }),
          named: fc.boolean(),
        }),
        async ({ rate, burst, parallel, latency, named }) => {
          const { clock, until } = virtualTime();
          const paces = new Paces();
          const count = burst + 20 * rate;
          let [tokens, at, begun, refused] = [burst, 0, 0, 0];
          const takes = (): boolean => {
            const now = clock.monotonic();
            tokens = Math.min(burst, tokens + ((now - at) * rate) / 1000);
            at = now;
            if (tokens < 1) return false;
            tokens -= 1;
            return true;
          };
          const work = async (): Promise<void> => {
            while (begun < count) {
              begun += 1;
              const turns = paces.open('a', { clock, random: () => 1, patience: 120_000 });
              for (;;) {
                const deadline = Number.POSITIVE_INFINITY;
                await turns.read({ place: 'GET a', deadline, signal: undefined });
                const told = turns.sent();
                await clock.sleep(latency / 2);
                const taken = takes();
                await clock.sleep(latency / 2);
                told(taken ? TAKEN : reply(429, named ? '1' : null));
                if (taken) break;
                refused += 1;
              }
            }
          };
          await until(Promise.all(Array.from({ length: parallel }, work)));
          const slowest = Math.max(20, (count / parallel) * (latency / 1000));
          expect(clock.monotonic() / 1000).toBeLessThan(3 * slowest + 10);
          expect(refused).toBeLessThan(count / 2 + 3 * parallel);
        },
      ),
      { numRuns },
    );
  },
);
