import { join } from 'node:path';
import { expect, it } from 'vitest';
import { driftAnnotations, failureAnnotations, outcomeAnnotations, planAnnotations, validationAnnotations } from '../../src/reconciler/render/github/annotations.ts';
import { driftMarkdown, failureMarkdown, outcomeMarkdown, planMarkdown, validationMarkdown } from '../../src/reconciler/render/markdown/comments.ts';
import { validationSarif } from '../../src/reconciler/render/sarif.ts';
import { FAILURES, OUTCOMES, PLANS, VALIDATIONS } from '../fixture/scenarios.ts';
import { expectGolden } from './golden-file.ts';

it.each(Object.entries(PLANS))('%s', (name, document) => {
  golden(name, 'plan.md', planMarkdown(document));
  golden(name, 'drift.md', driftMarkdown(document));
  golden(name, 'plan.github.txt', planAnnotations(document));
  golden(name, 'drift.github.txt', driftAnnotations(document));
});

it.each(Object.entries(OUTCOMES))('%s', (name, document) => {
  golden(name, 'apply.md', outcomeMarkdown(document));
  golden(name, 'apply.github.txt', outcomeAnnotations(document));
});

it.each(Object.entries(VALIDATIONS))('%s', (name, document) => {
  golden(name, 'validation.md', validationMarkdown(document));
  golden(name, 'validation.github.txt', validationAnnotations(document));
  golden(name, 'validation.sarif', validationSarif(document));
});

it.each(Object.entries(FAILURES))('%s', (name, document) => {
  golden(name, 'failure.md', failureMarkdown(document));
  golden(name, 'failure.github.txt', failureAnnotations(document));
});

function golden(scenario: string, file: string, text: string): void {
  expect(text).toSatisfy((one: string) => one === '' || one.endsWith('\n'));
  expectGolden(join('formats', scenario.replaceAll(/[^a-z]+/g, '-'), file), text);
}
