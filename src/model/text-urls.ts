import { addressParts, isSensitiveUrl } from './identity.ts';
import { MASK } from './secret.ts';

const WORD = /[^\s"<>`]+/g;
const SCHEME = /(?:[a-z][a-z0-9+.-]{0,30}:)?[\\/]{2}|(?:https?|wss?|ftp):/i;
/** What may follow a url in a sentence, or enclose it. */
const ENDINGS = new Set(")].,;:!?'}");

/** The suffix of a path's second equal entry. */
const ORDINAL = /^#\d{1,4}(?:$|\])/;

/** A text whose urls have lost their userinfo, query and fragment: what may be a secret in them is the mask. */
export function withoutUrlSecrets(text: string): string {
  if (!mayHold(text)) return text;
  return text.replaceAll(WORD, (word) => (mayHold(word) ? maskedWord(word) : word));
}

function mayHold(text: string): boolean {
  return /[@?#]/.test(text);
}

function maskedWord(word: string): string {
  const scheme = word.search(SCHEME);
  const start = scheme === -1 ? (/^[('[{]*/.exec(word)?.[0].length ?? 0) : scheme;
  const end = endOf(word);
  const address = word.slice(start, end);
  if (scheme === -1 && !isSensitiveUrl(address)) return word;
  const { prefix, userinfo, body, tail } = addressParts(address);
  const harmless = ORDINAL.test(tail) || isMasked(tail.slice(1));
  if (isMasked(userinfo) && harmless) return word;
  const before = userinfo === '' ? '' : `${MASK}@`;
  const behind = harmless ? tail : `${tail.slice(0, 1)}${MASK}`;
  return word.slice(0, start) + prefix + before + body + behind + word.slice(end);
}

function isMasked(part: string): boolean {
  return part === '' || part === MASK;
}

/** Where a word ends that has marks behind it; those of a mask belong to it. */
function endOf(word: string): number {
  let end = word.length;
  while (end > 0 && ENDINGS.has(word.charAt(end - 1)) && !word.endsWith(MASK, end)) end -= 1;
  return end;
}
