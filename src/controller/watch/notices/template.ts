import { Secret } from '../../../reconciler/model/secret.ts';
import { visible } from '../../../reconciler/render/text.ts';

/**
 * The notice about one environment, or about the controller. Names, paths and errors are foreign text: each form makes them inert in its
 * own way.
 */
export interface Item {
  readonly name: string;
  /** The words of setpoint that follow the name. */
  readonly words: string;
  /** Paths, rules and the text of an error; each may be foreign. */
  readonly details: readonly string[];
  /** The page of the environment; null without one. */
  readonly link: string | null;
  /** True if it is about the end of a state. */
  readonly isOver: boolean;
  /** Equal in the notices of one state, from its beginning to its end. */
  readonly key: string;
  readonly severity: 'warning' | 'critical';
}

/** The content of one message to a receiver. */
export interface Message {
  /** In words of our own; empty if one environment has the full text. */
  readonly title: string;
  /** The worst first. */
  readonly items: readonly Item[];
  /** The number of notices beyond `items`. */
  readonly more: number;
  /** The page of all; null without one. */
  readonly link: string | null;
}

/** The body of a POST: JSON with placeholders such as `{text}`, and the rules of the texts in it. */
export interface Template {
  readonly style: Style;
  /** The longest `{text}`, in characters. */
  readonly longest: number;
  /** JSON; a text of the file may be a secret. */
  readonly body: unknown;
}

/** The markup of a receiver: words of setpoint, foreign text, which must stay inert, and a link. */
interface Style {
  readonly own: (text: string) => string;
  readonly foreign: (text: string) => string;
  readonly link: (url: string) => string;
}

/** For receivers without markup. */
export const PLAIN: Style = { own: visible, foreign: visible, link: (url) => url };

export const STYLES = {
  slack: {
    own: slackText,
    foreign: (text) => codeText(slackText(text)),
    link: (url) => `<${slackText(url).replaceAll('|', '%7C')}|Show it>`,
  },
  discord: {
    own: (text) => visible(text).replaceAll(/[\\*_~|>[\]()#`<@-]/g, '\\$&'),
    foreign: (text) => codeText(visible(text)),
    link: (url) => `<${url}>`,
  },
  // Cards compute `{{DATE(…)}}` and the like, and `${…}` in templates; broken up they are text. The link is an action.
  card: { own: cardText, foreign: cardText, link: () => '' },
} as const satisfies Record<string, Style>;

/** Foreign text as code: nothing in it is formatted, linked or a mention. */
function codeText(text: string): string {
  const shown = text.replaceAll('`', 'ˋ');
  return `\`${shown.trim() === '' ? '…' : shown}\``;
}

function slackText(text: string): string {
  return visible(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function cardText(text: string): string {
  return visible(text).replaceAll(/([{$])(?=\{)/g, '$1\u2060');
}

/** Returns the message in one line, as a notification shows it. */
export function formatTitle({ title, items: [first] }: Message, { own, foreign }: Style): string {
  const isOne = title === '' && first !== undefined;
  return `setpoint: ${isOne ? `${foreign(first.name)} ${own(first.words)}` : own(title)}`;
}

/** Returns the whole message in lines. Items that would make it longer than `longest` are counted instead. */
export function formatText(message: Message, style: Style, longest: number): string {
  const { title, items, link } = message;
  const end = (more: number): string =>
    more === 0 ? '' : `\n… and ${more} more ${link === null ? '' : style.link(link)}`.trimEnd();
  let text = title === '' ? '' : style.own(title);
  for (const [index, item] of items.entries()) {
    const more = message.more + items.length - index - 1;
    const room = longest - text.length - end(more + 1).length - 1;
    const section = formatItem(item, style, room);
    if (section === null) return text + end(more + 1);
    text += `${text === '' ? '' : '\n'}${section}`;
  }
  return text + end(message.more);
}

/** Returns the lines of one item, without the details for which there is no room; null if there is none for its first line. */
function formatItem({ name, words, details, link }: Item, style: Style, room: number) {
  const url = link === null ? '' : style.link(link);
  const end = url === '' ? '' : `\n${url}`;
  let text = `${style.foreign(name)} ${style.own(words)}`;
  if (text.length + end.length > room) return null;
  for (const detail of details) {
    const line = `\n• ${style.foreign(detail)}`;
    if (text.length + line.length + end.length > room) break;
    text += line;
  }
  return text + end;
}

type Values = Readonly<Record<string, string | null>>;

/** Fills the placeholders of a body. A member without a value is left out, and so is the object in a list that has one. */
export function fillTemplate(body: unknown, values: Values, isInList = false): unknown {
  if (body instanceof Secret) return fillTemplate(String(body.reveal()), values);
  if (typeof body === 'string') return fillText(body, values);
  if (Array.isArray(body))
    return body.map((one) => fillTemplate(one, values, true)).filter((one) => one !== undefined);
  if (typeof body !== 'object' || body === null) return body;
  const all = Object.entries(body).map(
    ([name, value]) => [name, fillTemplate(value, values)] as const,
  );
  const present = all.filter(([, value]) => value !== undefined);
  return isInList && present.length < all.length ? undefined : Object.fromEntries(present);
}

function fillText(text: string, values: Values): string | undefined {
  let isMissing = false;
  const filled = text.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : whole;
    isMissing ||= value === null;
    return value ?? '';
  });
  return isMissing ? undefined : filled;
}
