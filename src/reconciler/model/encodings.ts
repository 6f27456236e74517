import { inspect } from 'node:util';
import { addressParts } from './address.ts';

/** From this length on a secret is found inside other text; a shorter one would be found in any word. */
export const SHORTEST_INSIDE = 6;

const LONGEST_JSON = 64 * 1024;

/** A secret as it may be written, in one case: `inside` are its forms inside of a text, `whole` its forms as a whole text. */
export interface Forms {
  readonly whole: ReadonlySet<string>;
  readonly inside: ReadonlySet<string>;
}

/** The forms in which a value has been seen to get out: as it is, escaped and encoded, its lines, and the texts of a JSON value. */
export function formsOf(value: string): Forms {
  const whole = new Set<string>();
  const inside = new Set<string>();
  for (const part of [value, ...visibleParts(value)]) {
    const long = part.length >= SHORTEST_INSIDE;
    if (part !== value && !long) continue;
    for (const form of texts(part)) {
      const low = folded(form);
      whole.add(low);
      if (low.length >= SHORTEST_INSIDE && long) inside.add(low);
    }
    if (long) for (const form of bytes(part)) inside.add(folded(form));
  }
  return { whole, inside };
}

/** In one case, unit by unit, so that positions stay the same. */
export function folded(text: string): string {
  if (/^[\u0000-\u007F]*$/.test(text)) return text.toLowerCase();
  let low = '';
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charAt(index).toLowerCase();
    low += unit.length === 1 ? unit : text.charAt(index);
  }
  return low;
}

/** What may be seen of a value without the rest of it: its lines, the parts of an address, and the leaves of JSON. */
function visibleParts(value: string): string[] {
  const trimmed = value.trim();
  const parts = trimmed === value ? [] : [trimmed];
  if (/[\r\n]/.test(trimmed)) parts.push(...trimmed.split(/[\r\n]+/).map((line) => line.trim()));
  if (ADDRESS.test(trimmed)) parts.push(...addressIn(trimmed));
  if (/^[[{]/.test(trimmed) && trimmed.length <= LONGEST_JSON) parts.push(...leavesOf(trimmed));
  return parts;
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Of an address: itself without what must not be shown, its password, the values of its query, and ids in its path. */
function addressIn(address: string): string[] {
  const { prefix, userinfo, body, tail } = addressParts(address);
  const [, ...segments] = body.split('/');
  const bare = `${prefix}${body}`.replace(/\/{1,8}$/, '');
  const secrets = [
    userinfo,
    userinfo.slice(userinfo.indexOf(':') + 1),
    ...tail.split(/[?#&;]/).map((pair) => pair.slice(pair.indexOf('=') + 1)),
    ...segments.filter((segment) => /\d/.test(segment)),
  ];
  return [...(segments.length > 0 ? [bare] : []), ...secrets.flatMap(decoded)];
}

function decoded(text: string): string[] {
  try {
    return [text, decodeURIComponent(text)];
  } catch {
    // Not percent-encoded: as it is.
    return [text];
  }
}

function leavesOf(text: string): string[] {
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
  const ascii = json.replaceAll(/[^ -~]/g, unicode);
  const html = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = html.replaceAll('"', '&quot;');
  return [
    ...cased,
    json,
    ascii,
    json.replaceAll('/', String.raw`\/`),
    ascii.replaceAll(/[<>&]/g, unicode),
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
  return encode(value.replaceAll(/\p{Surrogate}/gu, '\uFFFD'));
}

function unicode(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Shorter pieces of base64 are found by chance. */
const SHORTEST_BASE64 = 8;

/** Hexadecimal, and base64 wherever in a longer text the value begins. */
function bytes(value: string): string[] {
  const raw = Buffer.from(value);
  const forms = [raw.toString('hex')];
  for (const shift of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(shift), raw]);
    // The characters at both ends hold bits of the text beside the value.
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
