import { describe, expect, it } from 'vitest';
import { listPlanChanges } from '../../../src/reconciler/model/plan.ts';
import type { PlanTerms } from '../../../src/reconciler/plan/settings-part.ts';
import { NOTHING_KNOWN } from '../../../src/reconciler/plan/plan-settings.ts';
import { observedOf } from '../../fixture/observed.ts';
import { declared, environmentPlanned } from './declared.ts';

const RECORD = { language: 'en', llm_api_key_set: true, search_api_key_set: false };
const SETTINGS = 'language: en\nllm_api_key: "${env:A}"';

const { rotation } = NOTHING_KNOWN;
const allowed: PlanTerms['allowed'] = [];

function terms(settings: string, more: Partial<PlanTerms> = {}, blocks = ''): PlanTerms {
  const desired = declared(settings, { A: 'a', B: 'b', A_TOO: 'a' }, blocks);
  const { fingerprints } = NOTHING_KNOWN;
  return { desired, base: null, rotation, allowed, fingerprints, ...more };
}

const observed = observedOf(RECORD);
const first = environmentPlanned(terms(SETTINGS), observed);

describe('the plan of an environment that is observed as another one', () => {
  it.each(['', '# a comment'])('is the same object if it declares the same', (blocks) => {
    const found = environmentPlanned(terms(SETTINGS, {}, blocks), observed);
    expect(found.plan[0]).toBe(first.plan[0]);
    expect(found.observed).toBe(observed);
  });

  it.each<[string, PlanTerms]>([
    ['another value', terms(SETTINGS.replace('en', 'de'))],
    ['one field less', terms('language: en')],
    ['one field more', terms(`${SETTINGS}\nllm_model: m`)],
    ['a list', terms(`${SETTINGS}\nmcp_config: { sse_servers: [] }`)],
    ['another secret', terms(SETTINGS.replace('A', 'B'))],
    ['the same secret by another name', terms(SETTINGS.replace('A', 'A_TOO'))],
    ['a secret without a value', terms(SETTINGS.replace('A', 'MISSING'))],
    ['an unmanaged field', terms(SETTINGS, {}, 'unmanaged: [language]')],
    ['a rotation', terms(SETTINGS, { rotation: 'all' })],
    ['a fingerprint', terms(SETTINGS, { fingerprints: { compare: () => 'same' } })],
    ['another fingerprint', terms(SETTINGS, { fingerprints: { compare: () => 'different' } })],
  ])('is its own with %s', (_, other) => {
    const alone = environmentPlanned(other, observedOf(RECORD));
    for (let turn = 0; turn < 2; turn += 1) {
      const found = environmentPlanned(other, observed);
      expect({ ...found, observed: null }).toEqual({ ...alone, observed: null });
      expect(found.plan[0]).not.toBe(first.plan[0]);
    }
  });

  it.each<[string, PlanTerms]>([
    ['guards', terms(SETTINGS, {}, 'guards: { frozen: "for now" }')],
    ['an earlier file', terms(SETTINGS, { base: declared('language: de') })],
    ['a guard that is lifted', terms(SETTINGS, { allowed: ['max-changes'] })],
  ])('is judged by itself with %s', (_, other) => {
    const alone = environmentPlanned(other, observedOf(RECORD));
    expect({ ...environmentPlanned(other, observed), observed: null }).toEqual({
      ...alone,
      observed: null,
    });
  });

  it('is its own if another secret was last written to its service', () => {
    const service = observedOf({ ...RECORD, language: 'en' });
    const known = (last: 'none' | 'different') =>
      terms(SETTINGS, { fingerprints: { compare: () => last } });
    for (const last of ['none', 'different', 'none', 'different'] as const) {
      const { plan } = environmentPlanned(known(last), service);
      expect(listPlanChanges(plan)).toHaveLength(last === 'different' ? 1 : 0);
    }
  });

  it('has the places of its own file where it changes something', () => {
    const service = observedOf({ ...RECORD, language: 'de' });
    const lines = ['', '# a line\n# and another'].map((blocks) => {
      const { plan } = environmentPlanned(terms(SETTINGS, {}, blocks), service);
      return listPlanChanges(plan)[0]?.source?.line ?? 0;
    });
    expect(lines[1]).toBeGreaterThan(lines[0] ?? 0);
  });
});
