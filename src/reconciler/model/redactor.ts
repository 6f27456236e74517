import { Matcher, mergeSpans, type Span } from './matcher.ts';
import { MASK, type Secret } from './secret.ts';
import { withoutUrlSecrets, addressParts } from './address.ts';
import { inspect } from 'node:util';

/**
 * The values that redactors have in common: from six characters on, each of them masks the values of all. Above a number of characters the oldest are
 * forgotten that were not added again meanwhile.
 */
export class SharedValues {
  readonly #most: number;
  #young = new Values();
  #old = new Values();

  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /** The number of values. */
  get size(): number {
    return this.#old.known.size + this.#young.known.size;
  }

  all(): readonly string[] {
    return [...new Set([...this.#old.known, ...this.#young.known])];
  }

  add(value: string): void {
    if (isShort(value) || this.#young.known.has(value)) return;
    if (this.#young.characters + value.length > this.#most) {
      this.#old = this.#young;
      this.#young = new Values();
    }
    this.#young.add(value);
  }

  /** Finds the positions of values in a text of one case. */
  spans(low: string): readonly Span[] {
    const [young, old] = [this.#young.inside.spans(low), this.#old.inside.spans(low)];
    if (old.length === 0 || young.length === 0) return old.length === 0 ? young : old;
    return mergeSpans([...young, ...old].toSorted(([a], [b]) => a - b));
  }

  hasNumber(number: number): boolean {
    return this.#young.numbers.has(number) || this.#old.numbers.has(number);
  }
}

class Values {
  readonly known = new Set<string>();
  readonly numbers = new Set<number>();
  readonly inside = new Matcher();
  characters = 0;

  add(value: string): void {
    this.known.add(value);
    this.characters += value.length;
    for (const form of listSecretForms(value).inside)
      if (!MASKED.includes(form)) this.inside.add(form);
    const number = Number(value);
    if (!Number.isNaN(number)) this.numbers.add(number);
  }
}

/** Reports whether a value is matched only as a whole text: it is short, or the mask contains it. */
function isShort(value: string): boolean {
  return value.length < SHORTEST_INSIDE || MASKED.includes(foldCase(value));
}

/**
 * Masks the values of references in any text: the whole text if it is such a value, of any length, and parts of other text from six
 * characters on; unchanged, in any case, and in every form of `encodings`. Urls lose their userinfo, query and fragment. Linear in the
 * text. Shared values also mask the texts of other redactors, except short ones: those would mask unrelated words and numbers.
 */
export class Redactor {
  readonly #shared: SharedValues;
  readonly #values = new Map<string, string | null>();
  readonly #numbers = new Set<number>();
  /** The forms of short values. */
  readonly #short = new Set<string>();
  /** The forms of values as a whole, with their reference. */
  #refs: ReadonlyMap<string, string | null> | null = null;

  constructor(shared = new SharedValues()) {
    this.#shared = shared;
  }

  /** Adds a value, and the text of the file that it is the whole of; null if it is a part, or not known. */
  add(value: string, ref: string | null): void {
    if (value.trim() === '' || foldCase(value) === MASKED) return;
    const known = this.#values.get(value);
    if (known !== undefined && (ref === null || ref === known)) return;
    this.#values.set(value, ref);
    this.#refs = null;
    this.#shared.add(value);
    if (isShort(value)) for (const form of listSecretForms(value).whole) this.#short.add(form);
    const number = Number(value);
    if (!Number.isNaN(number)) this.#numbers.add(number);
  }

  addSecret(secret: Secret): void {
    secret.compareWith((value) => {
      this.add(value, secret.ref);
      return '';
    });
  }

  text(text: string): string {
    if (text === '' || text === MASK) return text;
    const low = foldCase(text);
    const spans = this.#spans(low);
    const [first] = spans;
    if (first !== undefined && first[0] === 0 && first[1] === low.length) return MASK;
    return withoutUrlSecrets(replaceSpans(text, spans));
  }

  /** Reports whether a text is, or contains, such a value. */
  holds(text: string): boolean {
    return this.#spans(foldCase(text)).length > 0;
  }

  /** A number of a document; the mask if it is such a value. */
  number(number: number): number | string {
    return this.#numbers.has(number) || this.#shared.hasNumber(number) ? MASK : number;
  }

  /** A text in documents: its reference if it is the whole value of one. */
  reference(text: string): string {
    const shown = this.text(text);
    if (shown === text || this.#values.size === 0) return shown;
    this.#refs ??= indexSecretForms(this.#values);
    return this.#refs.get(foldCase(text)) ?? shown;
  }

  #spans(low: string): readonly (readonly [number, number])[] {
    const whole = low.trim();
    if (this.#short.size > 0 && (this.#short.has(low) || this.#short.has(whole)))
      return [[0, low.length]];
    const spans = this.#shared.spans(low);
    const [first] = spans;
    if (first === undefined || first[1] - first[0] < whole.length) return spans;
    return [[0, low.length]];
  }
}

function indexSecretForms(
  values: ReadonlyMap<string, string | null>,
): ReadonlyMap<string, string | null> {
  const refs = new Map<string, string | null>();
  for (const [value, ref] of values)
    for (const form of listSecretForms(value).whole) refs.set(form, ref);
  return refs;
}

const MASKED = foldCase(MASK);

function replaceSpans(text: string, spans: readonly (readonly [number, number])[]): string {
  if (spans.length === 0) return text;
  let shown = '';
  let from = 0;
  for (const [start, end] of spans) {
    shown += text.slice(from, start) + MASK;
    from = end;
  }
  return shown + text.slice(from);
}

/** From this length on a secret is found inside other text; a shorter one would be found in any word. */
export const SHORTEST_INSIDE = 6;

const LONGEST_JSON = 64 * 1024;

/** A secret as it may be written, in one case: `inside` are its forms inside of a text, `whole` its forms as a whole text. */
export interface Forms {
  readonly whole: ReadonlySet<string>;
  readonly inside: ReadonlySet<string>;
}

/** The forms in which a value has been seen to get out: unchanged, escaped and encoded, its lines, and the texts of a JSON value. */
export function listSecretForms(value: string): Forms {
  const whole = new Set<string>();
  const inside = new Set<string>();
  for (const part of [value, ...visibleParts(value)]) {
    const long = part.length >= SHORTEST_INSIDE;
    if (part !== value && !long) continue;
    for (const form of texts(part)) {
      const low = foldCase(form);
      whole.add(low);
      if (low.length >= SHORTEST_INSIDE && long) inside.add(low);
    }
    if (long) for (const form of listByteEncodings(part)) inside.add(foldCase(form));
  }
  return { whole, inside };
}

/** In one case, unit by unit, so that positions stay the same. */
export function foldCase(text: string): string {
  if (/^[\u0000-\u007F]*$/.test(text)) return text.toLowerCase();
  let low = '';
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charAt(index).toLowerCase();
    low += unit.length === 1 ? unit : text.charAt(index);
  }
  return low;
}

/** Returns the parts of a value that may leak alone: its lines, the parts of an address, and the leaves of JSON. */
function visibleParts(value: string): string[] {
  const trimmed = value.trim();
  const parts = trimmed === value ? [] : [trimmed];
  if (/[\r\n]/.test(trimmed)) parts.push(...trimmed.split(/[\r\n]+/).map((line) => line.trim()));
  if (ADDRESS.test(trimmed)) parts.push(...listAddressSecrets(trimmed));
  if (/^[[{]/.test(trimmed) && trimmed.length <= LONGEST_JSON)
    parts.push(...listJsonLeaves(trimmed));
  return parts;
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Returns the parts of an address that may leak: itself without secrets, its password, query values, and ids in its path. */
function listAddressSecrets(address: string): string[] {
  const { prefix, userinfo, body, tail } = addressParts(address);
  const [, ...segments] = body.split('/');
  const bare = `${prefix}${body}`.replace(/\/{1,8}$/, '');
  const secrets = [
    userinfo,
    userinfo.slice(userinfo.indexOf(':') + 1),
    ...tail.split(/[?#&;]/).map((pair) => pair.slice(pair.indexOf('=') + 1)),
    ...segments.filter((segment) => /\d/.test(segment)),
  ];
  return [...(segments.length > 0 ? [bare] : []), ...secrets.flatMap(decodePercent)];
}

function decodePercent(text: string): string[] {
  try {
    return [text, decodeURIComponent(text)];
  } catch {
    // Not percent-encoded: unchanged.
    return [text];
  }
}

function listJsonLeaves(text: string): string[] {
  const leaves: string[] = [];
  const open: unknown[] = [];
  try {
    open.push(JSON.parse(text));
  } catch {
    // Not JSON: the parser's own words may hold the value.
    return leaves;
  }
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one === 'string') leaves.push(one, ...one.split(/[\r\n]+/));
    else if (typeof one === 'object' && one !== null) open.push(...Object.values(one));
  }
  return leaves;
}

function texts(value: string): string[] {
  const cased = [value, value.toUpperCase(), value.toLowerCase()];
  if (/^[A-Za-z\d_.-]*$/.test(value)) return cased;
  const json = JSON.stringify(value).slice(1, -1);
  const ascii = json.replaceAll(/[^ -~]/g, escapeCodeUnit);
  const html = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = html.replaceAll('"', '&quot;');
  return [
    ...cased,
    json,
    ascii,
    json.replaceAll('/', String.raw`\/`),
    ascii.replaceAll(/[<>&]/g, escapeCodeUnit),
    JSON.stringify(json).slice(1, -1),
    JSON.stringify(ascii).slice(1, -1),
    percent(value, encodeURI),
    percent(value, encodeURIComponent),
    new URLSearchParams({ '': value }).toString().slice(1),
    html,
    quoted,
    quoted.replaceAll("'", '&#39;'),
    quoted.replaceAll("'", '&#x27;'),
    value.replaceAll("'", "''"),
    inspect(value).slice(1, -1),
    Buffer.from(value).toString('latin1'),
  ];
}

/** Half of a character has no encoding. */
function percent(value: string, encode: (text: string) => string): string {
  return encode(value.replaceAll(/[\uD800-\uDFFF]/gu, '\uFFFD'));
}

function escapeCodeUnit(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Shorter pieces of base64 are found by chance. */
const SHORTEST_BASE64 = 8;

/** Hexadecimal, and base64 wherever in a longer text the value begins. */
function listByteEncodings(value: string): string[] {
  const raw = Buffer.from(value);
  const forms = [raw.toString('hex')];
  for (const shift of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(shift), raw]);
    // The characters at both ends also contain bits of the text around the value.
    const from = shift === 0 ? 0 : shift + 1;
    const to = Math.floor((shifted.length * 8) / 6);
    for (const encoding of ['base64', 'base64url'] as const) {
      const form = shifted.toString(encoding).slice(from, to);
      if (form.length >= SHORTEST_BASE64) forms.push(form);
      if (shift === 0 && form.length >= SHORTEST_BASE64) forms.push(form.slice(0, SHORTEST_BASE64));
    }
  }
  return forms;
}
