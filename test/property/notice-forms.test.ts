import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createContent } from '../../src/controller/watch/notices/message.ts';
import { messageTo } from '../../src/controller/watch/notices/receivers.ts';
import type { Webhook } from '../../src/controller/watch/notices/receiver.ts';
import { Secret } from '../../src/reconciler/model/secret.ts';
import { change, environment } from '../fixture/documents.ts';
import { WATCHED_AT, watchState } from '../fixture/watching.ts';
import { hostile } from '../fixture/hostile.ts';

const PAGE = 'https://page.example';
const ITS_PAGE = `${PAGE}/environments/production`;

/** What a receiver gets about an environment whose paths, or whose error, are these texts. */
function bodyOf(form: Webhook['form'], texts: readonly string[], error: string | null): unknown {
  const plan = environment({
    changes: texts.map((text) => change({ path: ['mcp_config', text] })),
    error: error === null ? null : { code: 'server-error', message: error, hint: '' },
  });
  const state = watchState({ found: error === null ? 'drift' : 'error', digest: 'd', plan });
  const due = { state, end: null, event: 'opened', track: 'difference', digest: 'd' } as const;
  const to = { form, url: new Secret('https://hooks.example/x'), headers: new Map() };
  return messageTo(to, createContent([due], PAGE), WATCHED_AT).body;
}

const texts = fc.array(hostile, { minLength: 1, maxLength: 8 });
const error = fc.option(hostile, { nil: null });

/** Each line of foreign text is code as a whole, and the last one is the link of our own. */
function expectInert(text: string, link: string): void {
  const lines = text.split('\n');
  expect(lines.at(-1)).toBe(link);
  for (const line of lines.slice(1, -1)) expect(line).toMatch(/^• `[^`]+`$/u);
}

it('Slack makes nothing of foreign text: no link, mention or mark', () => {
  fc.assert(
    fc.property(texts, error, (paths, message) => {
      const { text, blocks } = bodyOf('slack', paths, message) as {
        text: string;
        blocks: { text: { type: string; text: string; verbatim: boolean } }[];
      };
      expect(blocks).toMatchObject([{ text: { type: 'mrkdwn', verbatim: true } }]);
      const [shown = ''] = blocks.map((block) => block.text.text);
      expect(shown.length).toBeLessThanOrEqual(3000);
      expectInert(shown, `<${ITS_PAGE}|Show it>`);
      expect(shown.replaceAll(`<${ITS_PAGE}|Show it>`, '')).not.toMatch(/[<>]/);
      expect(shown).not.toMatch(/&(?!amp;|lt;|gt;)/);
      expect(text).not.toMatch(/[<>]/);
    }),
  );
});

it('Discord makes nothing of foreign text: no mark, and nobody is mentioned', () => {
  fc.assert(
    fc.property(texts, error, (paths, message) => {
      const body = bodyOf('discord', paths, message) as { content: string };
      expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
      expect(body.content.length).toBeLessThanOrEqual(2000);
      expectInert(body.content, `<${ITS_PAGE}>`);
    }),
  );
});

it('Teams gets foreign text in runs, which are no Markdown, and nothing that a card computes', () => {
  fc.assert(
    fc.property(texts, error, (paths, message) => {
      const card = JSON.stringify(bodyOf('teams', paths, message));
      expect(card).not.toContain('"TextBlock"');
      expect(card).not.toMatch(/\{\{|\$\{/);
      const found: string[] = [];
      JSON.parse(card, (key: string, value: unknown) => {
        if (key === 'url') found.push(String(value));
        return value;
      });
      expect(found).toEqual([ITS_PAGE]);
    }),
  );
});
