import { describe, expect, it } from 'vitest';
import { fieldNamed } from '../../../src/model/field.ts';
import { Secret } from '../../../src/model/secret.ts';
import type { DesiredState } from '../../../src/model/state.ts';
import { recordOf, type Value } from '../../../src/model/value.ts';
import { planSettings } from '../../../src/plan/plan-settings.ts';
import type { Rotation } from '../../../src/plan/rotation.ts';

const REFERENCE = new Secret('new-value', '${env:LLM_API_KEY}');

function desired(name: string, value: Value): DesiredState {
  const field = fieldNamed(name);
  if (field === undefined) throw new Error(name);
  const source = () => ({ file: 'settings.yaml', line: 3, column: 5 });
  return {
    fields: [{ field, value, source }],
    unresolved: [],
    unmanaged: [],
    sandboxes: [],
    guards: { maxChanges: null, protected: false },
  };
}

function planned(
  flag: boolean | undefined,
  declared: Value,
  known: 'same' | 'different' | 'none',
  rotation: Rotation = [],
) {
  const record = recordOf([
    ['llm_api_key', null],
    ...(flag === undefined ? [] : [['llm_api_key_set', flag] as const]),
  ]);
  return planSettings(
    desired('llm_api_key', declared),
    { dialect: 'settings-v0', stored: true, record },
    { rotation, fingerprints: { compare: () => known } },
  );
}

describe('a password field: flag × fingerprint × declared × rotate', () => {
  it.each([
    // flag, declared, fingerprint, rotate → action, the plan's words, what is sent
    [false, REFERENCE, 'none', [], 'set', 'not set, will be set', REFERENCE],
    [false, REFERENCE, 'same', [], 'set', 'not set, will be set', REFERENCE],
    [false, null, 'none', [], null, null, undefined],
    [true, REFERENCE, 'none', [], null, 'set, origin unknown', undefined],
    [true, REFERENCE, 'same', [], null, null, undefined],
    [
      true,
      REFERENCE,
      'different',
      [],
      'rotate',
      'set, changed since last written: will be rotated',
      REFERENCE,
    ],
    [true, REFERENCE, 'none', 'all', 'rotate', 'set, will be rotated', REFERENCE],
    [true, REFERENCE, 'same', [['llm_api_key']], 'rotate', 'set, will be rotated', REFERENCE],
    [true, REFERENCE, 'none', [['search_api_key']], null, 'set, origin unknown', undefined],
    [true, null, 'none', [], 'clear', 'set, will be cleared', ''],
    [undefined, REFERENCE, 'none', [], null, 'cannot be read back', undefined],
    [undefined, REFERENCE, 'none', 'all', 'rotate', 'cannot be read back', REFERENCE],
    [undefined, null, 'none', [], null, 'cannot be read back', undefined],
    [undefined, null, 'none', 'all', 'clear', 'cannot be read back', ''],
  ] as const)(
    '%s, declared %s, %s, rotate %j',
    (flag, declared, known, rotation, action, words, sent) => {
      const plan = planned(flag, declared, known, rotation);
      expect(plan.changes.map((change) => change.action)).toEqual(action === null ? [] : [action]);
      expect([...plan.changes, ...plan.unknown].map(({ reason }) => reason)).toEqual(
        words === null ? [] : [words],
      );
      expect(plan.record?.['llm_api_key']).toBe(sent);
    },
  );

  it('is never part of a body that does not list it: neither as null nor as what a load answered', () => {
    const record = recordOf([
      ['language', 'en'],
      ['llm_api_key', new Secret('**********')],
      ['llm_api_key_set', true],
      ['search_api_key', null],
    ]);
    const plan = planSettings(
      desired('language', 'fr'),
      { dialect: 'settings-v0', stored: true, record },
      { rotation: [], fingerprints: { compare: () => 'none' } },
    );
    expect(Object.keys(plan.record ?? {})).toEqual(['language']);
  });

  it('never names its value: every string form is the mask', () => {
    const change = planned(false, REFERENCE, 'none').changes[0];
    expect(JSON.stringify(change)).not.toContain('new-value');
    expect(change).toMatchObject({
      sensitive: true,
      ref: '${env:LLM_API_KEY}',
      source: { line: 3, column: 5 },
    });
  });
});

describe('secrets_store', () => {
  const declared = recordOf([
    ['provider_tokens', recordOf([['github', recordOf([['token', REFERENCE]])]])],
  ]);
  const options = { rotation: [], fingerprints: { compare: () => 'none' as const } };
  const look = (tokens: Value) => ({
    dialect: 'settings-v0' as const,
    stored: true,
    record: recordOf([['provider_tokens_set', tokens]]),
  });

  it('is a change while provider_tokens_set does not name what is declared', () => {
    const plan = planSettings(desired('secrets_store', declared), look(recordOf([])), options);
    expect(plan.changes).toMatchObject([
      {
        path: ['secrets_store'],
        action: 'set',
        reason: 'not set: github',
        ref: '${env:LLM_API_KEY}',
      },
    ]);
    expect(plan.record?.['secrets_store']).toBe(declared);
  });

  it('is of unknown origin once it does, a host of null included', () => {
    const plan = planSettings(
      desired('secrets_store', declared),
      look(recordOf([['github', null]])),
      options,
    );
    expect(plan.changes).toEqual([]);
    expect(plan.unknown).toMatchObject([
      { path: ['secrets_store'], reason: 'set, origin unknown' },
    ]);
  });

  it('would lose a token that the file does not name', () => {
    const plan = planSettings(
      desired('secrets_store', declared),
      look(recordOf([['gitlab', 'gitlab.com']])),
      options,
    );
    expect(plan.unpreservable).toContainEqual(
      expect.objectContaining({
        path: ['secrets_store', 'provider_tokens', 'gitlab'],
        stops: 'always',
      }),
    );
  });
});
