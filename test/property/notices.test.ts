import fc from 'fast-check';
import { expect } from 'vitest';
import { itHolds } from '../fixture/property-runs.ts';
import type { JournalRecord, WatchState } from '../../src/reconciler/model/watch.ts';
import { Notices } from '../../src/controller/watch/notices/notices.ts';
import { NotifiedStates } from '../../src/controller/watch/notices/notified-states.ts';
import { Secret } from '../../src/reconciler/model/secret.ts';
import type { SendResult } from '../../src/controller/watch/notices/send.ts';
import { receiver } from '../fixture/receivers.ts';
import { MadeUpWatching, WATCHED_AT, watchState } from '../fixture/watching.ts';

/** What the world does next: an environment becomes something, somebody suspends it, time passes, or the process is killed. */
type Step =
  | { readonly do: 'become'; readonly name: string; readonly found: Found; readonly digest: string }
  | { readonly do: 'suspend'; readonly name: string; readonly on: boolean }
  | { readonly do: 'pass'; readonly seconds: number }
  /** After so many writes to the journal and messages; those in between are lost or made. */
  | { readonly do: 'kill'; readonly after: number }
  | { readonly do: 'answers'; readonly with: Answer };
type Found = 'in-sync' | 'drift' | 'conflict' | 'error';
type Answer = 'sent' | 'unknown' | 'not-taken' | 'refused';

const NAMES = ['a', 'b', 'c'];
const name = fc.constantFrom(...NAMES);

function steps(withKills: boolean, answers: readonly Answer[]): fc.Arbitrary<Step[]> {
  const become = fc.record({
    do: fc.constant('become' as const),
    name,
    found: fc.constantFrom<Found>('in-sync', 'drift', 'conflict', 'error'),
    digest: fc.constantFrom('1', '2'),
  });
  const step = fc.oneof(
    { weight: 4, arbitrary: become },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('pass' as const),
        seconds: fc.integer({ min: 5, max: 150 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('suspend' as const), name, on: fc.boolean() }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('answers' as const),
        with: fc.constantFrom(...answers),
      }),
    },
    ...(withKills
      ? [
          {
            weight: 2,
            arbitrary: fc.record({
              do: fc.constant('kill' as const),
              after: fc.integer({ min: 0, max: 6 }),
            }),
          },
        ]
      : []),
  );
  return fc.array(step, { maxLength: 40 });
}

const KILLED = new Error('killed');

/** Controllers one after another over one journal, and the receiver that they tell. */
class World {
  readonly journal: JournalRecord[] = [];
  /** What the receiver has got, by environment: `event digest`. */
  readonly got = new Map<string, string[]>();
  readonly watching = new MadeUpWatching(...NAMES.map((one) => watchState({ name: one })));
  readonly #to = receiver({
    to: { form: 'json', url: new Secret('http://127.0.0.1:9/'), headers: new Map() },
  });
  #passed = 0;
  #answer: Answer = 'sent';
  #left = Number.POSITIVE_INFINITY;
  #notices = this.#start();

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'become': {
        const { found, digest } = step;
        const state = this.#state(step.name);
        const notified = found === 'in-sync' ? '' : `${found}${digest}`;
        this.watching.put({
          ...state,
          found,
          digest: notified,
          failures: found === 'error' ? 3 : 0,
        });
        break;
      }
      case 'suspend': {
        const suspended = step.on ? { at: '', reason: 'x', until: null } : null;
        this.watching.put({ ...this.#state(step.name), suspended });
        break;
      }
      case 'answers':
        this.#answer = step.with;
        break;
      case 'kill':
        this.#left = step.after;
        break;
      case 'pass':
        for (let left = step.seconds; left > 0; left -= 5) await this.#look();
    }
  }

  /** Lets everything settle: nothing is suspended, nobody refuses, nobody is killed. */
  async settle(): Promise<void> {
    this.#left = Number.POSITIVE_INFINITY;
    this.#answer = 'sent';
    for (const one of NAMES) this.watching.put({ ...this.#state(one), suspended: null });
    for (let seconds = 0; seconds < 2 * 3600; seconds += 5) await this.#look();
  }

  async #look(): Promise<void> {
    this.#passed += 5000;
    this.#notices.tick();
    await this.#notices.idle();
    if (this.#left >= 0) return;
    this.#left = Number.POSITIVE_INFINITY;
    this.#notices = this.#start();
  }

  #state(one: string): WatchState {
    return this.watching.state(one) ?? watchState({ name: one });
  }

  /** One more effect on the world, unless the process is dead by then. */
  #effect(): void {
    this.#left -= 1;
    if (this.#left < 0) throw KILLED;
  }

  #start(): Notices {
    const clock = {
      now: () => WATCHED_AT + this.#passed,
      monotonic: () => this.#passed,
      sleep: async () => {},
    };
    const notified = new NotifiedStates(this.journal);
    return new Notices({
      watching: this.watching,
      settings: { page: null, receivers: [this.#to], heartbeat: null },
      journal: {
        notified,
        isRecorded: () => true,
        findDeparted: () => null,
        record: async (event) => {
          this.#effect();
          const record: JournalRecord = { v: 1, at: new Date(clock.now()).toISOString(), ...event };
          this.journal.push(record);
          notified.take(record);
          return record;
        },
      },
      sender: {
        send: async ({ body }) => {
          this.#effect();
          if (RESULTS[this.#answer].kind !== 'not-taken') this.#get(body);
          return RESULTS[this.#answer];
        },
        close: async () => {},
      },
      issues: async () => ({ kind: 'sent' }),
      clock,
      report: () => {},
    });
  }

  #get(body: unknown): void {
    const { notices } = body as {
      notices: { environment: string; event: string; digest: string }[];
    };
    for (const { environment, event, digest } of notices)
      this.got.set(environment, [...(this.got.get(environment) ?? []), `${event} ${digest}`]);
  }
}

const RESULTS: Readonly<Record<Answer, SendResult>> = {
  sent: { kind: 'sent' },
  unknown: { kind: 'unknown', problem: '' },
  'not-taken': { kind: 'not-taken', again: true, after: null, problem: '' },
  refused: { kind: 'not-taken', again: false, after: null, problem: '' },
};

/** Notices that a receiver got although it had got the same and nothing was resolved in between. */
function repeated(got: readonly string[]): string[] {
  const open = new Map<'difference' | 'failing', Set<string>>();
  return got.filter((one) => {
    const [event, digest = ''] = one.split(' ');
    const track = digest.startsWith('error') ? 'failing' : 'difference';
    const seen = open.get(track) ?? new Set<string>();
    const again = event !== 'resolved' && seen.has(digest);
    if (event === 'resolved') open.delete(track);
    else open.set(track, seen.add(digest));
    return again;
  });
}

itHolds('nobody is told twice, whenever the process is killed', 100, async (numRuns) => {
  await fc.assert(
    fc.asyncProperty(steps(true, ['sent', 'unknown', 'not-taken', 'refused']), async (history) => {
      const world = new World();
      for (const step of history) await world.take(step);
      await world.settle();
      for (const got of world.got.values()) expect(repeated(got)).toEqual([]);
    }),
    { numRuns },
  );
});

itHolds(
  'nothing is forgotten if nobody is killed and every message is taken in the end',
  100,
  async (numRuns) => {
    await fc.assert(
      fc.asyncProperty(steps(false, ['sent', 'not-taken', 'refused']), async (history) => {
        const world = new World();
        for (const step of history) await world.take(step);
        await world.settle();
        for (const one of NAMES) {
          const { found = 'in-sync', digest = '' } = world.watching.state(one) ?? {};
          const open = openAfter(world.got.get(one) ?? []);
          if (found === 'error') expect(open.has('failing')).toBe(true);
          else {
            expect(open.has('failing')).toBe(false);
            expect(open.get('difference')?.has(digest) ?? false).toBe(found !== 'in-sync');
          }
        }
      }),
      { numRuns },
    );
  },
);

/** What a receiver believes of an environment, by what it got. */
function openAfter(got: readonly string[]): Map<'difference' | 'failing', Set<string>> {
  const open = new Map<'difference' | 'failing', Set<string>>();
  for (const one of got) {
    const [event, digest = ''] = one.split(' ');
    const track = digest.startsWith('error') ? 'failing' : 'difference';
    if (event === 'resolved') open.delete(track);
    else open.set(track, (open.get(track) ?? new Set<string>()).add(digest));
  }
  return open;
}
