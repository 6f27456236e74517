import { addressParts } from '../model/address.ts';
import { ACTIVE_FORM } from '../model/collection-forms.ts';
import { findPathFacts, type TextUse } from '../model/path-facts.ts';
import type { Path } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { type Identity, Secret, UnseenSecret } from '../model/secret.ts';
import { isList, isRecord, createRecord, type Value } from '../model/value.ts';
import { findIndirection } from './indirections.ts';
import { unseen } from './lookup.ts';
import { type TemplatePart, parseWholeReference } from './references.ts';

/** The reason why a text cannot work where it is used. */
export interface Flaw {
  /** Behind the name of the place, or "its value": without a word of the text. */
  readonly what: string;
  readonly hint: string;
  readonly kind: 'form' | 'indirection' | 'userinfo';
}

function isFree(use: TextUse): boolean {
  return use === 'free' || use === 'prose';
}

/** The first reason why a text cannot work for a use; null if there is none. Empty text clears, and is not a flaw. */
export function findFlaw(text: string, use: TextUse): Flaw | null {
  if (text === '' || isFree(use)) return null;
  return characterFlaw(text, use) ?? indirectionFlaw(text, use) ?? addressFlaw(text, use);
}

const INVISIBLE = /[\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/;
/** Joiners are parts of words and signs of many scripts, and of nothing in ASCII. */
const JOINERS = /^[\u0000-\u007F\u200C\u200D]*[\u200C\u200D][\u0000-\u007F\u200C\u200D]*$/;
const BREAKS = /[\r\n\u0085\u2028\u2029]/;
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001F\u007F-\u009F]/;

function characterFlaw(text: string, use: TextUse): Flaw | null {
  const form = (what: string, hint: string): Flaw => ({ what, hint, kind: 'form' });
  // The address of an mcp server is trimmed when it is read.
  const own = use === 'endpoint' ? text.trim() : text;
  if (own.trim() === '')
    return URL_FORM[use] === undefined
      ? form('is blank', 'Write a value, or remove the key.')
      : null;
  if (BREAKS.test(own.trim())) return form('has more than one line', 'Remove the line break.');
  if (BREAKS.test(own))
    return form(
      'has a line break at its end or start',
      'Remove the line break: printf %s writes none, echo does.',
    );
  if (own !== own.trim())
    return form('has a blank at its end or start', 'Remove the white space around it.');
  if (INVISIBLE.test(own) || JOINERS.test(own))
    return form('has an invisible character', 'Type it again, or paste it as plain text.');
  if (CONTROLS.test(own)) return form('has a control character', 'Remove the character.');
  // eslint-disable-next-line no-control-regex
  if (use === 'header' && /[^\u0000-\u00FF]/.test(own))
    return form(
      'has a character that no header can carry',
      'Use letters, digits and signs of ASCII.',
    );
  return null;
}

/** A key may contain text that looks like a placeholder; a key that is only that is not valid. */
function indirectionFlaw(text: string, use: TextUse): Flaw | null {
  const found = findIndirection(text);
  const isSecret = use === 'key' || use === 'header';
  if (found === null || (isSecret && !(found.isWhole && found.isCertain))) return null;
  return {
    what: `is ${found.what}, which setpoint does not replace`,
    hint: 'Write the value itself.',
    kind: 'indirection',
  };
}

interface AddressForm {
  readonly form: RegExp;
  readonly words: string;
  readonly example: string;
}

const URL_FORM: Readonly<Partial<Record<TextUse, AddressForm>>> = {
  url: {
    form: /^https?:\/\/[^\s/?#\\]+\S*$/i,
    words: 'an address with http or https and a host',
    example: 'https://llm.example.com/v1',
  },
  endpoint: {
    form: /^(?:https?|wss?):\/\/[^\s/?#\\]+\S*$/i,
    words: 'an address with http, https, ws or wss and a host',
    example: 'https://mcp.example.com/mcp',
  },
  host: {
    form: /^(?:https?:\/\/)?[^\s/?#\\:]+\S*$/i,
    words: 'a host',
    example: 'gitlab.example.com',
  },
};

function addressFlaw(text: string, use: TextUse): Flaw | null {
  const known = URL_FORM[use];
  if (known === undefined) return null;
  const address = text.trim();
  const full = use === 'host' && !address.includes('://') ? `https://${address}` : address;
  const isOfForm = known.form.test(address);
  if (!isOfForm || !URL.canParse(full))
    return {
      what: isOfForm ? 'is an address with an invalid host or port' : `is not ${known.words}`,
      hint: `Write it like ${known.example}.`,
      kind: 'form',
    };
  if (use !== 'endpoint' && addressParts(full).userinfo !== '')
    return {
      what: 'has credentials in front of its host',
      hint: 'Remove what is in front of @, and give the key in the field for it.',
      kind: 'userinfo',
    };
  return null;
}

/** Returns the same for a text with references: the text around them decides, if it can. */
export function findTemplateFlaw(parts: readonly TemplatePart[], use: TextUse): Flaw | null {
  const literals = parts.filter((part) => typeof part === 'string');
  const whole = parts.map((part) => (typeof part === 'string' ? part : 'x')).join('');
  if (literals.length === parts.length) return findFlaw(whole, use);
  if (isFree(use)) return null;
  const flaw = characterFlaw(whole, use);
  if (flaw !== null) return flaw;
  for (const text of literals) {
    const found = indirectionFlaw(text, use);
    if (found !== null) return found;
  }
  return typeof parts[0] === 'string' ? addressFlaw(whole, use) : null;
}

/**
 * A value without the references that cannot work where they are used: each is unseen, with the reason, as one without a value is. Literals are
 * judged where the file is checked. Where a list of text stands, one reference becomes the list of its parts, which `note` gets.
 */
export function withUsable(value: Value, path: Path, note?: ReferenceSource['resolved']): Value {
  if (value instanceof UnseenSecret) return value;
  if (value instanceof Secret) return usable(value, path, note);
  if (isList(value))
    return sameOr(value, (one, index) => withUsable(one, [...path, String(index)], note));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(
    ([key, one]) => [key, one, withUsable(one, [...path, key], note)] as const,
  );
  return entries.every(([, one, own]) => one === own)
    ? value
    : createRecord(entries.map(([key, , own]) => [key, own] as const));
}

function sameOr(list: readonly Value[], map: (one: Value, index: number) => Value): Value {
  const mapped = list.map(map);
  return mapped.every((one, index) => one === list[index]) ? list : mapped;
}

function usable(secret: Secret, path: Path, note: ReferenceSource['resolved']): Value {
  const { ref } = secret;
  if (ref === null) return secret;
  const { use, list, item, words } = findPathFacts(path);
  const text = list === false ? '' : String(secret.reveal());
  if (list === 'flag' && ['true', 'false'].includes(text)) return new Secret(text === 'true', ref);
  if (list === true || list === 'flag' || text.includes(','))
    return splitAtCommas(text, ref, path, note);
  const verdict = isFree(use) ? '' : secret.compareWith((text) => findFlaw(text, use)?.what ?? '');
  if (verdict !== '') return describeUnusable(ref, verdict, secret.identity);
  // The plan finds an item by its name, and what a word of a closed list clears. Documents mask a name by the values of the references.
  const isSeen =
    item !== null ||
    path[0] === ACTIVE_FORM.block ||
    (words.length > 0 && secret.fits((text) => words.includes(text)));
  return isSeen ? secret.reveal() : secret;
}

/** Returns the list that the value of a reference is, each part judged; unseen if a part is empty. An empty text is an empty list. */
function splitAtCommas(
  text: string,
  ref: string,
  path: Path,
  note: ReferenceSource['resolved'],
): Value {
  const parts = text === '' ? [] : text.split(',').map((part) => part.trim());
  if (parts.includes(''))
    return describeUnusable(ref, 'has an empty part between its commas', null);
  return parts.map((part, index) => {
    note?.(part, ref);
    return usable(new Secret(part, ref), [...path, String(index)], note);
  });
}

function describeUnusable(ref: string, verdict: string, identity: Identity | null): UnseenSecret {
  const problem = `${nameReferenceSubject(ref)} ${verdict}`;
  return unseen({ problem, ref, missing: ref, literals: ['', ''] }, identity);
}

function nameReferenceSubject(ref: string): string {
  const reference = parseWholeReference(ref);
  if (reference?.kind === 'env') return `the variable ${reference.name}`;
  if (reference?.kind === 'file') return `the file ${reference.path}`;
  return 'its value';
}
