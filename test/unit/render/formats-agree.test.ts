import { describe, expect, it } from 'vitest';
import type { OutcomeDocument } from '../../../src/model/outcome.ts';
import type { PlanDocument } from '../../../src/model/plan.ts';
import { outcomeAnnotations } from '../../../src/render/github/outcome-annotations.ts';
import { driftAnnotations, planAnnotations } from '../../../src/render/github/plan-annotations.ts';
import { validationAnnotations } from '../../../src/render/github/validation-annotations.ts';
import { json } from '../../../src/render/json.ts';
import { outcomeMarkdown } from '../../../src/render/markdown/outcome-markdown.ts';
import { driftMarkdown, planMarkdown } from '../../../src/render/markdown/plan-markdown.ts';
import { validationMarkdown } from '../../../src/render/markdown/validation-markdown.ts';
import { diagnosticsText } from '../../../src/render/diagnostics-text.ts';
import { outcomeText } from '../../../src/render/outcome-text.ts';
import { planText } from '../../../src/render/plan-text.ts';
import { validationSarif } from '../../../src/render/sarif/validation-sarif.ts';
import { nodesOf, plainText, treeOf, type Node } from '../../fixture/markdown-tree.ts';
import { commandsIn } from '../../fixture/runner-command.ts';
import { OUTCOMES, PLANS, VALIDATIONS } from '../../fixture/scenarios.ts';

const STYLE = { color: false, width: null, verbose: true };

describe.each(Object.entries(PLANS))('of the plan %s', (_, document) => {
  it.each([
    ['plan', planMarkdown, planAnnotations],
    ['drift', driftMarkdown, driftAnnotations],
  ] as const)('every format of %s says as much', (voice, markdown, annotations) => {
    const { environments } = JSON.parse(json(document)) as PlanDocument;
    const counts = {
      changes: environments.flatMap(({ changes }) => changes).length,
      warnings: environments.flatMap(({ warnings }) => warnings).length,
      unknown: environments.flatMap(({ unknown }) => unknown).length,
      errors: environments.filter(({ error }) => error !== null).length,
    };
    const text = planText(document, STYLE, voice);
    expect({ ...tallyOfText(text), errors: linesOf(text, /^Could not be looked at\.$/) }).toEqual(
      counts,
    );
    expect(tallyOfMarkdown(markdown(document))).toEqual(counts);
    expect(commandsIn(annotations(document))).toHaveLength(
      counts.changes + counts.warnings + counts.errors,
    );
  });

  it('the title of each target counts what its text counts', () => {
    const titles = nodesOf(treeOf(planMarkdown(document)), 'heading').map((node) =>
      plainText(node).replace(/^.* — /, ''),
    );
    const sentences = document.environments.map((environment) => {
      const last =
        planText({ ...document, environments: [environment] }, STYLE)
          .trimEnd()
          .split('\n')
          .at(-1) ?? '';
      return (
        /^Plan: (.*)\.$/.exec(last)?.[1] ?? WORDS.find(([start]) => last.startsWith(start))?.[1]
      );
    });
    expect(titles).toEqual(sentences);
  });
});

const WORDS = [
  ['No changes.', 'no changes'],
  ['Nothing can be done', 'not as declared'],
  ['Could not be looked at.', 'failed'],
] as const;

it.each(Object.entries(OUTCOMES))('every format of the outcome %s says as much', (_, document) => {
  const { environments } = JSON.parse(json(document)) as OutcomeDocument;
  const changes = environments.flatMap((one) => one.changes).length;
  const remaining = environments.flatMap((one) => one.remaining).length;
  const errors = environments.filter(({ error }) => error !== null).length;
  const text = outcomeText(document, STYLE);
  const told = linesOf(text, /^  ! /);
  expect(linesOf(text, /^  [✓✗?·] (?!sandbox_api_key)/)).toBe(changes);
  const tree = treeOf(outcomeMarkdown(document));
  expect(rowsOf(tree)).toBe(changes);
  expect(nodesOf(tree, 'listItem').length - linesOf(text, /^  \? sandbox_api_key/)).toBe(told);
  expect(commandsIn(outcomeAnnotations(document))).toHaveLength(changes + told + errors);
  expect(told).toBeGreaterThanOrEqual(remaining);
});

it.each(Object.entries(VALIDATIONS))(
  'every format of the validation %s says as much',
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

function tallyOfText(text: string): object {
  return {
    changes: linesOf(text, /^  [+~-] /),
    warnings: linesOf(text, /^  ! /),
    unknown: linesOf(text, /^  \? /),
  };
}

function tallyOfMarkdown(markdown: string): object {
  const tree = treeOf(markdown);
  const boxes = nodesOf(tree, 'blockquote');
  const warnings = boxes.flatMap((box) => nodesOf(box, 'listItem')).length;
  return {
    changes: rowsOf(tree),
    warnings,
    unknown: nodesOf(tree, 'listItem').length - warnings,
    errors: boxes.filter((box) => plainText(box).startsWith('[!CAUTION]')).length,
  };
}

function rowsOf(tree: Node): number {
  return nodesOf(tree, 'table').reduce((sum, { children = [] }) => sum + children.length - 1, 0);
}

function linesOf(text: string, pattern: RegExp): number {
  return text.split('\n').filter((line) => pattern.test(line)).length;
}
