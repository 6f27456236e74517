import { SHORTEST_INSIDE, Redactor } from '../model/redactor.ts';
import type { Secret } from '../model/secret.ts';
import { isList, isRecord, type Value } from '../model/value.ts';

/** A place in a request that a service refuses: names and positions, `?` for a part that must not be shown. */
export type RefusedPlace = readonly (string | number)[];

const MOST = 10;
const DEEPEST = 12;

/**
 * Returns what a service objects to in a refused request, in words: `mcp_config.sse_servers[0].url: "Field required"`. Empty if the answer,
 * the `detail` of FastAPI, names nothing.
 *
 * The answer repeats the request, including secrets. So of each detail only `loc`, `type` and `msg` are read: of `loc` the parts with the form
 * of a name or a position, of `msg` a text of one line, in quotes. Neither is shown if it contains a secret, in any form or case, or is a
 * part of one.
 */
export function formatRefusedMembers(
  body: Value,
  secrets: readonly Secret[],
  format: (place: RefusedPlace) => string = formatPlace,
): string {
  const detail = isRecord(body) ? (body['detail'] ?? null) : null;
  const hidden = new HiddenTexts(secrets);
  const found = isList(detail)
    ? detail.flatMap((one) => formatDetail(one, hidden, format) ?? [])
    : [quoteReason(detail, hidden)].flatMap((text) =>
        text === null ? [] : `${format([])}: ${text}`,
      );
  const shown = [...new Set(found)].slice(0, MOST).join(', ');
  return found.length > MOST ? `${shown} and more` : shown;
}

function formatDetail(
  detail: Value,
  hidden: HiddenTexts,
  format: (place: RefusedPlace) => string,
): string | null {
  if (!isRecord(detail) || !isList(detail['loc'])) return null;
  const { loc, type = null, msg = null } = detail;
  const path = loc[0] === 'body' ? loc.slice(1) : loc;
  const place = format(path.slice(0, DEEPEST).map((segment) => readSegment(segment, hidden)));
  const reason = quoteReason(msg, hidden);
  if (reason !== null) return `${place}: ${reason}`;
  const isNamed = typeof type === 'string' && hidden.allows(type, /^[a-z][a-z0-9_]{0,39}$/);
  return isNamed ? `${place} (${type})` : place;
}

/** A sentence of the service in quotes; null if it must not be shown. */
function quoteReason(text: Value, hidden: HiddenTexts): string | null {
  const isShown = typeof text === 'string' && hidden.allows(text, /^[ -~]{1,200}$/);
  return isShown ? JSON.stringify(text) : null;
}

/** `a[0].b`; the body for a place without parts. */
export function formatPlace(place: RefusedPlace): string {
  const text = place.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return text.replace(/^\./, '') || 'the body';
}

function readSegment(segment: Value, hidden: HiddenTexts): string | number {
  if (typeof segment === 'number' && Number.isSafeInteger(segment) && segment >= 0) return segment;
  const isName = typeof segment === 'string' && hidden.allows(segment, NAME);
  return isName ? segment : '?';
}

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,39}$/;

/** The sent values that must not be shown. */
class HiddenTexts {
  readonly #secrets: readonly Secret[];
  readonly #redactor = new Redactor();

  constructor(secrets: readonly Secret[]) {
    this.#secrets = secrets;
    for (const secret of secrets) this.#redactor.addSecret(secret);
  }

  /** Reports whether a text has a form, and neither contains a secret nor a part of one. */
  allows(text: string, form: RegExp): boolean {
    if (!form.test(text) || this.#redactor.text(text) !== text) return false;
    const words = text.split(/[^\w-]+/).map((word) => word.toLowerCase());
    const long = words.filter(({ length }) => length >= SHORTEST_INSIDE);
    return !this.#secrets.some((secret) =>
      secret.fits((value) => long.some((word) => value.toLowerCase().includes(word))),
    );
  }
}
