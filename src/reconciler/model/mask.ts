import { Secret } from './secret.ts';
import { secretsIn, type Value } from './value.ts';

/** Whether a text is a mask: what a service or a form shows in place of a secret. */
export function looksLikeMask(text: string): boolean {
  const core = text.trim();
  return (
    /^[*•●·#.xX-]{3,}$/.test(core) ||
    /^(masked|redacted)$/i.test(core) ||
    /^[([<{]+\s*(masked|redacted|hidden|filtered|secret|sensitive( value)?)\s*[)\]>}]+$/i.test(core)
  );
}

const MASK_CHARACTERS = /[*•●∗＊█]{3,}/u;
const CROSSES = /(?:^|[=:/?&[(<{"'])[xX]{3,}(?:$|[&\])>}"'])/;
const MASKED = /[^\w\s](?:masked|redacted)(?:[^\w\s]|$)/i;
const HIDDEN = /[^\w\s](?:hidden|filtered)[^\w\s]|[?&][^=&]*=(?:hidden|filtered)$/i;
const HIDDEN_IN_CAPITALS = /[=:](?:HIDDEN|FILTERED)$/;
const MASKS = [MASK_CHARACTERS, CROSSES, MASKED, HIDDEN, HIDDEN_IN_CAPITALS];

/**
 * Whether a text that a service answered is a mask or holds one: three or more mask characters, or masked, redacted, hidden or
 * filtered between punctuation, in a value, an argument or a query. Sent back, it would be stored in place of the secret.
 */
export function holdsMaskText(text: string): boolean {
  const plain = text.replaceAll(/%(?:2A|28|29|3C|3E|5B|5D)/gi, decodeURIComponent);
  return looksLikeMask(plain) || MASKS.some((mask) => mask.test(plain));
}

/** Whether a name, an address or a command is a mask as a whole; one of crosses or dots may be a name. */
export function isMaskedName(text: string): boolean {
  return looksLikeMask(text) && !/^[\w.#-]+$/.test(text.trim());
}

/**
 * Whether a value is a secret of which the service showed a mask. The value of a reference is one only as a whole: inside a key of
 * one's own the words and signs of a mask mean nothing.
 */
export function isMasked(value: Value | undefined): boolean {
  return value instanceof Secret && value.fits(value.ref === null ? holdsMaskText : looksLikeMask);
}

/** Whether a value is a mask, or holds one. */
export function holdsMask(value: Value | undefined): boolean {
  return secretsIn(value).some(isMasked);
}
