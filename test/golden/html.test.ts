import { join } from 'node:path';
import { expect, it } from 'vitest';
import { driftHtml, failureHtml, outcomeHtml, planHtml, validationHtml } from '../../src/reconciler/render/html/pages.ts';
import { FAILURES, OUTCOMES, PLANS, VALIDATIONS } from '../fixture/scenarios.ts';
import { expectGolden } from './golden-file.ts';

it.each(Object.entries(PLANS))('%s', (name, document) => {
  golden(name, 'plan.html', planHtml(document));
  golden(name, 'drift.html', driftHtml(document));
});

it.each(Object.entries(OUTCOMES))('%s', (name, document) => {
  golden(name, 'apply.html', outcomeHtml(document));
});

it.each(Object.entries(VALIDATIONS))('%s', (name, document) => {
  golden(name, 'validation.html', validationHtml(document));
});

it.each(Object.entries(FAILURES))('%s', (name, document) => {
  golden(name, 'failure.html', failureHtml(document));
});

const STYLE = /<style>[^<]*<\/style>/;

/** The style is the same on every page: it is in one file of its own. */
function golden(scenario: string, file: string, page: string): void {
  const [style = ''] = STYLE.exec(page) ?? [];
  expectGolden(join('html', 'style.html'), `${style}\n`);
  const rest = page.replace(style, '<style>…</style>').replace(/'sha256-[^']+'/, "'sha256-…'");
  expect(rest).not.toBe(page);
  expectGolden(join('html', scenario.replaceAll(/[^a-z]+/g, '-'), file), rest);
}
