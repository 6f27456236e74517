import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { codeSpan, prose } from '../../../src/reconciler/render/markdown/inline.ts';
import {
  driftMarkdown,
  failureMarkdown,
  outcomeMarkdown,
  planMarkdown,
  validationMarkdown,
} from '../../../src/reconciler/render/markdown/comments.ts';
import { tableRow } from '../../../src/reconciler/render/markdown/blocks.ts';
import { visible } from '../../../src/reconciler/render/text.ts';
import { hostile, twins } from '../../fixture/hostile.ts';
import { nodesOf, plainText, shapeOf, treeOf } from '../../fixture/markdown-tree.ts';
import { PLANS, renderedBy } from '../../fixture/scenarios.ts';
import { itHolds } from '../../fixture/property-runs.ts';

const INVISIBLE =
  /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2060-\u2069]|[\uD800-\uDFFF](?<![\uD800-\uDBFF][\uDC00-\uDFFF])(?![\uDC00-\uDFFF])/u;

/** What a forge gives a meaning outside of code: markup, mentions, issues, commits, formulas, addresses. */
const MEANINGFUL = /[@#$`<>&\\[\]*_^{}|]|:\/\/|\bwww\.|\b[0-9a-f]{7,}\b|\bGH-|:\w+:/i;

describe('a value', () => {
  itHolds('is the text of a code span, and nothing else', 100, (numRuns) => {
    fc.assert(
      fc.property(hostile, (value) => {
        const [paragraph] = treeOf(`x ${codeSpan(value)} y`).children ?? [];
        const [before, code, after, ...rest] = paragraph?.children ?? [];
        expect([before?.value, code?.type, code?.value, after?.value, rest]).toEqual([
          'x ',
          'inlineCode',
          value === '' ? '""' : visible(value),
          ' y',
          [],
        ]);
      }),
      { numRuns },
    );
  });

  itHolds('stays in its cell', 100, (numRuns) => {
    fc.assert(
      fc.property(hostile, hostile, (one, other) => {
        const head = tableRow(['a', 'b']) + tableRow(['---', '---']);
        const tree = treeOf(head + tableRow([codeSpan(one), prose(other)]));
        const cells = nodesOf(tree, 'tableCell').slice(2);
        expect(cells).toHaveLength(2);
        expect(unescaped(plainText(cells[0] ?? tree))).toBe(
          one === '' ? '""' : unescaped(visible(one)),
        );
        expect(unescaped(plainText(cells[1] ?? tree))).toBe(unescaped(spaced(visible(other))));
        expect(nodesOf(tree, 'link')).toEqual([]);
      }),
      { numRuns },
    );
  });
});

describe('a sentence', () => {
  itHolds('is one paragraph of text and code spans that reads as it was', 100, (numRuns) => {
    fc.assert(
      fc.property(hostile, (sentence) => {
        for (const before of ['', '> - ', '- ', '## ']) {
          const tree = treeOf(before + prose(sentence));
          const holder = nodesOf(tree, before === '## ' ? 'heading' : 'paragraph');
          expect(holder).toHaveLength(1);
          expect(plainText(tree)).toBe(spaced(visible(sentence)));
          expect(
            holder
              .flatMap(({ children = [] }) => children)
              .every(({ type }) => type === 'text' || type === 'inlineCode'),
          ).toBe(true);
        }
      }),
      { numRuns },
    );
  });
});

const RENDERED = renderedBy({
  plan: planMarkdown,
  drift: driftMarkdown,
  apply: outcomeMarkdown,
  validate: validationMarkdown,
  failure: failureMarkdown,
});

describe('a document of hostile strings', () => {
  for (const [name, document, render] of RENDERED)
    itHolds(`has the structure of a harmless one (${name})`, 15, (numRuns) => {
      const renderAny = render as (document: object) => string;
      fc.assert(
        fc.property(fc.infiniteStream(hostile), (strings) => {
          const [filled, twin] = twins(document, () => String(strings.next().value));
          const text = renderAny(withoutLink(filled));
          expect(shapeOf(treeOf(text))).toEqual(shapeOf(treeOf(renderAny(withoutLink(twin)))));
          expect(text).not.toMatch(INVISIBLE);
          expect(text).not.toMatch(/^\s*(::|##\[)/m);
          expect(text).not.toContain('##[');
          for (const { value } of nodesOf(treeOf(text), 'text'))
            expect(value?.replace(/^\[!(WARNING|CAUTION)\]/, '')).not.toMatch(MEANINGFUL);
        }),
        { numRuns },
      );
    });

  itHolds('links to the run alone, and only to https', 100, (numRuns) => {
    const url = fc.oneof(
      hostile,
      hostile.map((rest) => `https://ci.example/${rest}`),
      hostile.map((rest) => `https://${rest}`),
    );
    fc.assert(
      fc.property(url, (address) => {
        const document = planWith(address);
        const tree = treeOf(planMarkdown(document));
        const links = nodesOf(tree, 'link').map((link) => [link.url, plainText(link)]);
        expect(links.length).toBeLessThanOrEqual(1);
        for (const [target = '', text] of links) {
          expect(text).toBe('run');
          expect(inPercent(new URL(target).href)).toBe(inPercent(new URL(address).href));
          expect(new URL(target)).toMatchObject({
            protocol: 'https:',
            host: new URL(address).host,
            username: '',
            password: '',
          });
        }
      }),
      { numRuns },
    );
    expect(
      nodesOf(
        treeOf(planMarkdown(planWith('https://ci.example/a_b*c?x=1&y=(2)&copy=|'))),
        'link',
      )[0]?.url,
    ).toBe('https://ci.example/a_b%2Ac?x=1&y=%282%29&copy=%7C');
    for (const not of [
      'http://ci.example',
      'javascript:alert(1)',
      'https://user@ci.example/',
      '/run',
      'x',
    ])
      expect(planMarkdown(planWith(not))).not.toContain('[run]');
  });
});

function inPercent(url: string): string {
  return url
    .replaceAll(/[^A-Za-z0-9%]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
    .toLowerCase();
}

function planWith(url: string): PlanDocument {
  const { 'in sync': plan } = PLANS;
  if (plan === undefined) throw new Error('no plan');
  return { ...plan, run: { ...plan.run, url } };
}

/** The only address that may be a link: taken out, so that a hostile one that is https is compared with none. */
function withoutLink<T extends object>(document: T): T {
  return 'run' in document
    ? { ...document, run: { ...(document.run as object), url: 'word' } }
    : document;
}

function spaced(text: string): string {
  return (
    text
      .split(' ')
      .filter((word) => word !== '')
      .join(' ') || '…'
  );
}

/** A bar behind a backslash of the value's own is written out. */
function unescaped(text: string): string {
  return text.replaceAll(/\\u\{7c\}/g, '|');
}
