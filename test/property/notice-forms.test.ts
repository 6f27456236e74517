import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMessage } from '../../src/controller/watch/notices/message.ts';
import { slackBody } from '../../src/controller/watch/notices/receivers.ts';
import { teamsBody } from '../../src/controller/watch/notices/receivers.ts';
import { change, environment } from '../fixture/documents.ts';
import { watchState } from '../fixture/watching.ts';
import { hostile } from '../fixture/hostile.ts';

const PAGE = 'https://page.example';

/** A message about an environment whose paths, or whose error, are these texts. */
function messageWith(texts: readonly string[], error: string | null) {
  const plan = environment({
    changes: texts.map((text) => change({ path: ['mcp_config', text] })),
    error: error === null ? null : { code: 'server-error', message: error, hint: '' },
  });
  const state = watchState({ found: error === null ? 'drift' : 'error', digest: 'd', plan });
  return createMessage([{ state, end: null, event: 'opened', digest: 'd' }], PAGE);
}

const texts = fc.array(hostile, { minLength: 1, maxLength: 8 });
const error = fc.option(hostile, { nil: null });

interface Block {
  readonly text: { readonly type: string; readonly text: string; readonly verbatim: boolean };
}

it('Slack makes nothing of foreign text: no link, mention or mark', () => {
  fc.assert(
    fc.property(texts, error, (paths, message) => {
      const payload = slackBody(messageWith(paths, message)) as {
        text: string;
        blocks: Block[];
      };
      for (const { text } of payload.blocks) {
        expect(text).toMatchObject({ type: 'mrkdwn', verbatim: true });
        expect(text.text.length).toBeLessThanOrEqual(3000);
        // The only thing in angle brackets is the link of our own.
        const links = [...text.text.matchAll(/<([^>]*)>/g)].map(([, link = '']) => link);
        expect(links).toEqual(
          links.length === 0 ? [] : [`${PAGE}/environments/production|Show it`],
        );
        expect(text.text.replaceAll(/<[^>]*>/g, '')).not.toMatch(/[<>]/);
        expect(text.text).not.toMatch(/&(?!amp;|lt;|gt;)/);
        for (const line of text.text
          .split('\n')
          .slice(1)
          .filter((one) => !one.startsWith('<')))
          expect(line).toMatch(/^• `[^`]+`$/u);
      }
      expect(payload.text).not.toMatch(/[<>]/);
    }),
  );
});

it('Teams gets foreign text in runs, which are no Markdown, and nothing that a card computes', () => {
  fc.assert(
    fc.property(texts, error, (paths, message) => {
      const card = JSON.stringify(teamsBody(messageWith(paths, message)));
      expect(card).not.toContain('"TextBlock"');
      expect(card).not.toMatch(/\{\{|\$\{/);
      const found: string[] = [];
      JSON.parse(card, (key: string, value: unknown) => {
        if (key === 'url') found.push(String(value));
        return value;
      });
      expect(found).toEqual([`${PAGE}/environments/production`]);
    }),
  );
});
