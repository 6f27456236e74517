import { expect, it } from 'vitest';
import {
  listPlanChanges,
  type Change,
  type PartPlan,
  type PlanDocument,
} from '../../../src/reconciler/model/plan.ts';
import type { DesiredState } from '../../../src/reconciler/model/state.ts';
import { Redactor, SharedValues } from '../../../src/reconciler/model/redactor.ts';
import { redactDocument } from '../../../src/reconciler/model/redacted.ts';
import { agreementAfter, sinceAgreement } from '../../../src/reconciler/plan/agreement.ts';
import { alreadyMade, notCovered } from '../../../src/reconciler/plan/approval.ts';
import { digestDeclaredChanges } from '../../../src/reconciler/plan/declared.ts';
import { environmentPlan, planHead } from '../../../src/reconciler/plan/plan-environment.ts';
import { classifyChanges } from '../../../src/reconciler/plan/three-way.ts';
import { NOTHING_KNOWN } from '../../../src/reconciler/plan/plan-settings.ts';
import { planSummary } from '../../../src/reconciler/model/summary.ts';
import {
  type ManagedResource,
  type ReconcileInput,
} from '../../../src/reconciler/reconcile/contract.ts';
import { observeAndPlan } from '../../../src/reconciler/reconcile/observe-and-plan.ts';
import { sameResult, createUnsentEnd } from '../../../src/reconciler/reconcile/resource-end.ts';
import { reconcile } from '../../../src/reconciler/reconcile/reconcile.ts';
import { SETTINGS_RESOURCE } from '../../../src/reconciler/resources/settings/resource.ts';
import { PLAIN } from '../../../src/reconciler/render/text.ts';
import { planText } from '../../../src/reconciler/render/section-text.ts';
import { digestsUnder } from '../../../src/reconciler/host/digests.ts';
import { declared } from '../plan/declared.ts';
import { refused, scripted } from './scripted.ts';

/** A resource that nothing outside of this file knows: lamps that are on or off, each by its name. */
function lamps(wanted: Readonly<Record<string, string>>, service: Map<string, string>) {
  const LAMPS: ManagedResource = {
    name: 'lamp',
    block: 'lamps',
    items: {
      declared: () => new Map(Object.entries(wanted)),
      of: ({ path: [, name = ''] }) => name,
    },
    terms: ({ changes }) => changes.map(({ path }) => wanted[path[1] ?? '']),
    read: async () => part,
    write: async (_, { changes }) => {
      for (const { path, after } of changes)
        service.set(path[1] ?? '', JSON.stringify(after).slice(1, -1));
      return {
        ...createUnsentEnd(changes, []),
        status: 'applied',
        results: sameResult(changes, 'verified'),
      };
    },
  };
  const part = (): PartPlan => ({
    resource: LAMPS,
    changes: Object.entries(wanted).flatMap(([name, state]): Change[] => {
      const before = service.get(name) ?? null;
      if (before === state) return [];
      const own = { resource: 'lamp', path: ['lamps', name], sensitive: false, ref: null };
      const action = before === null ? 'set' : 'change';
      return [{ ...own, action, before, after: state, reason: 'differs', source: null }];
    }),
    unknown: [],
    warnings: [],
    unmet: wanted['broken'] === undefined ? [] : [BROKEN],
    unmanaged: [...service.keys()].flatMap((name) => (name in wanted ? [] : [['lamps', name]])),
    gone: [],
    unpreservable: [],
    work: null,
  });
  return LAMPS;
}

const BROKEN = {
  code: 'sandbox-gone',
  message: 'The lamp is broken.',
  hint: 'Buy one.',
  path: [],
} as const;
const CANARY = 'canary-value';
const NO_FIELDS = declared('language: null');

function inputOf(
  wanted: Readonly<Record<string, string>>,
  service: Map<string, string>,
  more: Partial<ReconcileInput> = {},
  desired: DesiredState = NO_FIELDS,
): ReconcileInput {
  const resources = [SETTINGS_RESOURCE, lamps(wanted, service)];
  return scripted(desired, { shows: [{}], more: { resources, ...more } }).input;
}

const ABOUT = { name: 'x', origin: null, observed_at: null };
const DIGESTS = digestsUnder('00');

it('a resource that nothing else knows is planned, shown, counted and written', async () => {
  const service = new Map([
    ['hall', 'off'],
    ['attic', 'on'],
  ]);
  const input = inputOf({ hall: 'on', porch: 'on' }, service);
  const environment = environmentPlan(await observeAndPlan(input), { ...ABOUT, digests: null }, []);
  expect(environment).toMatchObject({
    status: 'differs',
    changes: [{ path: ['lamps', 'hall'], before: 'off' }, { action: 'set' }],
    unmanaged: [['lamps', 'attic']],
  });
  const environments = [environment];
  const summary = planSummary(environments);
  expect(summary).toMatchObject({ set: 1, change: 1, environments: { differs: 1 } });
  const run = { actor: null, commit: null, url: null };
  const head = planHead(0, { shard: null, strict: undefined, salt: null });
  const document: PlanDocument = { ...head, environments, run, summary };
  const text = planText(document, PLAIN);
  expect(text).toContain('~ lamps.hall: "off" → "on"');
  expect(text).toContain('Plan: 1 to set, 1 to change.');
  const end = await reconcile(input);
  expect(end).toMatchObject({ status: 'applied', error: null });
  expect([...end.results.values()]).toEqual(['verified', 'verified']);
  expect(Object.fromEntries(service)).toEqual({ hall: 'on', porch: 'on', attic: 'on' });
  expect(await reconcile(input)).toMatchObject({ status: 'in-sync' });
});

it('is judged by the guards that count changes', async () => {
  const desired = declared('language: null', {}, 'guards: { max_changes: 1 }');
  const service = new Map<string, string>();
  const end = await reconcile(inputOf({ hall: 'on', porch: 'on' }, service, {}, desired));
  expect(end).toMatchObject({ status: 'refused', refusals: [{ rule: 'max-changes' }] });
  expect(service.size).toBe(0);
});

it('is an error where something of it is not available', async () => {
  const service = new Map([['broken', 'on']]);
  const end = await reconcile(inputOf({ broken: 'on' }, service));
  expect(end).toMatchObject({ status: 'partial', error: { message: 'The lamp is broken.' } });
});

it('is left alone if the settings could not be written, and keeps what is unknown of it', async () => {
  const service = new Map<string, string>();
  const desired = declared('language: fr');
  const resource = lamps({ hall: 'on' }, service);
  const unknown = [{ path: ['lamps', 'porch'], reason: 'dark', ref: null }];
  const resources: readonly ManagedResource[] = [
    SETTINGS_RESOURCE,
    {
      ...resource,
      read: async (...of) => {
        const plan = await resource.read(...of);
        return plan === null ? null : (earlier) => ({ ...plan(earlier), unknown });
      },
    },
  ];
  const answers = [refused(false, true)];
  const { input } = scripted(desired, {
    shows: [{ language: 'en' }],
    answers,
    more: { resources },
  });
  const end = await reconcile(input);
  expect(end).toMatchObject({ status: 'failed', unknown });
  expect([...end.results.values()]).toEqual(['not-sent', 'not-sent']);
  expect(service.size).toBe(0);
});

it('is masked as the settings are', async () => {
  const planned = await observeAndPlan(inputOf({ hall: CANARY }, new Map()));
  const values = new SharedValues();
  values.add(CANARY);
  const redactor = new Redactor(values);
  const shown = redactDocument(environmentPlan(planned, { ...ABOUT, digests: null }, []), redactor);
  expect(JSON.stringify(shown)).not.toContain(CANARY);
});

it('is approved change by change, by what the file declares for each', async () => {
  const planOf = async (wanted: Readonly<Record<string, string>>) => {
    const planned = await observeAndPlan(inputOf(wanted, new Map()));
    const changes = digestDeclaredChanges(planned.plan, NO_FIELDS, DIGESTS);
    const digests = { address: null, changes };
    return { planned, part: environmentPlan(planned, { ...ABOUT, digests }, []) };
  };
  const saved = await planOf({ hall: 'on' });
  const approved = { part: saved.part, digests: DIGESTS, redactor: new Redactor() };
  const other = await planOf({ hall: 'dim' });
  const more = await planOf({ hall: 'on', porch: 'on' });
  expect(notCovered(saved.planned.plan, NO_FIELDS, approved)).toBeNull();
  expect(notCovered(other.planned.plan, NO_FIELDS, approved)?.message).toContain('lamps.hall');
  expect(notCovered(more.planned.plan, NO_FIELDS, approved)?.message).toContain('lamps.porch');
  const done = await planOf({});
  expect(alreadyMade(done.planned.plan, NO_FIELDS, approved)).toMatchObject([
    { path: ['lamps', 'hall'] },
  ]);
});

it('drifts if the service has changed, and is pending if the file has', async () => {
  const service = new Map([['hall', 'on']]);
  const classesOf = async (wanted: Readonly<Record<string, string>>) => {
    const { plan, observed } = await observeAndPlan(inputOf(wanted, service));
    const agreement = agreed.agreement;
    const since = sinceAgreement({ address: 'a', agreement }, 'a', DIGESTS);
    const found = since.classify(plan, NO_FIELDS, observed);
    return listPlanChanges(found).map((change) => change.class);
  };
  const first = await observeAndPlan(inputOf({ hall: 'on' }, service));
  const compared = { desired: NO_FIELDS, address: 'a', ...first };
  const agreed = { agreement: agreementAfter(compared, null, DIGESTS) };
  expect(await classesOf({ hall: 'dim' })).toEqual(['pending']);
  service.set('hall', 'off');
  expect(await classesOf({ hall: 'on' })).toEqual(['drift']);
  const { plan, observed } = await observeAndPlan(inputOf({ hall: 'on' }, service));
  const withBase = classifyChanges(plan, NO_FIELDS, NO_FIELDS, observed, NOTHING_KNOWN);
  expect(listPlanChanges(withBase)).toMatchObject([{ class: 'drift' }]);
});
