import { describe, expect, it } from 'vitest';
import type { EnvironmentPlan } from '../../../src/reconciler/model/plan.ts';
import type { WatchState } from '../../../src/reconciler/model/watch.ts';
import {
  formatStateVersion,
  type TargetResource,
} from '../../../src/controller/cluster/target-resource.ts';
import {
  isYetToRead,
  computeTargetStatus,
  type TargetState,
} from '../../../src/controller/cluster/status.ts';
import { createMergePatch } from '../../../src/controller/cluster/status-writer.ts';
import { approvalDigest } from '../../../src/controller/watch/healing.ts';
import { notReadState } from '../../../src/controller/watch/environment-state.ts';
import { kstatusOf } from '../../fixture/kstatus.ts';
import { mergePatch as patched } from '../../fixture/merge-patch.ts';

const NOW = '2026-03-01T12:00:00Z';
const UID = '3e1f0a52-0000-4000-8000-000000000000';

const CHANGE = {
  resource: 'settings',
  path: ['language'],
  action: 'set',
  before: null,
  after: 'en',
  sensitive: false,
  source: null,
};

function planWith(members: object): EnvironmentPlan {
  const empty = { changes: [], unknown: [], refusals: [], warnings: [], error: null };
  return { ...empty, ...members } as unknown as EnvironmentPlan;
}

function objectWith(spec: object, metadata: object = {}): TargetResource {
  return {
    metadata: { name: 'production', namespace: 'agents', uid: UID, generation: 3, ...metadata },
    spec: { server: { url: 'https://agents.example.com' }, mode: 'Observe', ...spec },
  };
}

function stateWith(members: Partial<WatchState>): WatchState {
  const read = {
    found: 'in-sync',
    commit: formatStateVersion(3, UID),
    lastRead: NOW,
    digest: 'd',
  } as const;
  return { ...notReadState('agents/production', NOW), ...read, ...members };
}

function knownWith(members: Partial<TargetState>): TargetState {
  const nothing = {
    isRead: true,
    invalid: null,
    waiting: null,
    handled: null,
    notHealed: null,
    rivals: [],
    applied: [],
  };
  return { object: objectWith({}), state: stateWith({}), ...nothing, ...members };
}

const differs = { found: 'drift', plan: planWith({ changes: [CHANGE] }) } as const;
const refusal = { rule: 'run-code', message: 'It would run code.', hint: '', path: [] };
const failed = (code: string) =>
  ({
    found: 'error',
    plan: planWith({ error: { code, message: 'It failed.', hint: '' } }),
  }) as const;
const apply = objectWith({ mode: 'Apply' });

/** How an environment is watched whose plans need approval: this one has it. */
function approving(digest: string): WatchState['settings'] {
  const { settings } = notReadState('agents/production', NOW);
  return { ...settings, mode: 'heal', approvals: { covers: (one) => one === digest } };
}

/** The table of what a status says: Ready, its reason, Drifted, and what kstatus makes of it. */
const SITUATIONS: readonly (readonly [
  name: string,
  known: Partial<TargetState>,
  ready: string,
  reason: string,
  drifted: string | null,
  kstatus: string,
])[] = [
  ['just seen', { state: null }, 'Unknown', 'Progressing', 'Unknown', 'InProgress'],
  [
    'watched, and not read',
    { state: stateWith({ found: 'not-read' }) },
    'Unknown',
    'Progressing',
    'Unknown',
    'InProgress',
  ],
  [
    'read as it was before',
    { state: stateWith({ commit: formatStateVersion(2, UID) }) },
    'Unknown',
    'Progressing',
    'Unknown',
    'InProgress',
  ],
  ['in sync', {}, 'True', 'InSync', 'False', 'Current'],
  ['differs, observed', { state: stateWith(differs) }, 'True', 'Observed', 'True', 'Current'],
  [
    'differs, applied',
    { object: apply, state: stateWith(differs) },
    'False',
    'Applying',
    'True',
    'InProgress',
  ],
  [
    'refused',
    {
      object: apply,
      state: stateWith({
        found: 'refused',
        plan: planWith({ changes: [CHANGE], refusals: [refusal] }),
      }),
    },
    'False',
    'Refused',
    'True',
    'Failed',
  ],
  [
    'refused, observed',
    {
      state: stateWith({
        found: 'refused',
        plan: planWith({ changes: [CHANGE], refusals: [refusal] }),
      }),
    },
    'True',
    'Observed',
    'True',
    'Current',
  ],
  [
    'not the plan that is approved',
    {
      object: apply,
      state: stateWith({ ...differs, settings: approving('sha256:0') }),
    },
    'False',
    'NotCovered',
    'True',
    'Failed',
  ],
  [
    'the plan that is approved',
    {
      object: apply,
      state: stateWith({ ...differs, settings: approving(approvalDigest({ digest: 'd' })) }),
    },
    'False',
    'Applying',
    'True',
    'InProgress',
  ],
  [
    'healing has stopped',
    {
      object: apply,
      state: stateWith({
        ...differs,
        stopped: { at: NOW, path: 'language', reason: 'Something else writes it.' },
      }),
    },
    'False',
    'Stopped',
    'True',
    'Failed',
  ],
  [
    'the service refuses the write',
    {
      object: apply,
      state: stateWith({
        ...differs,
        healFailed: { at: NOW, count: 1, isRefused: true, code: 'rejected', message: 'No.' },
      }),
    },
    'False',
    'Refused',
    'True',
    'Failed',
  ],
  [
    'unreachable',
    { state: stateWith(failed('unreachable')) },
    'False',
    'Unreachable',
    'Unknown',
    'InProgress',
  ],
  [
    'asked to wait',
    { state: stateWith(failed('rate-limited')) },
    'False',
    'Unreachable',
    'Unknown',
    'InProgress',
  ],
  [
    'forbidden',
    { state: stateWith(failed('unauthorized')) },
    'False',
    'Forbidden',
    'Unknown',
    'Failed',
  ],
  [
    'a Secret is missing',
    { state: stateWith(failed('reference-missing')) },
    'False',
    'Invalid',
    'Unknown',
    'Failed',
  ],
  [
    'not valid',
    { state: null, invalid: { reason: 'Invalid', message: 'line 1' } },
    'False',
    'Invalid',
    'Unknown',
    'Failed',
  ],
  [
    'not allowed by a policy',
    { state: null, invalid: { reason: 'Forbidden', message: 'no' } },
    'False',
    'Forbidden',
    'Unknown',
    'Failed',
  ],
  [
    'suspended before it was read',
    { object: objectWith({ suspend: true }), state: null },
    'Unknown',
    'Suspended',
    null,
    'InProgress',
  ],
];

describe('the status of a SettingsTarget that is', () => {
  it.each(SITUATIONS)('%s', (_, members, ready, reason, drifted, kstatus) => {
    const known = knownWith(members);
    const status = computeTargetStatus(known, NOW);
    const of = (type: string) => status.conditions.find((one) => one.type === type);
    expect([of('Ready')?.status, of('Ready')?.reason]).toEqual([ready, reason]);
    expect(of('Drifted')?.status ?? null).toBe(drifted);
    expect(kstatusOf({ ...known.object, status })).toBe(kstatus);
    // Viewers take Ready and Reconciling together as a contradiction.
    expect(of('Ready')?.status === 'True' && of('Reconciling')?.status === 'True').toBe(false);
    for (const { observedGeneration } of status.conditions) expect(observedGeneration).toBe(3);
    for (const type of ['Reconciling', 'Stalled']) expect(of(type)?.status ?? 'True').toBe('True');
  });

  it('not read since its spec changed keeps the generation that was', () => {
    const object = { ...objectWith({}), status: { observedGeneration: 2 } };
    const status = computeTargetStatus(
      knownWith({ object, state: stateWith({ commit: formatStateVersion(2, UID) }) }),
      NOW,
    );
    expect(status.observedGeneration).toBe(2);
  });

  it('suspended keeps what was said of it', () => {
    const before = computeTargetStatus(knownWith({ state: stateWith(differs) }), NOW);
    const object = { ...objectWith({ suspend: true }), status: before };
    const status = computeTargetStatus(
      knownWith({ object: object as never, state: null }),
      '2026-03-01T13:00:00Z',
    );
    const ready = status.conditions.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({ status: 'True', reason: 'Observed', lastTransitionTime: NOW });
    expect(status.conditions.find(({ type }) => type === 'Suspended')?.status).toBe('True');
    expect(status.plan).toEqual(before.plan);
  });

  it('suspended by a command says by whom, and why', () => {
    const before = computeTargetStatus(knownWith({ state: stateWith(differs) }), NOW);
    const object = { ...objectWith({ mode: 'Apply' }), status: before };
    const by = { at: NOW, reason: 'migration', until: null, by: 'Ada' };
    const state = stateWith({ ...differs, suspended: by });
    const status = computeTargetStatus(knownWith({ object: object as never, state }), NOW);
    const of = (type: string) => status.conditions.find((one) => one.type === type);
    expect(of('Suspended')).toMatchObject({
      status: 'True',
      message: 'Nothing is written: migration (by Ada)',
    });
    expect([of('Ready')?.reason, of('Stalled'), of('Reconciling')]).toEqual([
      'Observed',
      undefined,
      undefined,
    ]);
  });

  it('partly not comparable says so beside', () => {
    const unknown = [{ path: ['llm_api_key'], reason: 'r', ref: null, kind: 'stored' }];
    const status = computeTargetStatus(
      knownWith({ state: stateWith({ plan: planWith({ unknown }) }) }),
      NOW,
    );
    expect(status.conditions.find(({ type }) => type === 'Verified')).toMatchObject({
      status: 'False',
      message: '1 value could not be compared: llm_api_key.',
    });
    const [ready] = status.conditions;
    expect(ready).toMatchObject({ type: 'Ready', status: 'True', reason: 'SecretsNotCompared' });
    expect(ready?.message).toContain('1 secret value could not be compared: llm_api_key.');
    expect(status.sync).toBe('Unknown');
  });

  it('says first which values are missing, and why', () => {
    const stored = { path: ['search_api_key'], reason: 'r', ref: null, kind: 'stored' };
    const reason = 'there is no Secret llm in the namespace agents';
    const missing = { path: ['llm_api_key'], reason, ref: '${…}', kind: 'missing' };
    const plan = planWith({ unknown: [stored, missing] });
    const status = computeTargetStatus(knownWith({ state: stateWith({ plan }) }), NOW);
    expect(status.conditions.find(({ type }) => type === 'Verified')?.message).toBe(
      `2 values could not be compared: llm_api_key (${reason}), search_api_key.`,
    );
  });

  it('of thousands of changes lists 50 at most, in 16 KiB', () => {
    const changes = Array.from({ length: 3000 }, (__, index) => ({
      ...CHANGE,
      path: ['secrets', `NAME_${index}`],
      after: 'x'.repeat(5000),
    }));
    const { plan } = computeTargetStatus(
      knownWith({ state: stateWith({ found: 'drift', plan: planWith({ changes }) }) }),
      NOW,
    );
    expect(plan?.changes).toBe(3000);
    expect(plan?.items.length).toBe(50);
    expect(JSON.stringify(plan?.items).length).toBeLessThan(16 * 1024);
  });

  it('never has a value of a change that is sensitive', () => {
    const change = { ...CHANGE, sensitive: true, before: 'PLANTED', after: 'PLANTED' };
    const state = stateWith({ found: 'drift', plan: planWith({ changes: [change] }) });
    expect(JSON.stringify(computeTargetStatus(knownWith({ state }), NOW))).not.toContain('PLANTED');
  });
});

describe('the patch of a status', () => {
  it.each([
    [{}, { a: 1 }],
    [{ a: 1, b: { c: 1, d: 2 } }, { b: { c: 3 } }],
    [{ list: [1, 2] }, { list: [] }],
    [{ plan: { digest: 'x' } }, {}],
  ])('from %j makes %j', (before, after) => {
    expect(patched(before, createMergePatch(before, after))).toEqual(after);
  });
});

it('an object that cannot be reached and waits for its turn says both', () => {
  const waiting = { reason: 'WaitsForTurn', message: 'It waits for its turn.' };
  const { conditions } = computeTargetStatus(
    knownWith({ state: stateWith(failed('unreachable')), waiting }),
    NOW,
  );
  const ready = conditions.find(({ type }) => type === 'Ready');
  expect(ready?.message).toMatch(/ It waits for its turn\.$/);
});

describe('a status is left as it is', () => {
  const object = { ...objectWith({}), status: { observedGeneration: 3 } };
  const older = { ...objectWith({}), status: { observedGeneration: 2 } };
  const suspended = { ...objectWith({ suspend: true }), status: { observedGeneration: 3 } };
  const waiting = { reason: 'WaitingForPolicies', message: 'They cannot be read.' };
  const reading = { reason: 'Progressing', message: 'Reading ConfigMap settings.' };
  const inQueue = { reason: 'WaitsForTurn', message: 'It waits for its turn: other reads.' };
  const invalid = { reason: 'Invalid', message: 'It is not.' };
  it.each<[name: string, known: Partial<TargetState>, isLeft: boolean]>([
    ['after a start that remembers nothing', { object, state: null, isRead: false }, true],
    ['if this process only remembers what it found', { object, isRead: false }, true],
    ['not once the server was read', { object, isRead: true }, false],
    ['not if it is of an older object', { object: older, state: null, isRead: false }, false],
    ['not if the object became invalid', { object, isRead: false, invalid }, false],
    ['not if all objects wait for the policies', { object, isRead: false, waiting }, false],
    ['if it waits for its ConfigMap', { object, isRead: false, waiting: reading }, true],
    ['if it waits for its turn', { object, isRead: false, waiting: inQueue }, true],
    ['not if it is suspended', { object: suspended, state: null, isRead: false }, false],
  ])('%s', (_, known, isLeft) => {
    expect(isYetToRead(knownWith(known))).toBe(isLeft);
  });
});

it('ends no text within a character: it would come back as another one', () => {
  const long = `${'x'.repeat(199)}${'😀'.repeat(900)}`;
  const change = { ...CHANGE, before: 'de', after: long };
  const error = { code: 'unreachable', message: `x${long}`, hint: '' };
  const plans = [planWith({ changes: [change] }), planWith({ error })];
  for (const plan of plans) {
    const found = plan.error === null ? 'drift' : 'error';
    const text = JSON.stringify(
      computeTargetStatus(knownWith({ state: stateWith({ found, plan }) }), NOW),
    );
    expect(text).not.toMatch(/\\ud[89a-f]/);
  }
});
