/** A reference as the file writes it: `${env:NAME}`, `${env:NAME:-default}` or `${file:PATH}`. */
export type Reference =
  | {
      readonly kind: 'env';
      readonly text: string;
      readonly name: string;
      readonly fallback: string | null;
    }
  | { readonly kind: 'file'; readonly text: string; readonly path: string };

/** Text with references inside, in order. */
export type TemplatePart = string | Reference;

/** Text that looks like a reference but is none; `hint` shows the right form. */
export interface Malformed {
  readonly index: number;
  readonly message: string;
  readonly hint: string;
}

const REFERENCE = /\$\{(?:env:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?|file:([^}\0]+))\}/y;

export function mayHoldReference(text: string): boolean {
  return text.includes('${');
}

/** The parts of a text, `$${` read as `${`; or the first place that is no reference though it looks like one. */
export function parseTemplate(text: string): readonly TemplatePart[] | Malformed {
  const parts: TemplatePart[] = [];
  let plain = '';
  let at = 0;
  while (at < text.length) {
    if (text.startsWith('$${', at)) {
      plain += '${';
      at += 3;
    } else if (text.startsWith('${', at)) {
      REFERENCE.lastIndex = at;
      const match = REFERENCE.exec(text);
      if (match === null) return malformed(text, at);
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

export function isMalformed(parsed: readonly TemplatePart[] | Malformed): parsed is Malformed {
  return !Array.isArray(parsed);
}

/** The one reference a whole value is, or null. */
export function wholeReference(text: string): Reference | null {
  if (!mayHoldReference(text)) return null;
  const parsed = parseTemplate(text);
  if (isMalformed(parsed) || parsed.length !== 1) return null;
  const [only] = parsed;
  return typeof only === 'object' ? only : null;
}

function reference(match: RegExpExecArray): Reference {
  const [text, name, fallback, path] = match;
  if (name !== undefined) return { kind: 'env', text, name, fallback: fallback ?? null };
  return { kind: 'file', text, path: path ?? '' };
}

function malformed(text: string, index: number): Malformed {
  const rest = text.slice(index);
  const bare = /^\$\{\{?\s*(?:secrets\.|env\.|vars\.)?([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}?/.exec(
    rest,
  );
  const message = rest.startsWith('${{')
    ? 'An expression of a pipeline is not a reference; nothing here expands it.'
    : rest.includes('}')
      ? 'This looks like a reference but is none.'
      : 'This reference has no closing brace.';
  const example = bare?.[1] === undefined ? '${env:NAME} or ${file:PATH}' : `\${env:${bare[1]}}`;
  return { index, message, hint: `Write ${example}, or $\${ for a literal \${.` };
}

/** Other tools' ways to write a reference as the whole value of a secret; null where it is none of them. */
export function foreignReference(text: string): string | null {
  const match = /^(?:\$\((?:env:)?|env\(|!env\s+|\$(?:env:)?)([A-Za-z_][A-Za-z0-9_]*)\)?$/.exec(
    text.trim(),
  );
  if (match?.[1] !== undefined) return `\${env:${match[1]}}`;
  return /^\$\(.*\)$|^env\(.*\)$|^!env\b/.test(text.trim()) ? '${env:NAME}' : null;
}

const FORBIDDEN = /^(ACTIONS_.*|GITHUB_TOKEN|INPUT_.*|CI_JOB_.*|RUNNER_.*)$/;

/** Variables of a pipeline's own, which a settings file can never read. */
export function isForbiddenVariable(name: string): boolean {
  return FORBIDDEN.test(name);
}
