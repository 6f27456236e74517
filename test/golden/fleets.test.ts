import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recountSummary } from '../../src/reconciler/model/summary.ts';
import { driftHtml, outcomeHtml } from '../../src/reconciler/render/html/pages.ts';
import {
  driftMarkdown,
  outcomeMarkdown,
  planMarkdown,
} from '../../src/reconciler/render/markdown/comments.ts';
import { outcomeText, planText } from '../../src/reconciler/render/section-text.ts';
import { APPLIED_FLEET, FLEET_IN_SYNC, PLANNED_FLEET } from '../fixture/fleets.ts';
import { expectGolden } from './golden-file.ts';

const TERMINAL = { color: false, width: 80, verbose: false };
const STRICT_FLEET = recountSummary({ ...PLANNED_FLEET, strict: true as const });
const PIPE = { ...TERMINAL, width: null };

it.each([
  ['plan.txt', planText(PLANNED_FLEET, TERMINAL)],
  ['plan-in-a-pipe.txt', planText(PLANNED_FLEET, PIPE)],
  ['drift.txt', planText(PLANNED_FLEET, TERMINAL, 'drift')],
  ['strict-drift.txt', planText(STRICT_FLEET, TERMINAL, 'drift')],
  ['in-sync.txt', planText(FLEET_IN_SYNC, TERMINAL)],
  ['apply.txt', outcomeText(APPLIED_FLEET, TERMINAL)],
  ['strict-drift.md', driftMarkdown(STRICT_FLEET)],
  ['strict-drift.html', pageOf(driftHtml(STRICT_FLEET))],
  ['plan.md', planMarkdown(PLANNED_FLEET)],
  ['drift.md', driftMarkdown(PLANNED_FLEET)],
  ['in-sync.md', planMarkdown(FLEET_IN_SYNC)],
  ['apply.md', outcomeMarkdown(APPLIED_FLEET)],
  ['drift.html', pageOf(driftHtml(PLANNED_FLEET))],
  ['apply.html', pageOf(outcomeHtml(APPLIED_FLEET))],
])('many environments: %s', (file, text) => {
  expectGolden(join('fleets', file), text);
});

it('shows every environment on demand', () => {
  const text = planText(PLANNED_FLEET, { ...PIPE, verbose: true });
  for (const { name } of PLANNED_FLEET.environments)
    expect(text.split('\n').filter((line) => line.startsWith(`${name}  https://`))).toHaveLength(1);
});

/** The style is in a golden file of its own. */
function pageOf(html: string): string {
  return html.replace(/<style>[^<]*<\/style>/, '').replace(/'sha256-[^']+'/, "'sha256-…'");
}
