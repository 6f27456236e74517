import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Result } from '../../../src/reconciler/model/outcome.ts';
import type { JournalEvent, WatchState } from '../../../src/reconciler/model/watch.ts';
import { EnvironmentRecords } from '../../../src/controller/watch/environment-records.ts';
import { newlyFound, notReadState } from '../../../src/controller/watch/environment-state.ts';
import { Journal } from '../../../src/controller/watch/journal/journal.ts';
import { IN_CHECKPOINT } from '../../../src/controller/watch/journal/journal-lines.ts';
import { change, environment as plan, outcome } from '../../fixture/documents.ts';
import { itHolds } from '../../fixture/property-runs.ts';

const NAMES = ['a', 'b'] as const;
const MINUTE = 60_000;
const T0 = Date.UTC(2026, 2, 1, 12);
const UNKNOWN = { path: ['llm_api_key'], reason: 'the service does not show it', ref: null };

const paths = fc.subarray(['language', 'agent', 'llm_model'], { minLength: 1 });
const error = fc.constantFrom('unreachable', 'settings-refused', 'interrupted').map((code) => ({
  code: code as 'unreachable',
  message: `because of ${code}`,
  hint: 'x',
}));
const plans = fc.oneof(
  fc.constant(plan()),
  fc.constant(plan({ unknown: [UNKNOWN] })),
  error.map((one) => plan({ error: one })),
  fc
    .tuple(paths, fc.constantFrom('drift', 'pending', 'conflict'), fc.string())
    .map(([of, word, before]) =>
      plan({ changes: of.map((path) => change({ path: [path], class: word, before })) }),
    ),
);
const results = fc.constantFrom<Result>('verified', 'set', 'not-sent');
const written = fc
  .record({
    by: fc.constantFrom('watch', 'apply'),
    failed: fc.option(error),
    post: fc.nat(2),
    result: results,
  })
  .map(({ by, failed, post, result }) => ({
    kind: 'write' as const,
    by,
    commit: null,
    actor: null,
    url: null,
    outcome: outcome({
      ...(failed === null ? {} : { status: 'failed', error: failed }),
      requests: { get: 1, post },
      changes: [{ ...change(), result }],
    }),
  }));
const agreement = fc
  .constantFrom('s', 't')
  .map((salt) => ({ salt, places: { p: ['d', 'e'] as const }, unmanaged: [] }));

/** What happens to an environment, after some minutes: a read, an agreement, or an event as it is recorded. */
const steps = fc.record({
  name: fc.constantFrom(...NAMES),
  minutes: fc.nat(40),
  what: fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('read' as const), plan: plans }) },
    { weight: 2, arbitrary: written },
    fc.record({ kind: fc.constant('agreed' as const), address: fc.option(fc.string()), agreement }),
    fc.record(
      {
        kind: fc.constant('writing' as const),
        paths,
        drifted: fc.subarray(['language', 'agent']),
        edited: fc.constantFrom('2026-03-01T11:00:00.000Z', '2026-03-01T12:00:00.000Z'),
        commit: fc.constant(null),
      },
      { requiredKeys: ['kind', 'paths', 'commit'] },
    ),
    fc.record({ kind: fc.constant('clock-set' as const), by: fc.integer({ min: -1e7, max: 1e7 }) }),
    fc.record({
      kind: fc.constant('healing-stopped' as const),
      path: fc.constant('language'),
      reason: fc.string(),
      cause: fc.constantFrom(undefined, 'server' as const),
    }),
    fc.record({ kind: fc.constant('resumed' as const) }),
  ),
});

/** What a restart must not change; times of heals are told anew by a controller, and the last thing that was put right is not in every file. */
function kept(state: WatchState): unknown {
  const members = [...IN_CHECKPOINT, 'agreed', 'status'] as const;
  return JSON.parse(JSON.stringify(Object.fromEntries(members.map((name) => [name, state[name]]))));
}

itHolds(
  'a state is after a restart what it was before, also if a new file of the journal has begun',
  60,
  async (numRuns) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(steps, { minLength: 1, maxLength: 60 }),
        fc.constantFrom(1, 2000, 1e9),
        async (all, bytes) => {
          const folder = mkdtempSync(join(tmpdir(), 'setpoint-fold-'));
          let now = T0;
          const journal = new Journal(folder, () => now, { bytes, age: 1e12, files: 2 });
          const tools = {
            append: (event: JournalEvent, at: number) => journal.append(event, at),
            tell: () => {},
            changed: () => {},
          };
          const live = new Map(
            NAMES.map((name) => [name, new EnvironmentRecords(notReadState(name), tools)]),
          );
          // The journal has the service of what differed once, and the address alone of what only failed.
          const differed = new Set<string>();
          try {
            for (const { name, minutes, what } of all) {
              now += minutes * MINUTE + 1;
              const records = live.get(name);
              if (records === undefined) continue;
              if (what.kind === 'read') {
                const event = newlyFound(records.state, what.plan, 'c', {
                  at: new Date(now).toISOString(),
                  isAdded: false,
                  settled: what.plan.status === 'differs' ? `${minutes}` : null,
                  digest: () => null,
                });
                // The journal has no line of a read that finds the same.
                if (event === null) continue;
                if (event.plan !== null && event.status !== 'error') differed.add(name);
                records.know({ kind: 'read', at: now, plan: what.plan, commit: 'c' });
                records.add(event, now);
                await records.flush();
              } else if (what.kind === 'agreed') {
                records.know(what);
                await journal.agree(name, what);
              } else await records.now({ ...what, environment: name }, now);
            }
            const { memory, damaged } = await new Journal(folder, () => now).remember();
            expect(damaged).toBe(0);
            for (const [name, { state }] of live) {
              const { origin } = memory.of(name);
              const unknown = { origin: origin && state.origin, dialect: null, release: null };
              const before = differed.has(name) ? state : { ...state, ...unknown };
              expect(kept(memory.of(name))).toEqual(kept(before));
            }
          } finally {
            rmSync(folder, { recursive: true, force: true });
          }
        },
      ),
      { numRuns },
    );
  },
);
