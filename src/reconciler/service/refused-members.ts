import { SHORTEST_INSIDE, Redactor } from '../model/redactor.ts';
import type { Secret } from '../model/secret.ts';
import { isList, isRecord, type Value } from '../model/value.ts';

/** A place in a request that a service refuses: names and positions, `?` for a part that must not be shown. */
export type RefusedPlace = readonly (string | number)[];

const MOST = 10;
const DEEPEST = 12;

/**
 * Returns what a service objects to in a refused request: `mcp_config.sse_servers[0].url (missing)`. Empty if the answer, the `detail` of
 * FastAPI, names nothing.
 *
 * The answer repeats the request and what the service has stored, including secrets that nobody here knows. So its sentences are not shown:
 * of each detail only `loc` and `type` are read, and of those the parts with the form of a name or a position that neither contain a secret
 * of the request, in any form or case, nor are a part of one. With `sent`, a name is shown only if that body has a member of the name, or if
 * the service misses it. `format` returns null for a place that is not to be shown.
 */
export function formatRefusedMembers(
  body: Value,
  secrets: readonly Secret[],
  format: (place: RefusedPlace) => string | null = formatPlace,
  sent?: Value,
): string {
  const details = isRecord(body) && isList(body['detail']) ? body['detail'] : [];
  const hidden = new HiddenTexts(secrets);
  const names = sent === undefined ? null : new Set(listMemberNames(sent));
  const found = details.flatMap((one) => formatDetail(one, hidden, format, names) ?? []);
  const shown = [...new Set(found)].slice(0, MOST).join(', ');
  return found.length > MOST ? `${shown} and more` : shown;
}

function formatDetail(
  detail: Value,
  hidden: HiddenTexts,
  format: (place: RefusedPlace) => string | null,
  names: ReadonlySet<string> | null,
): string | null {
  if (!isRecord(detail) || !isList(detail['loc'])) return null;
  const { loc, type = null } = detail;
  const path = loc[0] === 'body' ? loc.slice(1) : loc;
  const known = type === 'missing' ? null : names;
  const place = format(
    path.slice(0, DEEPEST).map((segment) => readSegment(segment, hidden, known)),
  );
  if (place === null) return null;
  const isNamed = typeof type === 'string' && hidden.allows(type, /^[a-z][a-z0-9_]{0,39}$/);
  return isNamed ? `${place} (${type})` : place;
}

function listMemberNames(value: Value): string[] {
  if (isList(value)) return value.flatMap(listMemberNames);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...listMemberNames(inner)]);
}

/** `a[0].b`; the body for a place without parts. */
export function formatPlace(place: RefusedPlace): string {
  const text = place.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return text.replace(/^\./, '') || 'the body';
}

function readSegment(
  segment: Value,
  hidden: HiddenTexts,
  known: ReadonlySet<string> | null,
): string | number {
  if (typeof segment === 'number' && Number.isSafeInteger(segment) && segment >= 0) return segment;
  if (typeof segment !== 'string' || known?.has(segment) === false) return '?';
  return hidden.allows(segment, NAME) ? segment : '?';
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
