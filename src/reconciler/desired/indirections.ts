import { isShowable } from '../model/secret-words.ts';
import { readableName } from './pipeline-variables.ts';

/** A text that another program replaces before use: as a value it never works. */
export interface Indirection {
  /** A description of the indirection, without any part of the text. */
  readonly what: string;
  /** The variable that it names; null if it names none, or does more than that. */
  readonly variable: string | null;
  /** What stands in for the variable; null if nothing does. */
  readonly fallback: string | null;
  /** True if it is the whole text. */
  readonly isWhole: boolean;
  /** True if a password cannot look like it: `$ecret` may be one. */
  readonly isCertain: boolean;
}

const NAME = '[A-Za-z_]\\w*';
const QUOTED = `'(?<single>[^'{}$\\n]*)'|"(?<double>[^"{}$\\n]*)"`;

/** Each form, first match first. The group `name` is the variable, if the form is a plain variable. */
const FORMS: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    'an expression of a pipeline, ${{ … }}',
    new RegExp(
      `\\$\\{\\{\\s*(?:(?:secrets|vars|env)\\.(?<name>${NAME})\\s*(?:\\|\\|\\s*(?:${QUOTED})\\s*)?\\}\\}|[^]*?(?:\\}\\}|$))`,
    ),
  ],
  [
    'a placeholder of a template, {{ … }}',
    /\{\{[^]*?\}\}|\{%[^]*?%\}|\[\[\s*[\w.]+\s*\]\]|<%[^]*?%>/,
  ],
  [
    'a variable of another program, ${…}',
    new RegExp(`\\$\\{(?:(?:env:)?(?<name>${NAME})\\}|[^}]*(?:\\}+|$))`),
  ],
  [
    'a reference of another program, {env:…} or {file:…}',
    new RegExp(`\\{(?:env:(?<name>${NAME})|file:[^{}]+)\\}`),
  ],
  [
    'a variable or command of another program, $(…)',
    new RegExp(`\\$\\((?:env:)?\\s*(?:(?<name>${NAME})\\s*\\)|[^)]*\\))`),
  ],
  ['a variable of PowerShell, $env:…', new RegExp(`\\$env:(?<name>${NAME})`, 'i')],
  [
    'a variable of a shell, $…',
    /(?<![\w$])\$(?<name>[A-Z_][A-Z0-9_]+)(?!\w)|^\$(?<only>[A-Za-z_]\w*)$/,
  ],
  ['a variable of Windows, %…%', /%(?<name>[A-Z_][A-Z0-9_]+)%(?![0-9A-Fa-f]{2})/],
  [
    'a reference of another program, env(…)',
    new RegExp(`^\\s*(?:env\\(\\s*(?<name>${NAME})\\s*\\)|!env\\s+(?<only>${NAME}))\\s*$`),
  ],
  ['a reference of another program, env(…)', /^\s*(?:env\(.*\)|!env\b.*)\s*$/s],
  [
    'a reference to a secret store',
    /(?:^|[\s="'/])(?:op|vault|awssm|awsps|gcpsm|azkv|doppler|infisical|bws|keychain|keyring|ref\+\w+):\/\/\S+|^\s*(?:vault:[^\s#]+#\S+|ssm:\/\S+)\s*$|^\s*@Microsoft\.KeyVault\(.*\)\s*$/,
  ],
  [
    'a token that a deployment replaces',
    /^\s*(?:#\{[\w.]+\}#?|__[A-Z][A-Z0-9_]*__|@@?[A-Z][A-Z0-9_]+@@?|\[%[^]*%\])\s*$/,
  ],
  ['a command of a shell', /^\s*`[^`]+`\s*$/],
  ['a placeholder for your own value, <…>', /<[A-Za-z][\w .:/'-]{1,80}>/],
  [
    'a placeholder for your own value',
    /(?:^|[=:]|\/\/)\s*your[-_][\w-]{1,60}(?=[./:?#])|(?:^|[=:])\s*(?:your[-_ ][\w .-]{1,60}|[\w-]{0,20}[-_]your[-_][\w-]{1,60}|(?:change|replace)[-_ ]?(?:me|this)|insert[-_ ][\w .-]{1,60}|(?:sk|pk|ghp|xox[bp])-?_?(?:\.{3,}|…))\s*$/i,
  ],
];

/** Characters that are looked at: no form has more. */
const LONGEST = 2048;

/** The first indirection in a text without references: these are already removed from it. Null if there is none. */
export function findIndirection(whole: string): Indirection | null {
  const text = whole.slice(0, LONGEST);
  if (!/[${}%<[@:!(`]|__|your|change|replace|insert|\.{3}|…/i.test(text)) return null;
  for (const [what, pattern] of FORMS) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const { name, only, single, double } = match.groups ?? {};
    return {
      what,
      variable: name ?? only ?? null,
      fallback: (single ?? double) || null,
      isWhole: match[0].trim() === whole.trim(),
      isCertain: !/^\s*\$\w*[a-z]\w*\s*$/.test(whole),
    };
  }
  return null;
}

/** Returns how to write a text that is another program's reference as a whole; null for any other text. A pasted secret is not repeated. */
export function correctReference(text: string): string | null {
  const found = findIndirection(text);
  if (found?.isWhole !== true || !found.isCertain) return null;
  const { variable } = found;
  return variable !== null && /^[A-Z][A-Z0-9_]{0,63}$/.test(variable) && isShowable(variable)
    ? `\${env:${readableName(variable)}}`
    : '${env:NAME}';
}
