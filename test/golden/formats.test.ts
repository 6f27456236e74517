import { join } from 'node:path';
import { expect, it } from 'vitest';
import { failureAnnotations } from '../../src/render/github/failure-annotations.ts';
import { outcomeAnnotations } from '../../src/render/github/outcome-annotations.ts';
import { driftAnnotations, planAnnotations } from '../../src/render/github/plan-annotations.ts';
import { validationAnnotations } from '../../src/render/github/validation-annotations.ts';
import { failureMarkdown } from '../../src/render/markdown/failure-markdown.ts';
import { outcomeMarkdown } from '../../src/render/markdown/outcome-markdown.ts';
import { driftMarkdown, planMarkdown } from '../../src/render/markdown/plan-markdown.ts';
import { validationMarkdown } from '../../src/render/markdown/validation-markdown.ts';
import { validationSarif } from '../../src/render/sarif/validation-sarif.ts';
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
