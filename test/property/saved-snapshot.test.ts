import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect } from 'vitest';
import { isWithin, type Path } from '../../src/reconciler/model/path.ts';
import type { EnvironmentPlan } from '../../src/reconciler/model/plan.ts';
import { get } from '../../src/reconciler/operations/get.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { ENVIRONMENT, leaks, sparseSettings, storedRecord } from '../fixture/arbitrary.ts';
import { folderWith } from '../fixture/command.ts';
import { quickClock } from '../fixture/settings.ts';
import {
  RECORDED,
  startStore,
  type JsonRecord,
  type StoreServer,
} from '../fixture/store-server.ts';
import { itHolds } from '../fixture/property-runs.ts';

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  store = await startStore(RECORDED);
  folder = folderWith({});
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

function textOf(settings: JsonRecord): string {
  return JSON.stringify({
    version: 1,
    server: { url: store.url, api_key: '${env:SETPOINT_API_KEY}' },
    settings,
  });
}

function only(environments: readonly EnvironmentPlan[]): EnvironmentPlan {
  const [environment] = environments;
  if (environment === undefined) throw new Error('There is a plan of one target.');
  return environment;
}

/** Whether one of the paths is this one, or a part or the whole of it. */
function speaksOf(paths: readonly { readonly path: Path }[], path: Path): boolean {
  return paths.some((other) => isWithin(path, other.path) || isWithin(other.path, path));
}

itHolds(
  'a plan against a snapshot claims nothing that an observation would not show, and lists what is unknown',
  30,
  async (numRuns) => {
    await fc.assert(
      fc.asyncProperty(
        fc.option(storedRecord),
        sparseSettings,
        sparseSettings,
        async (stored, onMain, onBranch) => {
          store.stored = stored;
          const clock = quickClock();
          const snapshot = await get({ text: textOf(onMain), env: ENVIRONMENT, clock });
          expect(leaks(JSON.stringify(snapshot))).toBe(false);
          const observed = join(folder.path, 'snapshot.json');
          writeFileSync(observed, JSON.stringify(snapshot));
          const text = textOf(onBranch);
          const live = only((await plan({ text, env: ENVIRONMENT, clock })).environments);
          const before = store.requests.length;
          const saved = only(
            (await plan({ text, env: {}, clock, snapshot: observed })).environments,
          );

          expect(store.requests.length).toBe(before);
          expect(saved.error).toBeNull();
          expect(leaks(JSON.stringify(saved))).toBe(false);
          for (const change of saved.changes) {
            const same = live.changes.filter(({ path }) => isWithin(path, change.path));
            expect(same.map(({ action }) => action)).toContain(change.action);
          }
          for (const { path } of live.changes)
            expect(speaksOf(saved.changes, path) || speaksOf(saved.unknown, path)).toBe(true);
          for (const { path } of live.unknown)
            expect(speaksOf(saved.changes, path) || speaksOf(saved.unknown, path)).toBe(true);
        },
      ),
      { numRuns },
    );
  },
);
