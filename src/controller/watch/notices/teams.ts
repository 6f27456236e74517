import { visible } from '../../../reconciler/render/visible.ts';
import type { Item, Message } from './message.ts';

/** An Adaptive Card in the message that a workflow of Teams takes at its webhook. Runs of text are no Markdown there. */
export function teamsPayload({ title, items, more, link }: Message): unknown {
  const first = items.length === 1 ? items[0] : undefined;
  const target = first?.link ?? link;
  const body = [
    ...(title === '' ? [] : [richText([run(title, { weight: 'Bolder', size: 'Medium' })])]),
    ...items.map((item) => richText(runsOf(item))),
    ...(more > 0 ? [richText([run(`… and ${more} more`)])] : []),
  ];
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          fallbackText:
            title === '' && first !== undefined
              ? inert(`${first.name} ${first.words}`)
              : inert(title),
          body,
          ...(target === null
            ? {}
            : { actions: [{ type: 'Action.OpenUrl', title: 'Show it', url: target }] }),
        },
      },
    ],
  };
}

function runsOf({ name, words, details }: Item): readonly object[] {
  const lines = details.map((detail) => run(`\n${detail}`, { fontType: 'Monospace' }));
  return [run(name, { weight: 'Bolder' }), run(` ${words}`), ...lines];
}

function richText(inlines: readonly object[]): object {
  return { type: 'RichTextBlock', inlines };
}

function run(text: string, style: Readonly<Record<string, string>> = {}): object {
  const [, line = '', rest = ''] = /^(\n?)(.*)$/s.exec(text) ?? [];
  return { type: 'TextRun', text: line + inert(rest), ...style };
}

/** Cards compute `{{DATE(…)}}` and the like, and `${…}` in templates; broken up they are text. */
function inert(text: string): string {
  return visible(text).replaceAll(/([{$])(?=\{)/g, '$1\u2060');
}
