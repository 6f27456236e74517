import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../../../src/reconciler/render/github/annotations.ts';
import { change, environment, planOf } from '../../fixture/documents.ts';
import { commandsIn } from '../../fixture/runner-command.ts';

describe('of several environments', () => {
  it('what would be refused and what would be lost come first', () => {
    const many = Array.from(
      { length: 12 },
      () => ({ code: 'sandbox-busy', message: 'busy', path: [] }) as const,
    );
    const document = planOf(
      environment({ name: 'a', changes: [change()], warnings: many }),
      environment({
        name: 'b',
        changes: [change({ action: 'remove' })],
        refusals: [{ rule: 'clear-secret', message: 'refused', hint: 'do not', path: ['agent'] }],
      }),
      environment({ name: 'c', error: { code: 'unreachable', message: 'down', hint: 'up' } }),
    );
    const annotations = commandsIn(planAnnotations(document)).map((command) => [
      command?.name,
      command?.properties['title'],
    ]);
    expect(annotations.slice(0, 3)).toEqual([
      ['error', 'Plan: b'],
      ['error', 'Plan: c'],
      ['warning', 'Plan: b'],
    ]);
    expect(annotations.at(-1)).toEqual(['notice', 'Plan: a']);
  });
});
