import { describe, expect, it } from 'vitest';
import type { GuardSettings, Refusal, Rule } from '../../../src/reconciler/model/guard.ts';
import type { Path } from '../../../src/reconciler/model/path.ts';
import type { Plan, Unknown } from '../../../src/reconciler/model/plan.ts';
import {
  guardWarnings,
  refusalError,
  collectRefusals,
} from '../../../src/reconciler/plan/guard.ts';
import { change, NO_GUARDS, observed, planOf } from './hand-made.ts';

const MOVE = change(['llm_base_url'], {
  before: 'https://a.example.com',
  after: 'https://b.example.com',
});
const IMAGE = change(['sandbox_base_container_image'], { before: 'a', after: 'b' });
const SETTINGS = observed({ llm_base_url: 'https://a.example.com', llm_api_key_set: true });

function guarded(plan: Plan, on: readonly Rule[], more: Partial<GuardSettings> = {}) {
  return { plan, observed: SETTINGS, guards: { ...NO_GUARDS, on: new Set(on), ...more } };
}

const rules = (found: readonly { rule: string }[]) => found.map(({ rule }) => rule);
const messages = (found: readonly { message: string }[]) => found.map(({ message }) => message);

describe('a rule that is on', () => {
  const both = guarded(planOf([MOVE, IMAGE]), ['move-endpoint', 'run-code']);

  it('refuses what it finds, and is no warning as well', () => {
    expect(rules(collectRefusals(both, []))).toEqual(['move-endpoint', 'run-code']);
    expect(guardWarnings(both, [])).toEqual([]);
  });

  it('warns if it is lifted', () => {
    expect(rules(collectRefusals(both, ['run-code']))).toEqual(['move-endpoint']);
    const warnings = guardWarnings(both, ['run-code']);
    expect(warnings).toMatchObject([{ code: 'guard', path: ['sandbox_base_container_image'] }]);
    expect(warnings[0]?.message).toMatch(/sandbox_base_container_image.* \(run-code\)$/);
  });

  it('warns if it is off', () => {
    const off = guarded(planOf([MOVE, IMAGE]), []);
    expect(collectRefusals(off, [])).toEqual([]);
    expect(messages(guardWarnings(off, []))).toEqual([
      expect.stringMatching(/ \(move-endpoint\)$/),
      expect.stringMatching(/ \(run-code\)$/),
    ]);
  });
});

describe('a rule that is forbidden', () => {
  const forbidden = new Map<Rule, string>([['run-code', 'The SettingsPolicy teams']]);
  const both = guarded(planOf([MOVE, IMAGE]), ['move-endpoint', 'run-code'], { forbidden });

  it('refuses although a flag would lift it, says by whom, and offers no flag', () => {
    const refusals = collectRefusals(both, ['move-endpoint', 'run-code']);
    expect(rules(refusals)).toEqual(['run-code']);
    expect(refusals[0]?.message).toMatch(/The SettingsPolicy teams forbids it\.$/);
    expect(refusalError(refusals)?.hint).not.toContain('--allow');
  });

  it('is no warning beside that', () => {
    expect(rules(collectRefusals(both, ['move-endpoint']))).toEqual(['run-code']);
    expect(messages(guardWarnings(both, ['move-endpoint', 'run-code']))).toEqual([
      expect.stringMatching(/ \(move-endpoint\)$/),
    ]);
  });
});

describe('a frozen environment', () => {
  const frozen = { frozen: 'the year is closed' };

  it('refuses every plan, first of all reasons, and no flag lifts that', () => {
    const refusals = collectRefusals(guarded(planOf([MOVE]), ['move-endpoint'], frozen), []);
    expect(rules(refusals)).toEqual(['frozen', 'move-endpoint']);
    expect(refusals[0]).toEqual({
      rule: 'frozen',
      message: 'Nothing may be written: the year is closed.',
      hint: 'No flag lifts this; remove guards.frozen from the file when it is over.',
      path: [],
    });
  });

  it('does not refuse an empty plan', () => {
    expect(collectRefusals(guarded(planOf([]), ['empty-store'], frozen), [])).toEqual([]);
  });
});

it('an empty plan is no matter of a guard: not even of an empty store', () => {
  const empty = { ...guarded(planOf([]), ['empty-store']), observed: observed({}, false) };
  expect(collectRefusals(empty, [])).toEqual([]);
  expect(guardWarnings(empty, [])).toEqual([]);
});

describe('drift that cannot be told', () => {
  const warned = (
    plan: Plan,
    on: readonly Rule[] = ['overwrite-drift'],
    allowed: readonly Rule[] = [],
  ) => messages(guardWarnings(guarded(plan, on), allowed));
  const language = change(['language']);

  it('is a warning while the rule is on', () => {
    expect(warned(planOf([language]))).toEqual([
      'Without --base, setpoint cannot distinguish drift from edits: this may overwrite drift. (overwrite-drift)',
    ]);
    expect(warned(planOf([language]), [])).toEqual([]);
    expect(warned(planOf([language]), ['overwrite-drift'], ['overwrite-drift'])).toEqual([]);
  });

  it('is none if a base has told it for any change, or nothing changes', () => {
    expect(warned(planOf([language, change(['agent'], { class: 'pending' })]))).toEqual([]);
    expect(warned(planOf([]))).toEqual([]);
  });
});

describe('a reference that was not resolved', () => {
  const noted = (
    path: Path,
    on: readonly Rule[],
    ref: string | null = '${env:A}',
    allowed: readonly Rule[] = [],
  ) => {
    const unknown: Unknown[] = [{ path, reason: 'the variable A is not set', ref }];
    return messages(guardWarnings(guarded(planOf([], { unknown }), on), allowed));
  };
  const ALL: readonly Rule[] = ['move-endpoint', 'run-code', 'disable-safety'];

  it.each<[Path, Rule | null]>([
    [['llm_base_url'], 'move-endpoint'],
    [['sandbox_base_container_image'], 'run-code'],
    [['sandbox_runtime_container_image'], 'run-code'],
    [['confirmation_mode'], 'disable-safety'],
    [['security_analyzer'], 'disable-safety'],
    [['mcp_config', 'stdio_servers', 'files', 'args', '0'], 'run-code'],
    [['mcp_config', 'sse_servers', 'https://a.example.com'], null],
    [['language'], null],
  ])('of %j may be refused by %s', (path, rule) => {
    const says = 'comes from a reference that was not resolved: an apply may be refused.';
    expect(noted(path, ALL)).toEqual(
      rule === null ? [] : [expect.stringContaining(`${says} (${rule})`)],
    );
  });

  it('is no warning if the rule is off or lifted, or no reference is the reason', () => {
    const path = ['llm_base_url'];
    expect(noted(path, ['move-endpoint'])).toEqual([
      'llm_base_url comes from a reference that was not resolved: an apply may be refused. (move-endpoint)',
    ]);
    expect(noted(path, ['run-code'])).toEqual([]);
    expect(noted(path, ALL, '${env:A}', ['move-endpoint'])).toEqual([]);
    expect(noted(path, ALL, null)).toEqual([]);
  });
});

describe('the error of a refused apply', () => {
  const refusal = (
    rule: Refusal['rule'],
    message: string,
    hint = `If this is intended, apply with --allow ${rule}.`,
  ): Refusal => ({ rule, message, hint, path: [] });

  it('is none without refusals', () => expect(refusalError([])).toBeNull());

  it('has every message, and one flag for each rule that a flag lifts', () => {
    const error = refusalError([
      refusal('run-code', 'A program.'),
      refusal('run-code', 'An image.'),
      refusal('clear-secret', 'A key.'),
    ]);
    expect(error?.code).toBe('guard-refused');
    expect(error?.message).toBe(
      'A program. (rule run-code) An image. (rule run-code) A key. (rule clear-secret)',
    );
    expect(error?.hint).toBe(
      'If this is intended, apply with --allow run-code --allow clear-secret.',
    );
  });

  it('has the hints of rules that have their own, each once, and no flag for them', () => {
    const own = [
      refusal('frozen', 'Frozen.', 'Wait.'),
      refusal('lose-unreadable', 'A key.', 'Declare the keys.'),
      refusal('lose-unreadable', 'A token.', 'Declare the keys.'),
    ];
    expect(refusalError(own)?.hint).toBe('Wait. Declare the keys.');
    expect(refusalError([...own, refusal('run-code', 'A program.')])?.hint).toBe(
      'Wait. Declare the keys. If this is intended, apply with --allow run-code.',
    );
  });

  it('lists ten, and counts the rest', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        refusal('lose-unreadable', `Finding ${index}.`, `Hint ${index}.`),
      );
    const ten = refusalError(many(10));
    expect(ten?.message).toMatch(/Finding 9\. \(rule lose-unreadable\)$/);
    const twelve = refusalError(many(12));
    expect(twelve?.message).toMatch(
      /Finding 9\. \(rule lose-unreadable\) And 2 more: setpoint plan lists them all\.$/,
    );
    expect(twelve?.hint).toMatch(/Hint 9\.$/);
  });
});
