import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPath } from '../../../src/model/path.ts';
import { SANDBOX_ACTIONS, SETTINGS_ACTIONS, type PlanDocument } from '../../../src/model/plan.ts';
import {
  driftHtml,
  failureHtml,
  outcomeHtml,
  planHtml,
  validationHtml,
} from '../../../src/render/html/pages.ts';
import { markup, markupSource } from '../../../src/render/html/markup.ts';
import { STYLE_SHEET } from '../../../src/render/html/style-sheet.ts';
import { nestedDiff } from '../../../src/render/values.ts';
import { outcomeText, planText } from '../../../src/render/section-text.ts';
import { visible } from '../../../src/render/visible.ts';
import {
  change,
  diagnostic,
  environment,
  outcome,
  outcomeOf,
  planOf,
  validationOf,
} from '../../fixture/documents.ts';
import { hostile as inert, twins } from '../../fixture/hostile.ts';
import {
  attribute,
  documentOf,
  elementsOf,
  named,
  ofClass,
  shapeOf,
  textOf,
} from '../../fixture/html-tree.ts';
import { FAILURES, OUTCOMES, PLANS, VALIDATIONS } from '../../fixture/scenarios.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';

const PLAIN = { color: false, width: null, verbose: false };

const BREAK_OUTS = [
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title><script>alert(1)</script>',
  '</style><style>*{display:none}</style>',
  '</pre></code></details></section></main></body></html>',
  '<!--',
  '--!>',
  '<![CDATA[',
  ']]>',
  '<?php ?>',
  '<base href=https://evil.example>',
  '<svg/onload=alert(1)>',
  '<iframe srcdoc="x">',
  '<meta http-equiv=refresh content=0;url=https://evil.example>',
  '<plaintext>',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'https://evil.example/"onclick="alert(1)',
  '&lt;b&gt;',
  '&#0;',
  '&quot',
  '\u0000<',
  '\uD83D',
  '#environment-1',
  '${markup}',
];
const hostile = fc.oneof(
  inert,
  fc
    .array(fc.oneof(fc.constantFrom(...BREAK_OUTS), inert), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join('')),
);

const RENDERED: readonly (readonly [string, object, (document: never) => string])[] = [
  ...Object.entries(PLANS).flatMap(([name, document]) => [
    [`plan: ${name}`, document, planHtml] as const,
    [`drift: ${name}`, document, driftHtml] as const,
  ]),
  ...Object.entries(OUTCOMES).map(
    ([name, document]) => [`apply: ${name}`, document, outcomeHtml] as const,
  ),
  ...Object.entries(VALIDATIONS).map(
    ([name, document]) => [`validate: ${name}`, document, validationHtml] as const,
  ),
  ...Object.entries(FAILURES).map(
    ([name, document]) => [`failure: ${name}`, document, failureHtml] as const,
  ),
];

describe('markup', () => {
  it('holds a value as text, between tags and in an attribute', () => {
    fc.assert(
      fc.property(hostile, (value) => {
        const page = `<!doctype html><title>x</title>${markupSource(markup`<p title="${value}">${value}</p>`)}`;
        const paragraphs = elementsOf(documentOf(page), named('p'));
        expect(paragraphs.map(({ attrs }) => attrs)).toEqual([
          [{ name: 'title', value: visible(value) }],
        ]);
        expect(paragraphs.flatMap(({ childNodes }) => childNodes.map(textOf)).join('')).toBe(
          visible(value),
        );
        expect(elementsOf(documentOf(page)).map(({ tagName }) => tagName)).toEqual([
          'html',
          'head',
          'title',
          'body',
          'p',
        ]);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  it('takes no value for markup that a file can hold', () => {
    const forged = JSON.parse('{"source":"<b>","Symbol(source)":"<b>"}') as string;
    expect(() => markupSource(markup`${forged}`)).toThrow(TypeError);
    expect(markupSource(markup`${[markup`<b>`, '<b>', [7, null]]}`)).toBe('<b>&lt;b&gt;7');
  });
});

const ELEMENTS = new Set(
  'html head meta title style body header nav main section footer h1 h2 h3 p ul li div dl dt dd details summary pre span code strong del ins time a'.split(
    ' ',
  ),
);
const ATTRIBUTES = new Set(
  'lang charset name content http-equiv class id href rel datetime aria-label aria-labelledby'.split(
    ' ',
  ),
);

describe('a page of hostile strings', () => {
  it.each(RENDERED)('has the elements of a harmless one (%s)', (_, document, render) => {
    const renderAny = render as (document: object) => string;
    fc.assert(
      fc.property(fc.infiniteStream(hostile), (strings) => {
        const [filled, twin] = twins(document, () => String(strings.next().value));
        const page = renderAny(withoutLink(filled));
        const tree = documentOf(page);
        expect(shapeOf(tree)).toEqual(shapeOf(documentOf(renderAny(withoutLink(twin)))));
        const elements = elementsOf(tree);
        expect(elements.filter(({ tagName }) => !ELEMENTS.has(tagName))).toEqual([]);
        const attributes = elements.flatMap(({ attrs }) => attrs.map(({ name }) => name));
        expect(attributes.filter((name) => !ATTRIBUTES.has(name))).toEqual([]);
        const ids = elements.flatMap((element) => attribute(element, 'id') ?? []);
        expect(new Set(ids).size).toBe(ids.length);
        for (const link of elements.flatMap((element) => attribute(element, 'href') ?? []))
          expect(ids.map((id) => `#${id}`)).toContain(link);
        const lines = textOf(tree)
          .split('\n')
          .map((line) => `|${line}`);
        expect(lines.map(visible)).toEqual(lines);
        expect(page).not.toMatch(/^\s*::|##\[/m);
      }),
      { numRuns: 40 },
    );
  });

  it('has each string, made visible, in its place', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 16, maxLength: 16 }), (strings) => {
        const [name = '', origin = '', warning = '', message = '', hint = '', code = ''] = strings;
        const [key = '', before = '', after = '', reason = '', ref = '', file = ''] =
          strings.slice(6);
        const [commit = '', actor = '', unmanaged = '', unread = ''] = strings.slice(12);
        const plan = planOf(
          environment({
            name,
            origin,
            changes: [
              change({
                path: [key],
                before,
                after,
                reason,
                ref,
                source: { file, line: 3, column: 5 },
              }),
            ],
            warnings: [{ code: 'guard', message: warning, path: [] }],
            unknown: [{ path: [unread], reason, ref }],
            unmanaged: [[unmanaged]],
            error: { code, message, hint },
          }),
        );
        const tree = documentOf(planHtml({ ...plan, run: { commit, actor, url: null } }));
        const texts = (test: Parameters<typeof elementsOf>[1]): string[] =>
          elementsOf(tree, test).map(textOf);
        expect(texts(named('title'))).toEqual([
          `${visible(`${name}: the service could not be read`)} · setpoint plan`,
        ]);
        expect(texts(named('h2'))).toEqual([`${visible(name)} ✗ error`]);
        expect(texts(ofClass('soft'))).toEqual([
          'setpoint plan',
          visible(origin),
          visible(code),
          `${visible(reason)} · ${visible(ref)} · ${visible(file)}:3:5`,
          `${visible(reason)} · ${visible(ref)}`,
        ]);
        expect(texts(ofClass('bad'))[1]).toBe(
          `\n✗ ${visible(message)}\n${visible(hint)}\n${visible(code)}\n`,
        );
        expect(texts(ofClass('warn'))[0]).toBe(`\n! ${visible(warning)}\n`);
        expect(texts(ofClass('name'))).toEqual(
          [key, unread].map((one) => visible(formatPath([one]))),
        );
        expect(whole(tree)).toEqual([before, after].map((one) => visible(JSON.stringify(one))));
        expect(texts(named('dd')).slice(0, 2)).toEqual([visible(commit), visible(actor)]);
        expect(texts(named('li')).at(-1)).toBe(visible(formatPath([unmanaged])));
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it('shows a diff of nested values line by line', () => {
    const value = fc.dictionary(hostile, fc.oneof(hostile, fc.array(hostile)), { minKeys: 1 });
    fc.assert(
      fc.property(value, value, (before, after) => {
        const tree = documentOf(
          planHtml(planOf(environment({ changes: [change({ before, after })] }))),
        );
        expect(elementsOf(tree, named('pre')).map(textOf).join('')).toBe(
          nestedDiff(before, after, { ...PLAIN, verbose: true })
            .map((line) => `${line}\n`)
            .join(''),
        );
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});

describe('the address of a run', () => {
  it('is a link only to https, without a name and password, and its text is its address', () => {
    const address = fc.oneof(
      hostile,
      hostile.map((rest) => `https://ci.example/${rest}`),
      hostile.map((rest) => `https://${rest}`),
    );
    fc.assert(
      fc.property(address, (url) => {
        const tree = documentOf(planHtml(planRunAt(url)));
        const links = elementsOf(tree, named('a'));
        expect(links.length).toBeLessThanOrEqual(1);
        for (const link of links) {
          const target = new URL(attribute(link, 'href') ?? '');
          expect(target).toMatchObject({ protocol: 'https:', username: '', password: '' });
          expect(target.href).toBe(new URL(url).href);
          expect(textOf(link)).toBe(target.href);
          expect(attribute(link, 'rel')).toBe('noreferrer noopener');
        }
      }),
      { numRuns: propertyRuns(200) },
    );
  });

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
  it.each(RENDERED)('is self-contained and loads nothing (%s)', (_, document, render) => {
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

  it.each(RENDERED)(
    'has a heading for each level, and names its sections (%s)',
    (_, document, render) => {
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
    },
  );
});

describe('the counts', () => {
  const action = fc.constantFrom(...SETTINGS_ACTIONS, ...SANDBOX_ACTIONS);

  it('agree with the text of the same plan', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(action, { maxLength: 12 }), { maxLength: 4 }),
        (environments) => {
          const document = planOf(
            ...environments.map((actions) =>
              environment({ changes: actions.map((action) => change({ action })) }),
            ),
          );
          for (const [page, voice] of [
            [planHtml(document), 'plan'],
            [driftHtml(document), 'drift'],
          ] as const) {
            const tree = documentOf(page);
            expect(elementsOf(tree, ofClass('sentence')).map(textOf)).toEqual(
              document.environments.map((one) => lastLine(planText(planOf(one), PLAIN, voice))),
            );
            expect(elementsOf(tree, ofClass('name'))).toHaveLength(environments.flat().length);
            expect(elementsOf(tree, named('nav')).length).toBe(environments.length > 1 ? 1 : 0);
          }
        },
      ),
      { numRuns: propertyRuns(60) },
    );
  });

  it.each(Object.entries(OUTCOMES))(
    'agree with the text of the same outcome (%s)',
    (_, document) => {
      const tree = documentOf(outcomeHtml(document));
      expect(elementsOf(tree, ofClass('sentence')).map(textOf)).toEqual(
        document.environments.map((one) =>
          lastLine(outcomeText({ ...document, environments: [one] }, PLAIN)),
        ),
      );
    },
  );

  it('include what could not be compared, and what an apply cannot change', () => {
    const unknown = ['a', 'b'].map((name) => ({ path: [name], reason: 'unread', ref: null }));
    const tree = documentOf(
      planHtml(planOf(environment({ unknown }), environment({ status: 'differs' }))),
    );
    expect(elementsOf(tree, ofClass('sentence')).map(textOf)).toEqual([
      'No changes. 2 values could not be compared: a, b',
      'Not as declared, and an apply cannot change that: see the warnings.',
    ]);
    expect(elementsOf(tree, ofClass('name')).map(textOf)).toEqual(['a', 'b']);
  });
});

describe('a value', () => {
  it('opens if it is long, and is complete', () => {
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

  it('that is sensitive is replaced by its reason', () => {
    const secret = change({ before: '(sensitive)', after: '(sensitive)', sensitive: true });
    const tree = documentOf(planHtml(planOf(environment({ changes: [secret] }))));
    expect(elementsOf(tree, named('ins', 'del'))).toEqual([]);
    expect(elementsOf(tree, ofClass('soft')).map(textOf)).toContain('differs · settings.yaml:6:13');
  });
});

describe('what to type', () => {
  it('names the environments that differ, as a shell takes them', () => {
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

it('a problem has its place, what it is, what to do and its code', () => {
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

it('a change has its result, and a sandbox that was started its id', () => {
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
  ])('are told apart from their ground (%s)', (_, theme) => {
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

/** The one address that may be a link is taken out: a hostile one may be https. */
function withoutLink<T extends object>(document: T): T {
  return 'run' in document
    ? { ...document, run: { ...(document.run as object), url: 'word' } }
    : document;
}
