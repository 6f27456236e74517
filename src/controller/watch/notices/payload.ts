import { newsItem, newsMessage, type News } from './controller-news.ts';
import { jsonDocument, jsonPayload } from './json.ts';
import { messageOf } from './message.ts';
import type { Due } from './decide.ts';
import type { Alertmanager, Webhook } from './receiver.ts';
import type { Outgoing } from './send.ts';
import { slackPayload } from './slack.ts';
import { teamsPayload } from './teams.ts';

/** What a receiver of messages gets, at a time in milliseconds since 1970. */
export function payloadOf(
  form: Webhook['form'],
  due: readonly Due[],
  page: string | null,
  at: number,
): unknown {
  switch (form) {
    case 'slack':
      return slackPayload(messageOf(due, page));
    case 'teams':
      return teamsPayload(messageOf(due, page));
    case 'json':
      return jsonPayload(due, page, at);
  }
}

/** What a receiver of messages gets of the controller itself. */
export function newsPayload(
  form: Webhook['form'],
  news: readonly News[],
  page: string | null,
  at: number,
): unknown {
  switch (form) {
    case 'slack':
      return slackPayload(newsMessage(news, page));
    case 'teams':
      return teamsPayload(newsMessage(news, page));
    case 'json':
      return jsonDocument(
        news.map((one) => newsItem(one, page)),
        at,
      );
  }
}

/** The request that carries a payload to a receiver; the url of Alertmanager is that of the server. */
export function requestTo({ form, url, headers }: Webhook | Alertmanager, body: unknown): Outgoing {
  const address = String(url.reveal());
  return {
    method: 'POST',
    url: form === 'alertmanager' ? `${address.replace(/\/+$/, '')}/api/v2/alerts` : address,
    headers: Object.fromEntries(
      [...headers].map(([name, value]) => [name, String(value.reveal())]),
    ),
    body,
  };
}
