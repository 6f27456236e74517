import type { SecretPath } from '../model/ports.ts';
import { isShowable } from '../model/secret-words.ts';
import { readableName } from './pipeline-variables.ts';

/** A reference as the file writes it: `${env:NAME}`, `${env:NAME:-default}`, `${file:PATH}` or `${secret:NAME/PATH}`. */
export type Reference =
  | {
      readonly kind: 'env';
      readonly text: string;
      readonly name: string;
      readonly fallback: string | null;
    }
  | { readonly kind: 'file'; readonly text: string; readonly path: string }
  | ({ readonly kind: 'secret'; readonly text: string } & SecretPath);

/** Text with references inside, in order. */
export type TemplatePart = string | Reference;

/** Text that looks like a reference but is not one; `form` is how to write it. */
export interface MalformedReference {
  readonly index: number;
  readonly message: string;
  readonly form: string;
}

const LONGEST_NAME = 256;
const LONGEST_PATH = 4096;
/** References in one text: their values may be long, and are joined. */
const MOST_REFERENCES = 100;

const REFERENCE = new RegExp(
  String.raw`\$\{(?:env:([A-Za-z_][A-Za-z0-9_]{0,${LONGEST_NAME - 1}})(?::-([^}]*))?|file:([^}\0]{1,${LONGEST_PATH}})|secret:([A-Za-z][\w-]{0,63})/((?!-)(?:(?!\.\.)[\w./#@:=?&-]){1,1024}))\}`,
  'y',
);

export function mayHoldReference(text: string): boolean {
  return text.includes('${');
}

/** Reports whether a text may contain a reference to the output of a secret command. */
export function mayHoldSecret(text: string): boolean {
  return text.includes('${secret:');
}

/** Reports the same for a whole file: after a backslash in quotes, YAML has other characters than are written. */
export function mayReadSecrets(file: string): boolean {
  return mayHoldSecret(file) || file.includes('\\');
}

/** The parts of a text, `$${` read as `${`; or the first place that looks like a reference but is not one. */
export function parseTemplate(text: string): readonly TemplatePart[] | MalformedReference {
  const parts: TemplatePart[] = [];
  let plain = '';
  let at = 0;
  let references = 0;
  while (at < text.length) {
    if (text.startsWith('$${', at)) {
      plain += '${';
      at += 3;
    } else if (text.startsWith('${', at)) {
      REFERENCE.lastIndex = at;
      const match = REFERENCE.exec(text);
      if (match === null) return describeMalformedReference(text, at);
      references += 1;
      if (references > MOST_REFERENCES) return { index: at, message: TOO_MANY, form: ONE_FORM };
      if (plain !== '') parts.push(plain);
      plain = '';
      parts.push(reference(match));
      at = REFERENCE.lastIndex;
    } else {
      plain += text[at];
      at += 1;
    }
  }
  if (plain !== '' || parts.length === 0) parts.push(plain);
  return parts;
}

export function isMalformed(
  parsed: readonly TemplatePart[] | MalformedReference,
): parsed is MalformedReference {
  return !Array.isArray(parsed);
}

/** Reports whether a text contains a reference, and no malformed one. */
export function hasValidReference(text: string): boolean {
  if (!mayHoldReference(text)) return false;
  const parts = parseTemplate(text);
  return !isMalformed(parts) && parts.some((part) => typeof part === 'object');
}

/** The references in a text; none if one is malformed. */
export function listReferences(text: string): readonly Reference[] {
  const parts = mayHoldReference(text) ? parseTemplate(text) : [];
  return isMalformed(parts) ? [] : parts.filter((part) => typeof part === 'object');
}

/** The one reference a whole value is, or null. */
export function parseWholeReference(text: string): Reference | null {
  if (!mayHoldReference(text)) return null;
  const parsed = parseTemplate(text);
  if (isMalformed(parsed) || parsed.length !== 1) return null;
  const [only] = parsed;
  return typeof only === 'object' ? only : null;
}

function reference(match: RegExpExecArray): Reference {
  const [text, name, fallback, path, command, secret = ''] = match;
  if (name !== undefined) return { kind: 'env', text, name, fallback: fallback ?? null };
  if (command !== undefined) return { kind: 'secret', text, command, path: secret };
  return { kind: 'file', text, path: path ?? '' };
}

const ONE_FORM = '${env:NAME} or ${file:PATH}';
const SECRET_FORM = '${secret:NAME/PATH}';
const TOO_MANY = `This text has more than ${MOST_REFERENCES} references.`;

function describeMalformedReference(text: string, index: number): MalformedReference {
  const rest = text.slice(index, index + 200);
  const named =
    /^\$\{\{?\s*(?:(?:secrets|env|vars)[.:])?([A-Za-z_][A-Za-z0-9_]*)\s*(?:\}\}?|$)/.exec(
      rest,
    )?.[1];
  const form = isVariableName(named)
    ? `\${env:${readableName(named)}}`
    : rest.startsWith('${secret:')
      ? SECRET_FORM
      : ONE_FORM;
  return { index, message: complaint(text, index), form };
}

const LONG = new RegExp(
  String.raw`^\$\{(?:env:[A-Za-z_][A-Za-z0-9_]{${LONGEST_NAME}}|file:[^}\0]{${LONGEST_PATH + 1}})`,
);

function complaint(text: string, index: number): string {
  if (text.startsWith('${{', index))
    return 'A pipeline expression is not a reference: setpoint does not expand it.';
  if (LONG.test(text.slice(index, index + LONGEST_PATH + 10)))
    return `This name is too long: a variable has at most ${LONGEST_NAME} characters, a path ${LONGEST_PATH}.`;
  if (/^\$\{secret:[A-Za-z][\w-]*\/[^}]+\}/.test(text.slice(index)))
    return 'The path of a secret has letters, digits and ._/#@:=?&- only. It must not begin with - or contain two dots in a row.';
  return text.includes('}', index)
    ? 'This looks like a reference but is not one.'
    : 'This reference has no closing brace.';
}

/** Reports whether a text is only data: it contains no reference, and nothing that looks like one. */
export function isData(text: string): boolean {
  if (!mayHoldReference(text)) return true;
  const parts = parseTemplate(text);
  return !isMalformed(parts) && parts.every((part) => typeof part === 'string');
}

/** The first part of the texts that stand for requests of objects of a cluster, where a settings file has the name of a secret command. */
export const REQUESTED = 'Secret';

/** Reports whether a word has the form of a variable, so that a hint may repeat it. A pasted secret does not. */
function isVariableName(name: string | undefined): name is string {
  return name !== undefined && /^[A-Z][A-Z0-9_]{0,63}$/.test(name) && isShowable(name);
}
