import { visible } from '../../../reconciler/render/visible.ts';
import type { Item, Message } from './message.ts';

/** Characters of a section, as Slack limits them. */
const LONGEST_SECTION = 3000;

/** A message for an incoming webhook of Slack: one section for each environment, and a text for the notification. */
export function slackPayload({ title, items, more, link }: Message): unknown {
  const rest =
    more > 0 ? [`… and ${more} more${link === null ? '' : ` (${linked(link, 'all')})`}`] : [];
  const lines = [...(title === '' ? [] : [`*${inert(title)}*`]), ...items.map(lineOf), ...rest];
  return {
    text: summaryOf(title, items),
    blocks: lines.map((line) => ({
      type: 'section',
      // Nothing is made a link or a mention but what is written as one.
      text: { type: 'mrkdwn', text: line, verbatim: true },
    })),
    unfurl_links: false,
    unfurl_media: false,
  };
}

function summaryOf(title: string, [first]: readonly Item[]): string {
  return `setpoint: ${title === '' && first !== undefined ? `${code(first.name)} ${inert(first.words)}` : inert(title)}`;
}

function lineOf({ name, words, details, link }: Item): string {
  const end = link === null ? '' : `\n${linked(link, 'Show it')}`;
  let text = `${code(name)} ${inert(words)}`;
  for (const detail of details) {
    const line = `\n• ${code(detail)}`;
    if (text.length + line.length + end.length > LONGEST_SECTION) break;
    text += line;
  }
  return text + end;
}

/** Foreign text as code: nothing in it is formatted, linked or a mention. */
function code(text: string): string {
  const held = inert(text).replaceAll('`', 'ˋ');
  return `\`${held.trim() === '' ? '…' : held}\``;
}

function inert(text: string): string {
  return visible(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function linked(url: string, text: string): string {
  return `<${inert(url).replaceAll('|', '%7C')}|${text}>`;
}
