import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import {
  driftHtml,
  failureHtml,
  outcomeHtml,
  planHtml,
  validationHtml,
} from '../../../src/reconciler/render/html/pages.ts';
import { markup, markupSource, STYLE_SHEET } from '../../../src/reconciler/render/html/page.ts';
import { replaceEnvironments } from '../../../src/reconciler/model/summary.ts';
import { outcomeText } from '../../../src/reconciler/render/section-text.ts';
import {
  change,
  diagnostic,
  environment,
  outcome,
  outcomeOf,
  planOf,
  validationOf,
} from '../../fixture/documents.ts';
import {
  attribute,
  documentOf,
  elementsOf,
  named,
  ofClass,
  textOf,
} from '../../fixture/html-tree.ts';
import { OUTCOMES, renderedBy } from '../../fixture/scenarios.ts';

const PLAIN = { color: false, width: null, verbose: false };
const RENDERED = renderedBy({
  plan: planHtml,
  drift: driftHtml,
  apply: outcomeHtml,
  validate: validationHtml,
  failure: failureHtml,
});

describe('markup', () => {
  it('takes no value for markup that a file can hold', () => {
    const forged = JSON.parse('{"source":"<b>","Symbol(source)":"<b>"}') as string;
    expect(() => markupSource(markup`${forged}`)).toThrow(TypeError);
    expect(markupSource(markup`${[markup`<b>`, '<b>', [7, null]]}`)).toBe('<b>&lt;b&gt;7');
  });
});

describe('the address of a run', () => {
  it.each(['http://ci.example/', 'javascript:alert(1)', 'https://me@ci.example/', '/run', 'x'])(
    'is text if it is %s',
    (url) => {
      const tree = documentOf(planHtml(planRunAt(url)));
      expect(elementsOf(tree, named('a'))).toEqual([]);
      expect(elementsOf(tree, named('dd')).map(textOf)).toContain(url);
    },
  );
});

describe('every page', () => {
  it.each(RENDERED)('is whole by itself and loads nothing (%s)', (_, document, render) => {
    const tree = documentOf((render as (document: object) => string)(document));
    const [policy] = elementsOf(tree, (element) => attribute(element, 'http-equiv') !== undefined);
    const [style] = elementsOf(tree, named('style'));
    if (policy === undefined || style === undefined) throw new Error('no policy or no style');
    const digest = createHash('sha256').update(textOf(style)).digest('base64');
    expect(attribute(policy, 'content')).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`,
    );
    expect(textOf(style)).not.toMatch(/url\(|@import|@font-face/);
  });

  it.each(RENDERED)('can be found the way through (%s)', (_, document, render) => {
    const tree = documentOf((render as (document: object) => string)(document));
    const [html] = elementsOf(tree, named('html'));
    expect(html === undefined ? null : attribute(html, 'lang')).toBe('en');
    const levels = elementsOf(tree, named('h1', 'h2', 'h3')).map(({ tagName }) =>
      Number(tagName.slice(1)),
    );
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    for (const [index, level] of levels.entries())
      expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1);
    const ids = elementsOf(tree).flatMap((element) => attribute(element, 'id') ?? []);
    for (const section of elementsOf(tree, named('section', 'nav'))) {
      const by = attribute(section, 'aria-labelledby');
      expect(by === undefined ? attribute(section, 'aria-label') : ids).toSatisfy(
        (label) => by === undefined || (label as string[]).includes(by),
      );
    }
  });
});

describe('the counts', () => {
  it.each(Object.entries(OUTCOMES))(
    'agree with the text of the same outcome (%s)',
    (_, document) => {
      const tree = documentOf(outcomeHtml(document));
      expect(elementsOf(tree, ofClass('sentence')).map(textOf)).toEqual(
        document.environments.map((one) =>
          lastLine(outcomeText(replaceEnvironments(document, [one]), PLAIN)),
        ),
      );
    },
  );

  it('list what could not be compared, and what an apply cannot change', () => {
    const unknown = ['a', 'b'].map((name) => ({ path: [name], reason: 'unread', ref: null }));
    const tree = documentOf(
      planHtml(planOf(environment({ unknown }), environment({ status: 'differs' }))),
    );
    expect(elementsOf(tree, ofClass('sentence')).map(textOf)).toEqual([
      'Not as declared, and an apply cannot change that: see the warnings.',
      'No changes. 2 values could not be compared.',
    ]);
    expect(elementsOf(tree, ofClass('name')).map(textOf)).toEqual(['a', 'b']);
  });
});

describe('a value', () => {
  it('opens if it is long, and is there whole', () => {
    const [short, long] = ['x'.repeat(20), 'y'.repeat(500)];
    const tree = documentOf(
      planHtml(planOf(environment({ changes: [change({ before: short, after: long })] }))),
    );
    const folds = elementsOf(tree, named('details'));
    expect(folds.map((fold) => elementsOf(fold, named('summary')).map(textOf))).toEqual([
      [expect.stringMatching(/^"y+…" \(\d+ more characters\)$/)],
    ]);
    expect(whole(tree)).toEqual([JSON.stringify(short), JSON.stringify(long)]);
  });

  it('is not compared line by line if that would take long', () => {
    const lines = (mark: string): string[] => Array.from({ length: 30_000 }, (_, i) => mark + i);
    const [before, after] = [lines('a'), lines('b')];
    const tree = documentOf(
      planHtml(planOf(environment({ changes: [change({ before, after })] }))),
    );
    expect(elementsOf(tree, named('pre'))).toEqual([]);
    expect(whole(tree)).toEqual([JSON.stringify(before), JSON.stringify(after)]);
  });

  it('that is sensitive is shown by its reason', () => {
    const secret = change({ before: '(sensitive)', after: '(sensitive)', sensitive: true });
    const tree = documentOf(planHtml(planOf(environment({ changes: [secret] }))));
    expect(elementsOf(tree, named('ins', 'del'))).toEqual([]);
    expect(elementsOf(tree, ofClass('soft')).map(textOf)).toContain('differs · settings.yaml:6:13');
  });
});

describe('what to type', () => {
  it('names the targets that differ, as a shell takes them', () => {
    const changes = [change()];
    const document = planOf(
      environment({ name: 'eu' }),
      environment({ name: 'us', changes }),
      environment({ name: "a'b; rm -rf $HOME", changes }),
    );
    expect(commandsOf(planHtml(document))).toEqual([
      `setpoint apply -e us -e 'a'\\''b; rm -rf $HOME'`,
    ]);
    expect(commandsOf(driftHtml(planOf(environment({ changes }))))).toEqual([
      'setpoint apply -e production',
      'setpoint pull -e production',
    ]);
    expect(commandsOf(planHtml(planOf(environment())))).toEqual([]);
  });

  function commandsOf(page: string): string[] {
    return elementsOf(documentOf(page), named('code'))
      .map(textOf)
      .filter((text) => text.startsWith('setpoint'));
  }
});

it('a problem shows its place, what it is, what to do and its code', () => {
  const tree = documentOf(validationHtml(validationOf(diagnostic())));
  expect(elementsOf(tree, ofClass('rows')).map((one) => textOf(one).trim().split(/\n+/))).toEqual([
    [
      '✗ error',
      'There is no field lnguage.',
      'Did you mean language?',
      'settings.yaml:6:3 · unknown-key',
    ],
  ]);
});

it('a change has its result, and a started sandbox its id', () => {
  const started = change({ resource: 'sandbox', path: ['default', '#1'], action: 'start' });
  const tree = documentOf(
    outcomeHtml(
      outcomeOf(
        outcome({
          changes: [
            { ...change(), result: 'verified' },
            { ...started, result: 'verified', sandbox: 'a1b2' },
            { ...change({ path: ['agent'] }), result: 'not-sent' },
          ],
        }),
      ),
    ),
  );
  expect(elementsOf(tree, ofClass('chip')).map(textOf)).toEqual([
    '✓ applied',
    '~ change',
    '✓ verified',
    '+ start',
    '✓ a1b2, started',
    '~ change',
    '· no longer needed',
  ]);
});

describe('the colours', () => {
  const css = markupSource(STYLE_SHEET);
  const [light = '', dark = '', print = ''] = css.split(':root {').slice(1);

  it.each([
    ['light', light],
    ['dark', dark],
    ['print', print],
  ])('contrast with their ground (%s)', (_, theme) => {
    const block = theme.slice(0, theme.indexOf('}'));
    const colors = Object.fromEntries(
      [...block.matchAll(/--([a-z-]+): (#[0-9a-f]+)/g)].map(([, name = '', hex = '']) => [
        name,
        hex,
      ]),
    );
    const tones = ['good', 'warn', 'bad', 'note'];
    const pairs = [
      ...['page', 'card'].flatMap((ground) =>
        ['text', 'soft', 'link'].map((text) => [text, ground]),
      ),
      ...['text', 'soft'].map((text) => [text, 'code']),
      ...tones.flatMap((tone) => ['text', 'soft', tone].map((text) => [text, `${tone}-fill`])),
    ];
    for (const [text = '', ground = ''] of pairs)
      expect([text, ground, contrast(colors[text] ?? '', colors[ground] ?? '') >= 4.5]).toEqual([
        text,
        ground,
        true,
      ]);
  });

  /** The ratio that WCAG 2 asks to be 4.5 at least. */
  function contrast(one: string, other: string): number {
    const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  function luminance(hex: string): number {
    const digits = hex.length === 4 ? hex.replaceAll(/[0-9a-f]/g, '$&$&') : hex;
    const [red = Number.NaN, green = Number.NaN, blue = Number.NaN] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(digits.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }
});

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

/** Every value of a page, unfolded. */
function whole(tree: ReturnType<typeof documentOf>): string[] {
  const shortened = new Set(
    elementsOf(tree, named('summary')).flatMap((summary) => elementsOf(summary, ofClass('value'))),
  );
  return elementsOf(tree, ofClass('value'))
    .filter((value) => !shortened.has(value))
    .map(textOf);
}

function planRunAt(url: string): PlanDocument {
  return { ...planOf(environment()), run: { actor: null, commit: null, url } };
}
