import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  findConditionAlert,
  ALERT_OF_STATUS,
  ALERT_OF_TROUBLE,
} from '../../../src/reconciler/model/alert-names.ts';
import { CONDITION_KINDS } from '../../../src/reconciler/model/watch.ts';
import { markupSource } from '../../../src/reconciler/render/html/page.ts';
import { runbookLink } from '../../../src/controller/page/page-parts.ts';
import { runbookHtml } from '../../../src/controller/page/runbook.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Rule {
  readonly alert?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}
const { groups } = parse(read('examples/prometheus/rules.yml')) as {
  groups: readonly { rules: readonly Rule[] }[];
};
const RULES = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);
const NAMES = RULES.flatMap(({ alert }) => alert ?? []);

it('each rule has its runbook, and each runbook its rule', () => {
  const pages = readdirSync(join(ROOT, 'docs/runbooks')).map((name) => name.replace(/\.md$/, ''));
  expect(pages.toSorted()).toEqual(NAMES.toSorted());
});

it.each(RULES)('$alert links to its runbook', ({ alert, annotations }) => {
  expect(annotations?.['runbook_url']).toBe(`docs/runbooks/${alert}.md`);
});

describe.each(NAMES)('the runbook of %s', (name) => {
  const text = read(`docs/runbooks/${name}.md`);

  it('says what it means, what to look at with commands, and what to do', () => {
    const headings = [...text.matchAll(/^#+ .*$/gm)].map(([line]) => line);
    expect(headings).toEqual([
      `# ${name}`,
      '## What it means',
      '## What to look at',
      '## What to do',
    ]);
    expect(text).toMatch(/## What to look at\n\n```sh\n\S[^]*?\n```\n\n\S/);
    expect(text).toMatch(/## What to do\n\n- \S/);
    expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });

  it('is on the page in full, by its name and by that of its file', () => {
    const page = runbookHtml(name);
    if (page === null) throw new Error('no page');
    expect(runbookHtml(`${name}.md`)).toEqual(page);
    const html = markupSource(page.main);
    const words = text
      .replaceAll(/\]\([^)]*\)|```(?:sh)?/g, ' ')
      .split(/[\s`#*[\]-]+/)
      .filter((word) => /^\w+$/.test(word));
    expect(words.filter((word) => !html.includes(word))).toEqual([]);
    expect(html).not.toMatch(/```|\]\(|<p>#/);
  });
});

it('what is wrong with the controller, an environment or healing links to a runbook that there is', () => {
  const alerts = [
    ...CONDITION_KINDS.map(findConditionAlert),
    ...Object.values(ALERT_OF_TROUBLE),
    ...Object.values(ALERT_OF_STATUS),
  ];
  for (const alert of alerts) expect(runbookLink(alert) === null).toBe(runbookHtml(alert) === null);
  expect(alerts.filter((alert) => runbookLink(alert) === null)).toEqual([
    'SetpointUnknown',
    'SetpointPending',
  ]);
});

it.each(['__proto__', 'toString', '', '../README', 'SetpointNone'])('%j is no runbook', (name) => {
  expect(runbookHtml(name)).toBeNull();
});
