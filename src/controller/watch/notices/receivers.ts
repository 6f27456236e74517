import type { NoticeKind } from '../../../reconciler/model/watch.ts';
import { TOOL } from '../../../reconciler/model/version.ts';
import { visible } from '../../../reconciler/render/text.ts';
import type { Content, Item, Message } from './message.ts';
import type { Alertmanager, Destination, ReceiverEvent, Webhook } from './receiver.ts';
import type { Outgoing } from './send.ts';

/** The form of receivers of one kind. Each message is one POST, which is accepted if the answer is a success. */
interface ReceiverForm {
  /** The kind of its address in the file of --notify: a secret, a url that is not necessarily secret, or the name of a repository. */
  readonly address: 'secret' | 'url' | 'repository';
  /** The path of the POST behind the address. */
  readonly path: string;
  /** The members that the file may have next to its address, for this kind only. */
  readonly keys: readonly string[];
  /** The events that it never gets: an issue is about drift, and an alert about a lasting state. */
  readonly untold: readonly ReceiverEvent[];
  /** The longest pause after it did not accept a message, in milliseconds. */
  readonly longestPause: number;
}

const HOUR = 3_600_000;
const OF_HEALING: readonly NoticeKind[] = ['heal-failed', 'write-refused', 'healing-stopped'];
const CHAT = {
  address: 'secret',
  path: '',
  keys: ['headers'],
  untold: [],
  longestPause: HOUR,
} as const;

export const FORMS: Readonly<Record<Destination['form'], ReceiverForm>> = {
  slack: CHAT,
  teams: CHAT,
  alertmanager: {
    address: 'url',
    path: '/api/v2/alerts',
    keys: ['headers'],
    untold: ['healed'],
    // A firing alert expires if it is not sent.
    longestPause: HOUR / 6,
  },
  json: { ...CHAT, address: 'url' },
  'github-issue': {
    address: 'repository',
    path: '',
    keys: ['token', 'api_url'],
    untold: ['controller', 'healed', ...OF_HEALING],
    longestPause: HOUR,
  },
};

/** The request that notifies a receiver of messages, at a time in milliseconds since 1970. */
export function messageTo(to: Webhook, content: Content, at: number): Outgoing {
  return postTo(to, BODIES[to.form](content, at));
}

/** The request that carries a body to a receiver. */
export function postTo({ form, url, headers }: Webhook | Alertmanager, body: unknown): Outgoing {
  const { path } = FORMS[form];
  const address = String(url.reveal());
  return {
    method: 'POST',
    url: path === '' ? address : `${address.replace(/\/+$/, '')}${path}`,
    headers: Object.fromEntries(
      [...headers].map(([name, value]) => [name, String(value.reveal())]),
    ),
    body,
  };
}

const BODIES: Readonly<Record<Webhook['form'], (content: Content, at: number) => unknown>> = {
  slack: ({ message }) => slackBody(message()),
  teams: ({ message }) => teamsBody(message()),
  json: ({ notices }, at) => ({
    format_version: '1.0',
    kind: 'notices',
    tool: TOOL,
    sent_at: new Date(at).toISOString(),
    notices: notices(),
  }),
};

/** Characters of a section, as Slack limits them. */
const LONGEST_SECTION = 3000;

/** A message for an incoming webhook of Slack: one section for each environment, and a text for the notification. */
export function slackBody({ title, items, more, link }: Message): unknown {
  const rest =
    more > 0 ? [`… and ${more} more${link === null ? '' : ` (${slackLink(link, 'all')})`}`] : [];
  const lines = [
    ...(title === '' ? [] : [`*${slackText(title)}*`]),
    ...items.map(formatSlackSection),
    ...rest,
  ];
  return {
    text: formatNotification(title, items),
    blocks: lines.map((line) => ({
      type: 'section',
      // Nothing is made a link or a mention but what is written as one.
      text: { type: 'mrkdwn', text: line, verbatim: true },
    })),
    unfurl_links: false,
    unfurl_media: false,
  };
}

function formatNotification(title: string, [first]: readonly Item[]): string {
  return `setpoint: ${title === '' && first !== undefined ? `${codeText(first.name)} ${slackText(first.words)}` : slackText(title)}`;
}

function formatSlackSection({ name, words, details, link }: Item): string {
  const end = link === null ? '' : `\n${slackLink(link, 'Show it')}`;
  let text = `${codeText(name)} ${slackText(words)}`;
  for (const detail of details) {
    const line = `\n• ${codeText(detail)}`;
    if (text.length + line.length + end.length > LONGEST_SECTION) break;
    text += line;
  }
  return text + end;
}

/** Foreign text as code: nothing in it is formatted, linked or a mention. */
function codeText(text: string): string {
  const held = slackText(text).replaceAll('`', 'ˋ');
  return `\`${held.trim() === '' ? '…' : held}\``;
}

function slackText(text: string): string {
  return visible(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function slackLink(url: string, text: string): string {
  return `<${slackText(url).replaceAll('|', '%7C')}|${text}>`;
}

/** An Adaptive Card in the message that a workflow of Teams takes at its webhook. Runs of text are no Markdown there. */
export function teamsBody({ title, items, more, link }: Message): unknown {
  const first = items.length === 1 ? items[0] : undefined;
  const target = first?.link ?? link;
  const body = [
    ...(title === '' ? [] : [cardBlock([cardRun(title, { weight: 'Bolder', size: 'Medium' })])]),
    ...items.map((item) => cardBlock(cardRuns(item))),
    ...(more > 0 ? [cardBlock([cardRun(`… and ${more} more`)])] : []),
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
              ? cardText(`${first.name} ${first.words}`)
              : cardText(title),
          body,
          ...(target === null
            ? {}
            : { actions: [{ type: 'Action.OpenUrl', title: 'Show it', url: target }] }),
        },
      },
    ],
  };
}

function cardRuns({ name, words, details }: Item): readonly object[] {
  const lines = details.map((detail) => cardRun(`\n${detail}`, { fontType: 'Monospace' }));
  return [cardRun(name, { weight: 'Bolder' }), cardRun(` ${words}`), ...lines];
}

function cardBlock(inlines: readonly object[]): object {
  return { type: 'RichTextBlock', inlines };
}

function cardRun(text: string, style: Readonly<Record<string, string>> = {}): object {
  const [, line = '', rest = ''] = /^(\n?)(.*)$/s.exec(text) ?? [];
  return { type: 'TextRun', text: line + cardText(rest), ...style };
}

/** Cards compute `{{DATE(…)}}` and the like, and `${…}` in templates; broken up they are text. */
function cardText(text: string): string {
  return visible(text).replaceAll(/([{$])(?=\{)/g, '$1\u2060');
}
