import { findIndirection } from '../desired/indirections.ts';
import { readableName } from '../desired/pipeline-variables.ts';
import { variableName } from '../pull/placeholder.ts';
import { escapeReferences } from '../pull/writable.ts';
import {
  type Foreign,
  foreignRecord,
  isForeignList,
  isForeignRecord,
  Template,
  Variable,
} from './foreign.ts';

/** How a file writes references to variables; `none`: its program replaces nothing. */
export type ReferenceStyle = 'compose' | 'dotenv' | 'editor' | 'kubernetes' | 'none';

/** The variable that a text refers to, with what stands in for it. */
interface ReferredVariable {
  readonly name: string;
  readonly fallback: string | null;
}

interface Reading {
  /** Escapes of the program, and variables without braces. */
  readonly plain: RegExp;
  /** Whether `${…}` is one of its references. */
  readonly braces: boolean;
}

const NEVER = /(?!)/y;
const READINGS: Readonly<Record<ReferenceStyle, Reading>> = {
  compose: { plain: /\$(\$)|\$(?<name>[A-Za-z_]\w*)/y, braces: true },
  dotenv: { plain: NEVER, braces: true },
  editor: { plain: NEVER, braces: true },
  kubernetes: { plain: /\$(\$\()|\$\((?<name>[A-Za-z_]\w*)\)/y, braces: false },
  none: { plain: NEVER, braces: false },
};

/** The variables that editors replace automatically. */
const OF_EDITORS =
  /^(?:workspaceFolder\w*|userHome|cwd|file\w*|pathSeparator|selectedText|lineNumber|execPath|defaultBuildTask)$/;

/** What `${…}` refers to: null if it is no variable of its own, such as a text for the case that a variable is set. */
function parseReferenceMatch(body: string, style: ReferenceStyle): ReferredVariable | null {
  const input = /^input:(.+)$/s.exec(body)?.[1];
  if (input !== undefined)
    return style === 'editor' ? { name: variableName(input), fallback: null } : null;
  const [, name = '', operator = '', operand = ''] =
    /^(?:env:)?([A-Za-z_]\w*)(?:(:?[-?+])(.*))?$/s.exec(body) ?? [];
  if (name === '' || operator.endsWith('+')) return null;
  if (style === 'editor' && OF_EDITORS.test(name)) return null;
  return { name, fallback: operator.endsWith('-') && operand !== '' ? operand : null };
}

/** Finds the end of the reference at `start`, with the references inside it; -1 if it has no end. */
function closingBrace(text: string, start: number): number {
  let open = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text.startsWith('${', at)) open += 1;
    else if (text[at] === '}') open -= 1;
    if (open === 0 && at > start) return at;
  }
  return -1;
}

/**
 * Translates the references of another program: returns a template, or the text unchanged if it has none. A replacement that is no variable
 * stays in the text, where `findIndirection` finds it. So do names in `own`, which the started program replaces.
 */
export function translateReferences(
  text: string,
  style: ReferenceStyle,
  own: ReadonlySet<string> = NONE,
): string | Template {
  const { plain: bare, braces } = READINGS[style];
  let [written, plain, count, at] = ['', '', 0, 0];
  let lost: string | null = null;
  const literal = (part: string): void => {
    written += escapeReferences(part);
    plain += part;
  };
  const refer = ({ name, fallback }: ReferredVariable): void => {
    const isWritable = fallback !== null && !/[{}$]/.test(fallback);
    if (fallback !== null && !isWritable) lost = LOST_DEFAULT;
    written += `\${env:${readableName(name)}${isWritable ? `:-${fallback}` : ''}}`;
    count += 1;
  };
  while (at < text.length) {
    const next = text.indexOf('$', at);
    const start = next < 0 ? text.length : next;
    literal(text.slice(at, start));
    at = start;
    if (at === text.length) break;
    bare.lastIndex = at;
    const match = bare.exec(text);
    if (match !== null) {
      const { name } = match.groups ?? {};
      if (name === undefined) literal(match[1] ?? '');
      else refer({ name, fallback: null });
      at = bare.lastIndex;
      continue;
    }
    const isBraced = braces && text.startsWith('${', at) && !text.startsWith('${{', at);
    const end = isBraced ? closingBrace(text, at) : -1;
    const referred = end < 0 ? null : parseReferenceMatch(text.slice(at + 2, end), style);
    if (referred !== null && !own.has(referred.name)) {
      refer(referred);
      at = end + 1;
    } else {
      const whole = end < 0 ? text.charAt(at) : text.slice(at, end + 1);
      literal(whole);
      at += whole.length;
    }
  }
  if (count > 0) return new Template(written, lost);
  return foreignWhole(plain, own) ?? plain;
}

const NONE: ReadonlySet<string> = new Set();
const LOST_DEFAULT = 'its default is not taken: it names another variable';

/** A text that is one variable, as programs of any kind write it. */
function foreignWhole(text: string, own: ReadonlySet<string>): Template | null {
  const found = findIndirection(text);
  if (found?.isWhole !== true || !found.isCertain || found.variable === null) return null;
  if (own.has(found.variable) || OF_EDITORS.test(found.variable)) return null;
  const { variable, fallback } = found;
  return new Template(
    `\${env:${readableName(variable)}${fallback === null ? '' : `:-${fallback}`}}`,
  );
}

/** Translates the references of another program in all texts of a value. */
export function withReferences(
  value: Foreign,
  style: ReferenceStyle,
  own: ReadonlySet<string> = NONE,
): Foreign {
  if (typeof value === 'string') return translateReferences(value, style, own);
  if (value instanceof Variable) {
    const read = translateReferences(value.text, style, own);
    return read instanceof Template ? read : new Variable(value.name, read);
  }
  if (isForeignList(value)) return value.map((one) => withReferences(one, style, own));
  if (!isForeignRecord(value)) return value;
  const ofProgram = listTextVariables(value['env']);
  return foreignRecord(
    Object.entries(value).map(([key, one]) => {
      const inner = SERVERS.has(key) && style === 'none' ? 'editor' : style;
      return [key, withReferences(one, inner, key === 'args' ? ofProgram : own)] as const;
    }),
  );
}

/** Keys of mcp servers, in which every program has references as editors have. */
const SERVERS: ReadonlySet<string> = new Set(['mcp_config', 'mcp']);

/** The variables that a program gets with its own values: what names one in its arguments is replaced by the program itself. */
function listTextVariables(env: Foreign | undefined): ReadonlySet<string> {
  if (!isForeignRecord(env)) return NONE;
  const given = Object.entries(env).filter(
    ([name, value]) => !(typeof value === 'string' && PASSED_ON.exec(value)?.[1] === name),
  );
  return new Set(given.map(([name]) => name));
}

const PASSED_ON = /^\$\{(?:env:)?(\w+)\}$/;
