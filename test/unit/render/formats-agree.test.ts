import { describe, expect, it } from 'vitest';
import type { OutcomeDocument } from '../../../src/reconciler/model/outcome.ts';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import {
  driftAnnotations,
  outcomeAnnotations,
  planAnnotations,
  validationAnnotations,
} from '../../../src/reconciler/render/github/annotations.ts';
import { outcomeHtml } from '../../../src/reconciler/render/html/pages.ts';
import { renderJson } from '../../../src/reconciler/render/json.ts';
import {
  driftMarkdown,
  outcomeMarkdown,
  planMarkdown,
  validationMarkdown,
} from '../../../src/reconciler/render/markdown/comments.ts';
import { diagnosticsText } from '../../../src/reconciler/render/error-text.ts';
import { outcomeText, planText } from '../../../src/reconciler/render/section-text.ts';
import { validationSarif } from '../../../src/reconciler/render/sarif.ts';
import { outcomeOf } from '../../fixture/documents.ts';
import { tablesOf } from '../../fixture/markdown-counts.ts';
import { replaceEnvironments } from '../../../src/reconciler/model/summary.ts';
import { nodesOf, plainText, treeOf, type Node } from '../../fixture/markdown-tree.ts';
import { commandsIn } from '../../fixture/runner-command.ts';
import { OUTCOMES, PLANS, VALIDATIONS } from '../../fixture/scenarios.ts';

const STYLE = { color: false, width: null, verbose: true };

describe.each(Object.entries(PLANS))('of the plan %s', (_, document) => {
  it.each([
    ['plan', planMarkdown, planAnnotations],
    ['drift', driftMarkdown, driftAnnotations],
  ] as const)('every format of %s shows as much', (voice, markdown, annotations) => {
    const { environments } = JSON.parse(renderJson(document)) as PlanDocument;
    const counts = {
      changes: environments.flatMap(({ changes }) => changes).length,
      warnings: environments.flatMap(({ warnings }) => warnings).length,
      refusals: environments.flatMap(({ refusals }) => refusals).length,
      unknown: environments.flatMap(({ unknown }) => unknown).length,
      errors: environments.filter(({ error }) => error !== null).length,
    };
    // All that could not be compared in an environment is one annotation.
    const notCompared = environments.filter(({ unknown }) => unknown.length > 0).length;
    const text = sectionsOf(planText(document, STYLE, voice));
    expect({
      ...tallyOfText(text),
      errors: linesOf(text, /^Could not read the service's settings\.$/),
    }).toEqual(counts);
    expect(tallyOfMarkdown(markdown(document))).toEqual(counts);
    expect(commandsIn(annotations(document))).toHaveLength(
      counts.changes + counts.warnings + counts.refusals + counts.errors + notCompared,
    );
  });

  it('the title of each environment counts what its text counts', () => {
    const tree = treeOf(planMarkdown(document));
    const [heading, ...none] = nodesOf(tree, 'heading').map(plainText);
    const folded = nodesOf(tree, 'html').flatMap(({ value = '' }) => {
      return /^<details><summary><code>.* — (.*)<\/summary>/.exec(value)?.[1] ?? [];
    });
    expect(none).toEqual([]);
    const titles = folded.length > 0 ? folded : [heading?.replace(/^.* — /, '')];
    const sentences = document.environments.map((environment) => {
      const lines = planText(replaceEnvironments(document, [environment]), STYLE).split('\n');
      const last = lines.findLast((line) => line !== '' && !line.startsWith(REFUSED)) ?? '';
      const counted =
        /^Plan: (.*)\.$/.exec(last)?.[1] ?? WORDS.find(([start]) => last.startsWith(start))?.[1];
      const refused = lines.some((line) => line.startsWith(REFUSED));
      return refused ? `${counted}; apply would be refused` : counted;
    });
    expect(titles).toEqual(sentences);
  });
});

const REFUSED = 'Apply would be refused: ';
const WORDS = [
  ['No changes.', 'no changes'],
  ['Not as declared', 'not as declared'],
  ["Could not read the service's settings.", 'failed'],
] as const;

it.each(Object.entries(OUTCOMES))(
  'every format of the outcome %s has the same content',
  (_, document) => {
    const { environments } = JSON.parse(renderJson(document)) as OutcomeDocument;
    const changes = environments.flatMap((one) => one.changes).length;
    const remaining = environments.flatMap((one) => one.remaining).length;
    const errors = environments.filter(({ error }) => error !== null).length;
    const notCompared = environments.filter(
      (one) => one.unknown.length > 0 && one.changes.length === 0,
    ).length;
    const text = sectionsOf(outcomeText(document, STYLE));
    const warned = linesOf(text, /^  ! /);
    expect(linesOf(text, /^  [✓✗?·] (?!sandbox_api_key)/)).toBe(changes);
    const tree = treeOf(outcomeMarkdown(document));
    expect(rowsOf(tree)).toBe(changes);
    const listed = environments.flatMap(({ refusals }) =>
      refusals.length > 1 ? refusals : [],
    ).length;
    const items = nodesOf(tree, 'listItem').length - listed;
    expect(items - linesOf(text, /^  \? sandbox_api_key/)).toBe(warned);
    expect(commandsIn(outcomeAnnotations(document))).toHaveLength(
      changes + warned + errors + notCompared,
    );
    expect(warned).toBeGreaterThanOrEqual(remaining);
  },
);

it('no format lists a secret that an apply has written, or counts it among what could not be compared', () => {
  const [environment] = OUTCOMES['applied']?.environments ?? [];
  if (environment === undefined) throw new Error('There is no such outcome.');
  const unknown = environment.changes.flatMap(({ path, result, ref }) =>
    result === 'unverifiable'
      ? [{ path, reason: 'set; cannot tell', ref, kind: 'stored' as const }]
      : [],
  );
  expect(unknown).not.toEqual([]);
  const document = outcomeOf({ ...environment, unknown });
  const text = outcomeText(document, STYLE);
  for (const shown of [
    text,
    outcomeMarkdown(document),
    outcomeHtml(document),
    outcomeAnnotations(document),
  ])
    expect(shown).not.toMatch(/not be compared|cannot tell/i);
  expect(document.summary.unknown).toBe(0);
});

it.each(Object.entries(VALIDATIONS))(
  'every format of the validation %s has the same content',
  (_, document) => {
    const count = document.diagnostics.length;
    const shown = document.diagnostics.map((diagnostic) => ({ ...diagnostic, excerpt: null }));
    expect(linesOf(diagnosticsText(shown, STYLE), /^\S+.*:\d+:\d+ (error|warning) /)).toBe(count);
    expect(rowsOf(treeOf(validationMarkdown(document)))).toBe(count);
    expect(commandsIn(validationAnnotations(document)).map((command) => command?.name)).toEqual(
      document.diagnostics.map(({ severity }) => severity).toSorted(),
    );
    expect(JSON.parse(validationSarif(document)).runs[0].results).toHaveLength(count);
  },
);

/** The text before the summary, which has each environment again. */
function sectionsOf(text: string): string {
  return text.split(/^[\d,]+ environments: /m)[0] ?? '';
}

function tallyOfText(text: string): object {
  return {
    changes: linesOf(text, /^  [+~-] /),
    warnings: linesOf(text, /^  ! /),
    refusals: linesOf(text, /^Apply would be refused: /),
    unknown: linesOf(text, /^  \? /),
  };
}

function tallyOfMarkdown(markdown: string): object {
  const tree = treeOf(markdown);
  const boxes = nodesOf(tree, 'blockquote');
  const refusing = boxes.filter((box) => plainText(box).includes('Apply would be refused'));
  const refusals = refusing.flatMap((box) => nodesOf(box, 'listItem')).length;
  const items = boxes.flatMap((box) => nodesOf(box, 'listItem')).length;
  const cautions = boxes.filter((box) => plainText(box).startsWith('[!CAUTION]')).length;
  return {
    changes: rowsOf(tree),
    warnings: items - refusals,
    refusals,
    unknown: nodesOf(tree, 'listItem').length - items,
    errors: cautions - refusing.length,
  };
}

function rowsOf(tree: Node): number {
  return tablesOf(tree).reduce((sum, { children = [] }) => sum + children.length - 1, 0);
}

function linesOf(text: string, pattern: RegExp): number {
  return text.split('\n').filter((line) => pattern.test(line)).length;
}
