import { expect, it } from 'vitest';
import type { Warning } from '../../../src/reconciler/model/error.ts';
import { planAnnotations } from '../../../src/reconciler/render/github/annotations.ts';
import { planHtml } from '../../../src/reconciler/render/html/pages.ts';
import { renderJson } from '../../../src/reconciler/render/json.ts';
import { planMarkdown } from '../../../src/reconciler/render/markdown/comments.ts';
import { planText } from '../../../src/reconciler/render/section-text.ts';
import { groupWarnings } from '../../../src/reconciler/render/section.ts';
import { environment, planOf } from '../../fixture/documents.ts';

const PLAIN = { color: false, width: null, verbose: false };
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const PATHS = NAMES.map((name) => ['mcp_config', 'stdio_servers', name]);
const adds = (name: string): Warning => ({
  code: 'guard',
  message: `The plan adds mcp_config.stdio_servers[${name}], a program. (run-code)`,
  path: ['mcp_config', 'stdio_servers', name],
});
const loses = (path: readonly string[]): Warning => ({
  code: 'lose-unreadable',
  message: `This write clears mcp_config.stdio_servers[${path[2]}], which the service does not show. Declare it.`,
  path,
});
const LISTED = NAMES.map((name) => `mcp_config.stdio_servers[${name}]`).join(', ');

it.each([
  ['of what is lost', PATHS.map(loses), `This write clears ${LISTED}, which the`],
  ['of a guard', NAMES.map(adds), `The plan adds ${LISTED}, a program.`],
])('five equal warnings %s are one line with five paths', (_, warnings, line) => {
  const document = planOf(environment({ warnings }));
  const text = planText(document, PLAIN);
  expect(text.split('\n').filter((one) => one.startsWith('  ! '))).toEqual([
    expect.stringContaining(line),
  ]);
  expect(planMarkdown(document).match(/^> - /gm)).toHaveLength(1);
  expect(planHtml(document).match(/<li>! /g)).toHaveLength(1);
  expect(planAnnotations(document).match(/^::warning /gm)).toHaveLength(1);
  const kept = JSON.parse(renderJson(document)) as typeof document;
  expect(kept.environments[0]?.warnings).toEqual(warnings);
});

it('warnings with different messages stay separate', () => {
  const other = {
    ...adds('a'),
    message: 'The plan changes mcp_config.stdio_servers[a], a program.',
  };
  const elsewhere = { ...adds('b'), code: 'already-made' } as const;
  expect(groupWarnings([adds('a'), other, elsewhere])).toEqual([adds('a'), other, elsewhere]);
  const two = { ...adds('a'), message: 'mcp_config.sse_servers[x] is mcp_config.sse_servers[y].' };
  expect(groupWarnings([two, { ...two, message: two.message.replace('[y]', '[z]') }])).toHaveLength(
    2,
  );
});

it('a sentence that is there twice is shown once, and of hundreds twelve are named', () => {
  const plain: Warning = {
    code: 'guard',
    message: 'The plan turns confirmation_mode off.',
    path: [],
  };
  expect(groupWarnings([plain, plain])).toEqual([plain]);
  const many = Array.from({ length: 300 }, (_, index) => adds(`n${index}`));
  const [one] = groupWarnings(many);
  expect(one?.message).toContain('[n11] and 288 more, a program.');
});
