import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPath } from '../../../src/reconciler/model/path.ts';
import { type PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { ACTIONS } from '../../../src/reconciler/model/action.ts';
import {
  driftHtml,
  failureHtml,
  outcomeHtml,
  planHtml,
  validationHtml,
} from '../../../src/reconciler/render/html/pages.ts';
import { markup, markupSource } from '../../../src/reconciler/render/html/page.ts';
import { diffNested } from '../../../src/reconciler/render/change.ts';
import { environmentText } from '../../../src/reconciler/render/section-text.ts';
import { visible } from '../../../src/reconciler/render/text.ts';
import { change, environment, planOf } from '../../fixture/documents.ts';
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
import { renderedBy } from '../../fixture/scenarios.ts';
import { itHolds, propertyRuns } from '../../fixture/property-runs.ts';

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

const RENDERED = renderedBy({
  plan: planHtml,
  drift: driftHtml,
  apply: outcomeHtml,
  validate: validationHtml,
  failure: failureHtml,
});

describe('markup', () => {
  itHolds('holds a value as text, between tags and in an attribute', 150, (numRuns) => {
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
      { numRuns },
    );
  });
});

const ELEMENTS = new Set(
  'html head meta title style body header nav main section footer h1 h2 h3 p ul li div dl dt dd details summary pre span code strong del ins time a table caption thead tbody tr th td'.split(
    ' ',
  ),
);
const ATTRIBUTES = new Set(
  'lang charset name content http-equiv class id href rel datetime aria-label aria-labelledby role scope colspan data-head'.split(
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
      { numRuns: propertyRuns(10) },
    );
  });

  itHolds('has each string, made visible, in its place', 30, (numRuns) => {
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
        expect(texts(named('h2'))).toEqual([`${visible(name)} ✗ failed`]);
        expect(texts(ofClass('soft'))).toEqual([
          'setpoint plan',
          `${visible(origin)}, settings-v0 0.62 or earlier`,
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
        // Two equal values say nothing: the reason stands alone.
        const values = before === after ? [] : [before, after];
        expect(whole(tree)).toEqual(values.map((one) => visible(JSON.stringify(one))));
        expect(texts(named('dd')).slice(0, 2)).toEqual([visible(commit), visible(actor)]);
        expect(texts(named('li')).at(-1)).toBe(visible(formatPath([unmanaged])));
      }),
      { numRuns, examples: [[Array<string>(16).fill('same')]] },
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
          diffNested(before, after, { ...PLAIN, verbose: true })
            .map((line) => `${line}\n`)
            .join(''),
        );
      }),
      { numRuns: propertyRuns(20) },
    );
  });
});

describe('the address of a run', () => {
  itHolds(
    'is a link only to https, without a name and password, and its text is its address',
    60,
    (numRuns) => {
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
        { numRuns },
      );
    },
  );
});

describe('the counts', () => {
  const action = fc.constantFrom(...ACTIONS);

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
            const sentences = elementsOf(tree, ofClass('sentence')).map(textOf);
            expect(sentences.toSorted()).toEqual(
              document.environments
                .map((one) =>
                  lastLine(environmentText(one, { voice, plan: document, total: 1 }, PLAIN)),
                )
                .toSorted(),
            );
            expect(elementsOf(tree, ofClass('name'))).toHaveLength(environments.flat().length);
            expect(elementsOf(tree, named('nav')).length).toBe(environments.length > 1 ? 1 : 0);
          }
        },
      ),
      { numRuns: propertyRuns(20) },
    );
  });
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
