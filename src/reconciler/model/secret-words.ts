import { isSensitiveUrl } from './address.ts';
import { MASK, Secret } from './secret.ts';
import { collectSecrets, type Value } from './value.ts';

/** Words that contain one of the others and do not mean a secret. */
const INNOCENT =
  /keyboard|keyword|keybind|keymap|keystroke|keynote|keyframe|monkey|turkey|hockey|tokeni[sz]|(?:max|min|num)_(?:[a-z]+_)?tokens|author(?!i[sz])|(?:no|use|skip|enable|disable|require)_o?auth|passive|passenger|passage|passport|pass_?through|bypass|compass/g;
/** Wherever they are in a name. */
const SECRET =
  /key|token|secret|passw|passphrase|pwd|credential|authorization|bearer|cookie|signature/;
/** As a word of their own; `pass` also at the end of one. */
const SECRET_WORD =
  /(?:^|_)(?:(?:o?auth|basicauth|creds?|dsn|jwt|sig)\d*|[a-z]*pass\d*)(?:_|$)|(?:^|_)private$/;
/** Names that are about secrets without being secrets. */
const ABOUT =
  /_(?:types?|mode|methods?|enabled|disabled|required|url|uri|endpoint|host|port|provider|scheme|realm|ttl|timeout)$/;

const JUDGED = new Map<string, boolean>();
const MOST_JUDGED = 1000;

/** Reports whether a name means a secret: the one rule for fields, variables and flags. */
export function isSensitiveName(name: string): boolean {
  const known = JUDGED.get(name);
  if (known !== undefined) return known;
  const sensitive = hasSecretWords(name);
  if (JUDGED.size < MOST_JUDGED) JUDGED.set(name, sensitive);
  return sensitive;
}

function hasSecretWords(name: string): boolean {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z\d]+/g, '_')
    .replaceAll(/^_|_$/g, '')
    .toLowerCase()
    .replaceAll(INNOCENT, '');
  return SECRET.test(words) || (SECRET_WORD.test(words) && !ABOUT.test(words));
}

const TOKEN =
  /^(?:sk|pk|rk|gh[pousr]|github_pat|glpat|xox[a-z]|hf|npm)[-_]|^(?:AKIA|ASIA|AIza|eyJ|ya29)|-----BEGIN /;

/** Reports whether a text begins like tokens of well-known services, or contains a key in PEM form: the one table. */
export function looksLikeToken(text: string): boolean {
  return TOKEN.test(text);
}

const CREDENTIALS = /\b(?:bearer|basic|token|apikey)\s+\S|:\/\/[^\s/?#]*@/i;

/** Reports whether a text looks like a secret, whatever its name: a token, credentials in a url or header, random letters, a mask. */
export function isSecretText(text: string): boolean {
  return looksLikeMask(text) || saysSecret(text) || isRandom(text);
}

function saysSecret(text: string): boolean {
  return looksLikeToken(text) || CREDENTIALS.test(text) || isSensitiveUrl(text);
}

/** Long, of letters and digits in one piece: what a machine made up. */
function isRandom(text: string): boolean {
  const words = /^\/?[a-z]+([-/_][a-z\d]+)+\/?$/.test(text);
  return !words && /^[\w+/=-]{24,}$/.test(text) && /\d/.test(text) && /[a-z]/i.test(text);
}

/** The separators of words in prose. A digest (`sha256:…`), a path and an address are one word. */
const AROUND = /[\s"'`,;=()<>{}[\]|]+/;
const INSIDE =
  /[\s"'`,;=()<>{}[\]|:](?:(?:sk|pk|rk|gh[pousr]|github_pat|glpat|xox[a-z]|hf|npm)[-_]\w|(?:AKIA|ASIA|AIza|eyJ|ya29)\w)/;

/** Reports whether a text is, or contains, an apparent secret, whatever the rest of it. A line of dots or dashes does not count. */
export function holdsSecretText(text: string): boolean {
  if (saysSecret(text) || INSIDE.test(text)) return true;
  return text.split(AROUND).some((word) => saysSecret(word) || isRandom(word));
}

/** Reports the same for the source of code: each folder of a path is a separate word, and a commit does not count. */
export function sourceHoldsSecret(text: string): boolean {
  return (
    !/^[\da-f]{40}$/.test(text) && (saysSecret(text) || holdsSecretText(text.replaceAll('/', ' ')))
  );
}

/** Reports whether prose mentions secrets: it may then contain one in any form. */
export function speaksOfSecrets(text: string): boolean {
  return text.split(/[^\w-]+/).some(isSensitiveName);
}

/**
 * An argument of the committed file in the form of documents. A literal there is not a secret, so only one that its flag or its own form
 * identifies as one is masked.
 */
export function maskProgramArgument(argument: string, before: string | null): string {
  const open = partBefore(argument, before, saysSecret);
  return open === null ? argument : open + MASK;
}

/** Reports whether a command line has a secret: by its flag, by the name of a variable or by its own form, also inside quotes. */
export function commandHoldsSecret(command: string): boolean {
  const words = command.split(/[\s"'`;|&()]+/);
  return words.some(
    (word, index) => word !== '' && maskProgramArgument(word, words[index - 1] ?? null) !== word,
  );
}

/** Masks a variable of the committed file like an argument. */
export function maskProgramVariable(name: string, text: string): string {
  return text !== '' && (isSensitiveName(name) || saysSecret(text)) ? MASK : text;
}

function partBefore(
  argument: string,
  before: string | null,
  isSecret: (text: string) => boolean,
): string | null {
  const named = /^(-{0,2}[A-Za-z][\w.-]*(?:=|:\s*))([^/].*)$/s.exec(argument);
  if (named !== null && (isSensitiveName(named[1] ?? '') || isSecret(named[2] ?? '')))
    return named[1] ?? '';
  const follows =
    before !== null && /^-{1,2}[A-Za-z][\w-]*$/.test(before) && isSensitiveName(before);
  if (follows && !/^-{1,2}[A-Za-z]/.test(argument)) return '';
  return isSecret(argument) ? '' : null;
}

const SHOWABLE = /^(?:[A-Z]?[a-z]{1,19}|[A-Z]{1,19}|[A-Za-z]?[a-z]+(?:[A-Z]{1,4}[a-z]+)+)?\d{0,4}$/;

/**
 * Reports whether a word of the file that is not a known key may be repeated: it reads like a name that a person would give, and not like a
 * secret that was pasted where a name belongs.
 */
export function isShowable(word: string): boolean {
  return (
    word.length <= 64 &&
    !looksLikeToken(word) &&
    word.split(/[-_.]/).every((part) => SHOWABLE.test(part))
  );
}

/** Reports whether a text is a mask: what a service or a form shows instead of a secret. */
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
 * Reports whether a text that a service answered is a mask or contains one: three or more mask characters, or masked, redacted, hidden or
 * filtered between punctuation, in a value, an argument or a query. Sent back, it would be stored instead of the secret.
 */
export function holdsMaskText(text: string): boolean {
  const plain = text.replaceAll(/%(?:2A|28|29|3C|3E|5B|5D)/gi, decodeURIComponent);
  return looksLikeMask(plain) || MASKS.some((mask) => mask.test(plain));
}

/** Reports whether a name, an address or a command is a mask as a whole. One of crosses or dots may be a name. */
export function isMaskedName(text: string): boolean {
  return looksLikeMask(text) && !/^[\w.#-]+$/.test(text.trim());
}

/**
 * Reports whether a value is a secret that the service showed as a mask. The value of a reference is one only as a whole: inside a user's
 * own key the words and signs of a mask mean nothing.
 */
export function isMaskedSecret(value: Value | undefined): boolean {
  return value instanceof Secret && value.fits(value.ref === null ? holdsMaskText : looksLikeMask);
}

/** Reports whether a value is, or contains, a mask. */
export function holdsMask(value: Value | undefined): boolean {
  return collectSecrets(value).some(isMaskedSecret);
}
