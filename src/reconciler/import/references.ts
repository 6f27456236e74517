import { readableName } from '../desired/pipeline-variables.ts';
import { variableName } from '../pull/placeholder.ts';
import { escapedReferences } from '../pull/writable.ts';
import {
  type Foreign,
  foreignRecord,
  isForeignList,
  isForeignRecord,
  Template,
  Variable,
} from './foreign.ts';

/** How a file writes references to variables; `none`: it has none. */
export type ReferenceStyle = 'compose' | 'dotenv' | 'editor' | 'kubernetes' | 'none';

/** The variable that a text refers to, with what stands in for it. */
interface Referred {
  readonly name: string;
  readonly fallback?: string | undefined;
}

const FORMS: Readonly<Record<ReferenceStyle, RegExp | null>> = {
  compose:
    /\$\$|\$\{(?<name>[A-Za-z_]\w*)(?:(?<by>:?[-?+])(?<fallback>[^{}]*))?\}|\$(?<bare>[A-Za-z_]\w*)/g,
  dotenv: /\$\{(?<name>[A-Za-z_]\w*)(?:(?<by>:?[-?+])(?<fallback>[^{}]*))?\}/g,
  editor:
    /\$\{(?:env:)?(?<name>[A-Za-z_]\w*)(?:(?<by>:-)(?<fallback>[^{}]*))?\}|\$\{input:(?<input>[^{}]+)\}|\$\{(?<other>[^{}]*)\}|\{env:(?<braced>[A-Za-z_]\w*)\}/g,
  kubernetes: /\$\$\(|\$\((?<name>[A-Za-z_]\w*)\)/g,
  none: null,
};

/** What editors put in place of a text by themselves. */
const OF_EDITORS =
  /^(?:workspaceFolder\w*|userHome|cwd|file\w*|pathSeparator|selectedText|lineNumber|execPath|defaultBuildTask)$/;

/** A text with the references of another program as a template; as it is if it has none. Null if it names what only an editor knows. */
export function readText(text: string, style: ReferenceStyle): string | Template | null {
  const form = FORMS[style];
  if (form === null) return text;
  let [written, plain, at, found] = ['', '', 0, 0];
  for (const match of text.matchAll(form)) {
    const between = text.slice(at, match.index);
    written += escapedReferences(between);
    plain += between;
    at = match.index + match[0].length;
    const referred = referredBy(match);
    if (referred === null) return null;
    if (typeof referred === 'string') {
      written += escapedReferences(referred);
      plain += referred;
      continue;
    }
    const { name, fallback } = referred;
    const isHeld = fallback !== undefined && fallback !== '' && !/[{}$]/.test(fallback);
    written += `\${env:${readableName(name)}${isHeld ? `:-${fallback}` : ''}}`;
    found += 1;
  }
  const rest = text.slice(at);
  return found === 0 ? plain + rest : new Template(written + escapedReferences(rest));
}

/** What a match stands for: a variable, or the text that it escapes. Null if it is neither. */
function referredBy(match: RegExpMatchArray): Referred | string | null {
  const { name, bare, braced, input, other, by, fallback } = match.groups ?? {};
  if (match[0] === '$$') return '$';
  if (match[0] === '$$(') return '$(';
  if (input !== undefined) return { name: variableName(input) };
  if (other !== undefined || (name !== undefined && OF_EDITORS.test(name))) return null;
  if (by?.endsWith('+') === true) return null;
  const known = name ?? bare ?? braced;
  if (known === undefined) return null;
  return { name: known, fallback: by?.endsWith('-') === true ? fallback : undefined };
}

/** A value with the references of another program in its texts as templates. What only an editor knows is given to `leave`, and left out. */
export function withReferences(
  value: Foreign,
  style: ReferenceStyle,
  leave: (path: readonly string[]) => void,
  path: readonly string[] = [],
): Foreign {
  if (typeof value === 'string') {
    const read = readText(value, style);
    if (read === null) leave(path);
    return read;
  }
  if (value instanceof Variable) {
    const read = readText(value.text, style);
    if (read === null) leave(path);
    return read instanceof Template || read === null ? read : new Variable(value.name, read);
  }
  if (isForeignList(value))
    return value.map((one, index) => withReferences(one, style, leave, [...path, String(index)]));
  if (!isForeignRecord(value)) return value;
  return foreignRecord(
    Object.entries(value).map(
      ([key, one]) => [key, withReferences(one, style, leave, [...path, key])] as const,
    ),
  );
}
