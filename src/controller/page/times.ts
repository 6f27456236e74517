import { formatUtcMinute } from '../../reconciler/model/wording.ts';
import { markup, type Markup } from '../../reconciler/render/html/page.ts';
import { ageText } from '../../reconciler/render/change.ts';

/** The time since or until then: `3 m ago`, `in 2 m`. The page's script counts on. Null is `never`. */
export function ageHtml(at: string | null, now: number): Markup {
  const time = at === null ? Number.NaN : Date.parse(at);
  if (Number.isNaN(time)) return markup`<span class="soft">never</span>`;
  const iso = new Date(time).toISOString();
  return markup`<time datetime="${iso}" title="${formatUtcMinute(iso)}" data-age>${ageWords(time, now)}</time>`;
}

/** The same for a time that is to come, `3 m late` once it has passed; null is `–`. */
export function dueHtml(at: string | null, now: number): Markup {
  const time = at === null ? Number.NaN : Date.parse(at);
  if (Number.isNaN(time)) return markup`<span class="soft">–</span>`;
  const iso = new Date(time).toISOString();
  const words = time <= now ? `${ageText(now - time, ' ')} late` : ageWords(time, now);
  return markup`<time datetime="${iso}" title="${formatUtcMinute(iso)}" data-age="due">${words}</time>`;
}

/** Renders a duration since a time: `for 3 m`. The page's script counts on. */
export function lastingHtml(since: string, now: number): Markup {
  const time = Date.parse(since);
  if (Number.isNaN(time)) return markup`since ${since}`;
  const iso = new Date(time).toISOString();
  return markup`for <time datetime="${iso}" title="since ${formatUtcMinute(iso)}" data-age="span">${ageText(now - time, ' ')}</time>`;
}

function ageWords(time: number, now: number): string {
  if (time <= now) return `${ageText(now - time, ' ')} ago`;
  return `in ${ageText(time - now, ' ')}`;
}

/** A time in UTC to the second, and how long ago that was. */
export function renderRelativeTime(at: string, now: number): Markup {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return markup`${at}`;
  const iso = new Date(time).toISOString();
  return markup`<time datetime="${iso}">${secondText(iso)}</time> <span class="soft">(${ageHtml(at, now)})</span>`;
}

/** `between 2026-03-01 11:08:00 and 11:13:00 UTC`. */
export function betweenText(from: string, to: string): string {
  const [first, last] = [clockText(from), clockText(to)];
  const isOneDay = first.slice(0, 11) === last.slice(0, 11) && first.endsWith(' UTC');
  return `between ${isOneDay ? first.slice(0, -4) : first} and ${isOneDay ? last.slice(11) : last}`;
}

/** A time in UTC to the second, as text. */
export function clockText(at: string): string {
  const time = Date.parse(at);
  return Number.isNaN(time) ? at : secondText(new Date(time).toISOString());
}

export function secondText(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}
