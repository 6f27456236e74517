import { describe, expect, it } from 'vitest';
import { driftAnnotations } from '../../../src/reconciler/render/github/annotations.ts';
import { driftHtml } from '../../../src/reconciler/render/html/pages.ts';
import { driftMarkdown } from '../../../src/reconciler/render/markdown/comments.ts';
import { planText } from '../../../src/reconciler/render/section-text.ts';
import { change, environment, planOf } from '../../fixture/documents.ts';
import { PLANS } from '../../fixture/scenarios.ts';

const PLAIN = { color: false, width: null, verbose: false };
const FORMATS = [
  ['text', (document) => planText(document, PLAIN, 'drift')],
  ['markdown', driftMarkdown],
  ['html', driftHtml],
  ['github', driftAnnotations],
] as const satisfies readonly (readonly [
  string,
  (document: ReturnType<typeof planOf>) => string,
])[];

describe.each(FORMATS)('drift as %s names the two sides of every difference', (name, render) => {
  it.each([
    ['of a text', change({ before: 'fr', after: 'en' })],
    [
      'of another name',
      change({
        resource: 'LLM profile',
        path: ['llm_profiles', 'prod'],
        action: 'rename',
        before: 'main',
        after: 'prod',
        reason: 'renamed from main',
      }),
    ],
    ['of one that is not set there', change({ action: 'set', before: null, after: 'en' })],
    ['of one to be cleared', change({ action: 'clear', before: 'en', after: null })],
    [
      'of a secret',
      change({ action: 'rotate', before: '(sensitive)', after: '(sensitive)', sensitive: true }),
    ],
    ['of a block', change({ before: { a: 1 }, after: { a: 2 } })],
    [
      'of an entry that only the service has',
      change({ action: 'remove', before: { a: 1 }, after: null }),
    ],
    [
      'of a sandbox',
      change({
        resource: 'sandbox',
        path: ['x'],
        action: 'pause',
        before: 'RUNNING',
        after: 'PAUSED',
      }),
    ],
  ])('%s', (_, one) => {
    const shown = render(planOf(environment({ changes: [one] }))).toLowerCase();
    expect(shown).toContain('in the file');
    expect(shown).toContain('on the service');
    expect(shown).not.toMatch(/\bfrom \||\| to \||→|will be/);
  });

  it('of a value that holds a secret, without showing it', () => {
    const tainted = change({
      before: '(sensitive)',
      after: '(sensitive)',
      sensitive: true,
      code: 'differs',
      reason: 'differs',
    });
    const shown = render(planOf(environment({ changes: [tainted] })));
    expect(shown).toContain('another value');
    expect(shown).not.toMatch(/on the service +differs/);
  });

  it('in every scenario, and claims nothing of what an apply would do', () => {
    for (const document of Object.values(PLANS)) {
      const shown = render(document);
      expect(shown).not.toMatch(/\d to (set|change|clear|remove|rotate|start|resume|pause)\b|→/);
      expect(shown).not.toMatch(/will be (set|cleared|removed|rotated|started|resumed|paused)/);
    }
  });

  it('counts pending edits and drift separately', () => {
    const edit = change({ class: 'pending' });
    const drift = change({ path: ['agent'], class: 'drift' });
    const counts = (...changes: Parameters<typeof change>[0][]) =>
      render(planOf(environment({ changes: changes as (typeof edit)[] })));
    if (name === 'github') return;
    expect(counts(edit, { ...edit, path: ['agent'] })).toMatch(/no drift[.,] 2 pending edits/i);
    expect(counts(edit, { ...edit, path: ['agent'] })).not.toMatch(/Drift: \d/);
    expect(counts(edit, drift)).toMatch(/1 difference[.,] 1 pending edit/);
  });
});
