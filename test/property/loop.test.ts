import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { readTargets } from '../../src/reconciler/desired/target.ts';
import { resolveSettings } from '../../src/reconciler/desired/resolve.ts';
import { fieldNamed, fields } from '../../src/reconciler/model/field.ts';
import { listPlanChanges, listPlanUnknowns } from '../../src/reconciler/model/plan.ts';
import { ACTIONS } from '../../src/reconciler/model/action.ts';
import type { DesiredState, ObservedState } from '../../src/reconciler/model/state.ts';

import { planSummary } from '../../src/reconciler/model/summary.ts';
import { planSettings } from '../../src/reconciler/plan/plan-settings.ts';
import { environmentPlan } from '../../src/reconciler/plan/plan-environment.ts';
import { environmentPlanned } from '../unit/plan/declared.ts';
import { outcomeText, planText } from '../../src/reconciler/render/section-text.ts';
import { apply } from '../../src/reconciler/operations/apply.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import {
  anySemantics,
  ENVIRONMENT,
  honestSemantics,
  leaks,
  sparseSettings,
  storedRecord,
} from '../fixture/arbitrary.ts';
import { bodyOf, observedOf } from '../fixture/observed.ts';
import { quickClock } from '../fixture/settings.ts';
import { loaded, RECORDED, startStore, type JsonRecord } from '../fixture/store-server.ts';
import { itHolds } from '../fixture/property-runs.ts';
import { omitDoubtful } from '../fixture/omit-doubtful.ts';

const OPTIONS = { rotation: [], fingerprints: { compare: () => 'none' as const } };
const STYLE = { color: false, width: null, verbose: true };

function observed(stored: JsonRecord): ObservedState {
  return observedOf(loaded(stored, RECORDED));
}

/** A state that declares exactly what a record holds. */
function asDesired(state: ObservedState): DesiredState {
  const declared = fields().filter(
    (field) =>
      field.readable && state.values[field.name] !== undefined && field.name !== 'secrets_store',
  );
  const source = () => ({ file: 'settings.yaml', line: 1, column: 1 });
  return {
    fields: declared.map((field) => ({ field, value: state.values[field.name] ?? null, source })),
    missing: [],
    unmanaged: [],
    items: new Map(),
    guards: { on: new Set(), maxChanges: null, frozen: null },
  };
}

function textOf(settings: JsonRecord, url: string): string {
  return JSON.stringify({
    version: 1,
    server: { url, api_key: '${env:SETPOINT_API_KEY}' },
    settings,
  });
}

describe('pure', () => {
  itHolds('a plan of a state against itself is empty', 40, (numRuns) => {
    fc.assert(
      fc.property(storedRecord, (stored) => {
        const state = observed(stored);
        expect(planSettings(asDesired(state), state, OPTIONS).changes).toEqual([]);
      }),
      { numRuns },
    );
  });

  itHolds(
    'the body of a write differs from what was read only if the file declares something',
    40,
    (numRuns) => {
      fc.assert(
        fc.property(storedRecord, sparseSettings, (stored, settings) => {
          const state = observed(stored);
          const { targets, diagnostics } = readTargets(
            { path: 'settings.yaml', text: textOf(settings, 'https://x.example.com'), bases: [] },
            { serverGiven: false, several: false },
          );
          expect(omitDoubtful(diagnostics)).toEqual([]);
          const [target] = targets;
          if (target === undefined) throw new Error('no target');
          const source = {
            variable: (name: string) => (ENVIRONMENT as Record<string, string>)[name],
            file: () => ({ problem: 'none' }),
          };
          const record = bodyOf(planSettings(resolveSettings(target, source), state, OPTIONS));
          for (const [name, value] of Object.entries(record ?? {})) {
            if (!(name in settings)) expect(value, name).toEqual(state.answer[name]);
            expect(
              fieldNamed(name)?.setFlag === undefined ||
                fieldNamed(name)?.setFlag === null ||
                name in settings,
            ).toBe(true);
          }
          for (const name of Object.keys(state.answer)) {
            const field = fieldNamed(name);
            const sentBack = field === undefined ? !name.endsWith('_set') : field.readable;
            if (record !== null && sentBack) expect(Object.keys(record)).toContain(name);
          }
        }),
        { numRuns },
      );
    },
  );
});

describe('over real HTTP', () => {
  itHolds(
    'after an apply the plan is empty, and no field outside it has changed',
    40,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(
          storedRecord,
          sparseSettings,
          honestSemantics,
          async (stored, settings, semantics) => {
            const store = await startStore(semantics, structuredClone(stored));
            try {
              const asked = {
                text: textOf(settings, store.url),
                env: ENVIRONMENT,
                clock: quickClock(),
                allow: ['lose-unreadable'],
              };
              const [outcome] = (await apply(asked)).environments;
              const untouched = Object.keys(stored).filter(
                (name) => !(name in settings) && name !== 'sandbox_api_key',
              );
              for (const name of untouched)
                expect(store.stored?.[name], name).toEqual(stored[name]);
              if (outcome?.status === 'not-converged') {
                // Only a store that keeps a value on null may end so, and only for what was declared as null.
                expect(semantics.onNull).toBe('keep');
                for (const { path } of outcome.remaining)
                  expect(settings[path[0] ?? ''] ?? null).toBeNull();
                return;
              }
              expect(outcome).toMatchObject({ error: null });
              const posts = store.posts();
              const [again] = (await apply(asked)).environments;
              expect(again).toMatchObject({ status: 'in-sync', changes: [] });
              expect(store.posts()).toBe(posts);
            } finally {
              await store.close();
            }
          },
        ),
        { numRuns },
      );
    },
  );

  itHolds(
    'no secret is in any rendering, and nothing hidden is lost without being allowed',
    40,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(
          storedRecord,
          sparseSettings,
          anySemantics,
          async (stored, settings, semantics) => {
            const store = await startStore(semantics, structuredClone(stored));
            try {
              const asked = {
                text: textOf(settings, store.url),
                env: ENVIRONMENT,
                clock: quickClock(),
              };
              const planned = await plan(asked);
              expect(store.posts()).toBe(0);
              const outcome = await apply({
                ...asked,
                rotate: 'llm_api_key' in settings ? ['llm_api_key'] : undefined,
              });
              const shown = [
                planText(planned, STYLE),
                JSON.stringify(planned),
                outcomeText(outcome, STYLE),
                JSON.stringify(outcome),
              ].join('\n');
              expect(leaks(shown)).toBe(false);
              for (const name of ['llm_api_key', 'search_api_key'] as const) {
                if (!(name in settings)) expect(store.stored?.[name]).toEqual(stored[name]);
              }
              if (!('mcp_config' in settings))
                expect(store.stored?.['mcp_config']).toEqual(stored['mcp_config']);
              expect(JSON.stringify(store.stored)).not.toContain('*****');
            } finally {
              await store.close();
            }
          },
        ),
        { numRuns },
      );
    },
  );
});

itHolds('planSummary counts what its environments hold', 40, (numRuns) => {
  fc.assert(
    fc.property(storedRecord, storedRecord, (one, other) => {
      const terms = { ...OPTIONS, desired: asDesired(observed(one)), base: null, allowed: [] };
      const planned = environmentPlanned(terms, observed(other));
      const about = { name: 'x', origin: null, observed_at: null, digests: null };
      const environment = environmentPlan(planned, about, []);
      const summary = planSummary([environment]);
      const actions = ACTIONS.map((action) => summary[action]);
      expect(actions.reduce((sum, count) => sum + count, 0)).toBe(
        listPlanChanges(planned.plan).length,
      );
      expect(summary.environments.total).toBe(1);
      expect(summary.unknown).toBe(listPlanUnknowns(planned.plan).length);
    }),
    { numRuns },
  );
});
