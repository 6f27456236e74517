import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fieldNamed } from '../../../src/reconciler/model/field.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import type { DesiredState } from '../../../src/reconciler/model/state.ts';
import { createRecord, type Value } from '../../../src/reconciler/model/value.ts';
import { planSettings } from '../../../src/reconciler/plan/plan-settings.ts';
import type { Rotation } from '../../../src/reconciler/plan/declared.ts';
import { bodyOf, observedOf } from '../../fixture/observed.ts';

const REFERENCE = new Secret('new-value', '${env:LLM_API_KEY}');

function desired(name: string, value: Value): DesiredState {
  const field = fieldNamed(name);
  if (field === undefined) throw new Error(name);
  const source = () => ({ file: 'settings.yaml', line: 3, column: 5 });
  return {
    fields: [{ field, value, source }],
    missing: [],
    unmanaged: [],
    items: new Map(),
    guards: { on: new Set(), maxChanges: null, frozen: null },
  };
}

function planned(
  flag: boolean | undefined,
  declared: Value | undefined,
  known: 'same' | 'different' | 'none',
  rotation: Rotation = [],
  more: DesiredState['fields'] = [],
  shown?: string,
) {
  const record = createRecord([
    ['llm_api_key', null],
    ...(flag === undefined ? [] : [['llm_api_key_set', flag] as const]),
  ]);
  const state = desired('llm_api_key', declared ?? null);
  return planSettings(
    { ...state, fields: [...(declared === undefined ? [] : state.fields), ...more] },
    {
      ...observedOf(record),
      ...(shown === undefined ? {} : { revealed: new Map([['llm_api_key', new Secret(shown)]]) }),
    },
    { rotation, fingerprints: { compare: () => known } },
  );
}

/** What a write that something else makes necessary carries of the field. */
function sentWith(...given: Parameters<typeof planned>): Value | undefined {
  const [flag, declared, known, rotation, , shown] = given;
  const { fields } = desired('language', 'en');
  return planned(flag, declared, known, rotation, fields, shown).write?.fields['llm_api_key'];
}

/** The rows of the table in docs/secrets.md. */
const ROWS = readFileSync(join(import.meta.dirname, '../../../docs/secrets.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| (any|yes|no|not reported|compared: \w+) \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

const STORED = ['yes', 'no', 'not reported', 'compared: equal', 'compared: differs'] as const;

const SHOWN: Readonly<Record<string, string>> = {
  'compared: equal': 'new-value',
  'compared: differs': 'other',
};

const CASES = STORED.flatMap((stored) =>
  (['same', 'different', 'none'] as const).flatMap((known) =>
    (['reference', 'null', 'no'] as const).flatMap((declared) =>
      (['yes', 'no'] as const).map((rotate) => ({ stored, known, declared, rotate })),
    ),
  ),
);

describe('a password field: flag × fingerprint × declared × rotate', () => {
  it.each(CASES)(
    'stored: $stored, last written: $known, declared: $declared, rotate: $rotate',
    ({ stored, known, declared, rotate }) => {
      const given = [stored, known, declared, rotate];
      const fits = ROWS.filter((row) =>
        given.every((value, index) => row[index + 1] === value || row[index + 1] === 'any'),
      );
      expect(fits).toHaveLength(1);
      const [, , , , , action, words, written] = fits[0] ?? [];
      const flag = stored === 'not reported' ? undefined : stored !== 'no';
      const shown = SHOWN[stored];
      const value = { reference: REFERENCE, null: null, no: undefined }[declared];
      const plan = planned(flag, value, known, rotate === 'yes' ? 'all' : [], [], shown);
      expect(plan.changes.map((change) => change.action)).toEqual(action === '–' ? [] : [action]);
      expect([...plan.changes, ...plan.unknown].map(({ reason }) => reason)).toEqual(
        words === '–' ? [] : [words],
      );
      const always = written?.endsWith('along with every write') === true;
      const sent = sentWith(flag, value, known, rotate === 'yes' ? 'all' : [], [], shown);
      expect(sent).toBe(
        written === 'left out'
          ? undefined
          : written?.startsWith('the value') === true
            ? REFERENCE
            : '',
      );
      expect(always && action !== '–').toBe(false);
    },
  );

  it('is never part of a body that does not list it: neither as null nor as what a load answered', () => {
    const record = createRecord([
      ['language', 'en'],
      ['llm_api_key', new Secret('**********')],
      ['llm_api_key_set', true],
      ['search_api_key', null],
    ]);
    const plan = planSettings(desired('language', 'fr'), observedOf(record), {
      rotation: [],
      fingerprints: { compare: () => 'none' },
    });
    expect(Object.keys(bodyOf(plan) ?? {})).toEqual(['language']);
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

describe('sandbox_api_key, which no answer ever shows', () => {
  const KEY = new Secret('new-value', '${env:SANDBOX_KEY}');
  const change = desired('language', 'fr').fields;
  const observed = (record: Record<string, Value>) => observedOf(record);
  const options = { rotation: [], fingerprints: { compare: () => 'none' as const } };
  const plan = (value: Value, more: DesiredState['fields'], language = 'en') => {
    const state = desired('sandbox_api_key', value);
    return planSettings(
      { ...state, fields: [...more, ...state.fields] },
      observed({ language }),
      options,
    );
  };

  it.each([
    ['null', null, null, []],
    ['a reference', KEY, KEY, ['not-kept']],
  ])('declared as %s is no change, and sent with every write', (_, value, sent, codes) => {
    const silent = plan(value, []);
    expect(silent).toMatchObject({ changes: [], unknown: [], unpreservable: [], write: null });
    expect(silent.warnings.map(({ code }) => code)).toEqual(codes);
    const writing = plan(value, change);
    expect(writing).toMatchObject({ unknown: [], unpreservable: [] });
    expect(writing.changes.map(({ path }) => path)).toEqual([['language']]);
    expect(bodyOf(writing)).toHaveProperty('sandbox_api_key', sent);
  });

  it('undeclared is lost by a write, without a warning: servers keep none that works', () => {
    const undeclared = { ...desired('language', 'fr'), fields: change };
    const plans = ['fr', 'en'].map((language) =>
      planSettings(undeclared, observed({ language }), options),
    );
    expect(plans.map(({ warnings }) => warnings)).toEqual([[], []]);
    expect(plans.map(({ unpreservable }) => unpreservable)).toMatchObject([
      [],
      [{ path: ['sandbox_api_key'], stops: 'protected' }],
    ]);
  });
});
