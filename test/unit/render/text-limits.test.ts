import { expect, it } from 'vitest';
import { diffNested } from '../../../src/reconciler/render/change.ts';
import { outcomeText, planText } from '../../../src/reconciler/render/section-text.ts';
import { visible } from '../../../src/reconciler/render/text.ts';
import { change, environment, outcome, outcomeOf, planOf } from '../../fixture/documents.ts';

const WHOLE = { color: false, width: null, verbose: true };

it('values with nothing in common are shown one after the other, without a search for what they share', () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `before ${index}`);
  const after = before.map((line) => line.replace('before', 'after'));
  const lines = diffNested(before, after, WHOLE);
  expect(lines.length).toBe(40_000);
  expect(lines[0]).toBe('- - before 0');
  expect(lines[20_000]).toBe('+ - after 0');
});

it.each([
  [' '.repeat(1_000_000), 1_000_000],
  [':'.repeat(1_000_000), 1_000_000 + 5],
  ['  ::'.repeat(250_000), 1_000_000 + 5],
])('a long run of the same is made visible in one pass', (text, length) => {
  expect(visible(text).length).toBe(length);
});

it('in full, a plan says what an Agent Server does not list of what is unmanaged', () => {
  const of = (dialect: 'agent-server' | 'app-server', verbose: boolean) =>
    planText(
      planOf(environment({ dialect, unmanaged: [['secrets', 'OTHER']] })),
      { color: false, width: null, verbose },
      'plan',
    );
  expect(of('agent-server', true)).toContain(
    'Skills, plugins, canvas extensions and agent profiles that the file',
  );
  for (const shown of [of('agent-server', false), of('app-server', true)])
    expect(shown).not.toContain('Skills, plugins');
});

it('an apply that somebody declined prints nothing besides its message, and names no way to write a secret', () => {
  const error = {
    code: 'declined',
    message: 'Cancelled. Nothing was written.',
    hint: 'x',
  } as const;
  const unknown = [
    { resource: 'settings', path: ['llm_api_key'], kind: 'stored', reason: 'set', ref: null },
  ] as const;
  const ended = outcome({
    status: 'failed',
    error,
    unknown,
    changes: [{ ...change(), result: 'not-sent' }],
  });
  const style = { color: false, width: null, verbose: false };
  expect(outcomeText(outcomeOf(ended), style)).toBe('');
  const failed = outcome({ ...ended, error: { ...error, code: 'unreachable' } });
  expect(outcomeText(outcomeOf(failed), style)).toContain('llm_api_key');
});
