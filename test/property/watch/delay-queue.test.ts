import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DelayQueue } from '../../../src/controller/watch/schedule.ts';

interface Dated {
  due: number;
  readonly id: number;
  busy: boolean;
}

it('finds the first of those that wait, whatever became of their times', () => {
  const steps = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: -5, max: 50 }), fc.boolean()),
    {
      maxLength: 200,
    },
  );
  fc.assert(
    fc.property(steps, (moves) => {
      const all = Array.from({ length: 10 }, (_, id): Dated => ({ id, due: id, busy: false }));
      const queue = new DelayQueue<Dated>();
      queue.reset(all);
      for (const [id, due, takes] of moves) {
        const one = all[id] as Dated;
        one.due = due;
        one.busy = false;
        queue.add(one);
        const waiting = all.filter(({ busy }) => !busy);
        const first = queue.first(({ busy }) => !busy);
        expect(first?.due).toBe(Math.min(...waiting.map((other) => other.due)));
        if (!takes || first === undefined) continue;
        first.busy = true;
        queue.shift();
      }
    }),
  );
});
