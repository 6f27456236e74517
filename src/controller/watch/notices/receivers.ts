import { TOOL } from '../../../reconciler/model/version.ts';
import type { NoticeKind } from '../../../reconciler/model/watch.ts';
import type { Content } from './message.ts';
import type { Alertmanager, Destination, ReceiverEvent, Webhook } from './receiver.ts';
import type { Outgoing } from './send.ts';
import { fillTemplate, formatText, formatTitle, PLAIN, STYLES, type Template } from './template.ts';

/**
 * The form of receivers of one kind. Each message is one POST, which is accepted if the answer is a success.
 *
 * 1. Must set the kind of its `address`, and the `keys` that the file may have for it.
 * 2. Must list the events that are `excluded`, and the `longestPause` after a refusal.
 * 3. May have a `url` and a `path`, if the file has only a key.
 * 4. May set `isKeyed` if it recognizes a message that it already has.
 * 5. May have a `template`; without one, code sends its messages.
 *
 * @example
 * const mattermost: ReceiverForm = {
 *   address: 'secret',
 *   keys: ['headers'],
 *   excluded: [],
 *   longestPause: 3_600_000,
 *   template: { style: STYLES.slack, longest: 3000, body: { text: '{text}' } },
 * };
 */
interface ReceiverForm {
  /** The kind of its address in the file of --notify: a secret, a url that is not necessarily secret, or the name of a repository. */
  readonly address: 'secret' | 'url' | 'repository';
  /** The address itself, where the file has only a key for it. */
  readonly url?: string;
  /** The path of the POST behind the address. */
  readonly path?: string;
  /** The members that the file may have next to its address, for this kind only. */
  readonly keys: readonly string[];
  /** The events that it never gets: an issue is about drift, and an alert about a lasting state. */
  readonly excluded: readonly ReceiverEvent[];
  /** The longest pause after it did not accept a message, in milliseconds. */
  readonly longestPause: number;
  /** Each notice is a message of its own, and recognized by a key: one that may have been delivered is sent again. */
  readonly isKeyed?: boolean;
  readonly template?: Template;
}

const HOUR = 3_600_000;
const CHAT = { address: 'secret', keys: ['headers'], excluded: [], longestPause: HOUR } as const;
const OF_HEALING: readonly NoticeKind[] = ['heal-failed', 'write-refused', 'healing-stopped'];

export const FORMS: Readonly<Record<Destination['form'], ReceiverForm>> = {
  slack: {
    ...CHAT,
    template: {
      style: STYLES.slack,
      longest: 3000,
      body: {
        text: '{title}',
        // Nothing is made a link or a mention but what is written as one.
        blocks: [{ type: 'section', text: { type: 'mrkdwn', text: '{text}', verbatim: true } }],
        unfurl_links: false,
        unfurl_media: false,
      },
    },
  },
  // A workflow takes an Adaptive Card at its webhook. Runs of text are no Markdown there.
  teams: {
    ...CHAT,
    template: {
      style: STYLES.card,
      longest: 10_000,
      body: {
        type: 'message',
        attachments: [
          {
            contentType: 'application/vnd.microsoft.card.adaptive',
            contentUrl: null,
            content: {
              $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
              type: 'AdaptiveCard',
              version: '1.4',
              fallbackText: '{title}',
              body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: '{text}' }] }],
              actions: [{ type: 'Action.OpenUrl', title: 'Show it', url: '{link}' }],
            },
          },
        ],
      },
    },
  },
  discord: {
    ...CHAT,
    template: {
      style: STYLES.discord,
      longest: 2000,
      body: { content: '{text}', allowed_mentions: { parse: [] } },
    },
  },
  pagerduty: {
    ...CHAT,
    url: 'https://events.pagerduty.com/v2/enqueue',
    excluded: ['healed'],
    isKeyed: true,
    template: {
      style: PLAIN,
      longest: 10_000,
      body: {
        routing_key: '{secret}',
        event_action: '{action}',
        dedup_key: '{key}',
        client: 'setpoint',
        payload: {
          summary: '{title}',
          source: '{name}',
          severity: '{severity}',
          custom_details: { text: '{text}' },
        },
        links: [{ href: '{link}', text: 'Show it' }],
      },
    },
  },
  alertmanager: {
    address: 'url',
    path: '/api/v2/alerts',
    keys: ['headers'],
    excluded: ['healed'],
    // A firing alert expires if it is not sent.
    longestPause: HOUR / 6,
  },
  json: { ...CHAT, address: 'url', keys: ['headers', 'body'] },
  'github-issue': {
    address: 'repository',
    keys: ['token', 'api_url'],
    excluded: ['controller', 'healed', ...OF_HEALING],
    longestPause: HOUR,
  },
};

/** The request that notifies a receiver of messages, at a time in milliseconds since 1970. */
export function messageTo(to: Webhook, content: Content, at: number): Outgoing {
  const template = to.template ?? FORMS[to.form].template;
  if (template !== undefined) return postTo(to, bodyOf(to, template, content));
  const sent = { tool: TOOL, sent_at: new Date(at).toISOString(), notices: content.notices() };
  return postTo(to, { format_version: '1.0', kind: 'notices', ...sent });
}

function bodyOf({ url }: Webhook, { style, longest, body }: Template, content: Content): unknown {
  const message = content.message();
  const [first] = message.items;
  const isOver = first?.isOver === true;
  return fillTemplate(body, {
    title: formatTitle(message, style),
    text: formatText(message, style, longest),
    link: (message.items.length === 1 ? first?.link : null) ?? message.link,
    secret: String(url.reveal()),
    action: isOver ? 'resolve' : 'trigger',
    key: first?.key ?? null,
    name: first === undefined ? null : style.own(first.name),
    severity: first?.severity ?? null,
  });
}

/** The request that carries a body to a receiver. */
export function postTo({ form, url, headers }: Webhook | Alertmanager, body: unknown): Outgoing {
  const { path = '', url: fixed } = FORMS[form];
  const address = fixed ?? String(url.reveal());
  return {
    method: 'POST',
    url: path === '' ? address : `${address.replace(/\/+$/, '')}${path}`,
    headers: Object.fromEntries(
      [...headers].map(([name, value]) => [name, String(value.reveal())]),
    ),
    body,
  };
}
