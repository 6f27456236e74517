import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SuspensionFile } from '../../../src/controller/watch/suspension-file.ts';
import { start } from '../../fixture/command.ts';
import { LONG } from '../../fixture/long.ts';
import { itHolds } from '../../fixture/property-runs.ts';

/** What one command does: to an environment that no other command of the run names. */
interface Change {
  readonly name: string;
  readonly suspend: boolean;
  /** After how many milliseconds it is killed; null if it is not. */
  readonly killedAfter: number | null;
}

const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 2, maxLength: 6 });
const changes = names.chain((all) =>
  fc.tuple(
    ...all.map((name) =>
      fc.record({
        name: fc.constant(name),
        suspend: fc.boolean(),
        killedAfter: fc.option(fc.integer({ min: 20, max: 700 }), { freq: 3 }),
      }),
    ),
  ),
);

async function changed(
  data: string,
  { name, suspend, killedAfter }: Change,
): Promise<number | null> {
  const what = suspend ? ['suspend', 'by a test'] : ['resume'];
  const { child, ended } = start([...what, '-e', name, '--data', data], { cwd: data });
  const timer =
    killedAfter === null ? undefined : setTimeout(() => child.kill('SIGKILL'), killedAfter);
  const { code } = await ended;
  clearTimeout(timer);
  return code;
}

itHolds('of commands at the same moment none is lost, whichever are killed', 4, async (numRuns) => {
  await fc.assert(
    fc.asyncProperty(changes, async (all) => {
      const data = mkdtempSync(join(tmpdir(), 'setpoint-suspensions-'));
      const suspension = { at: '2026-03-01T12:00:00.000Z', reason: 'before', until: null };
      await new SuspensionFile(data).change(
        all.map(({ name }) => name),
        suspension,
        0,
      );
      const codes = await Promise.all(all.map((one) => changed(data, one)));
      const file = new SuspensionFile(data);
      await file.refresh();
      for (const [index, { name, suspend, killedAfter }] of all.entries()) {
        if (killedAfter === null) expect(codes[index]).toBe(0);
        const found = file.of(name, Date.now())?.reason ?? null;
        const after = suspend ? 'by a test' : null;
        if (codes[index] === 0) expect([name, found]).toEqual([name, after]);
        else expect(['before', after]).toContain(found);
      }
      rmSync(data, { recursive: true, force: true });
    }),
    { numRuns },
  );
});

it('of a hundred changes by several at once all are there, in few files', LONG, async () => {
  const data = mkdtempSync(join(tmpdir(), 'setpoint-suspensions-'));
  const suspension = { at: '2026-03-01T12:00:00.000Z', reason: 'x', until: null };
  const one = async (process: number): Promise<void> => {
    const file = new SuspensionFile(data);
    for (let turn = 0; turn < 20; turn += 1)
      await file.change([`e${process}-${turn}`], turn % 2 === 0 ? suspension : null, turn);
  };
  const watcher = new SuspensionFile(data);
  await watcher.refresh();
  await Promise.all([0, 1, 2, 3, 4].map(one));
  expect([...(await watcher.refresh())].toSorted()).toHaveLength(50);
  expect(await watcher.refresh()).toEqual([]);
  for (let process = 0; process < 5; process += 1)
    for (let turn = 0; turn < 20; turn += 1)
      expect([turn, watcher.of(`e${process}-${turn}`, 0) !== null]).toEqual([turn, turn % 2 === 0]);
  expect(readdirSync(join(data, 'suspensions')).length).toBeLessThanOrEqual(20);
  rmSync(data, { recursive: true, force: true });
});
