import { isJsonObject, type Json } from '../json.ts';
import {
  mergeVerdicts,
  bad,
  refuseValue,
  checkObject,
  crash,
  good,
  type Location,
  type Member,
  type Verdict,
} from '../rules.ts';
import { listRule, textRule } from '../rules.ts';

const members: readonly Member[] = [
  { name: 'name', rule: checkServerName },
  { name: 'command', rule: commandRule },
  { name: 'args', rule: argsRule, absent: [] },
  { name: 'env', rule: envRule, absent: {} },
];

/**
 * An entry of `stdio_servers`: `{name, command, args, env}`, args a list of strings, env a map of strings.
 * Source: specification 2.2; the contract cases "mcp_config: stdio …".
 */
export function stdioEntry(value: Json, at: Location): Verdict {
  return checkObject(members, 'ignored', value, at);
}

function checkServerName(value: Json, at: Location): Verdict {
  if (typeof value !== 'string') return crash;
  const name = value.trim();
  if (name === '') return refuseValue('Server name cannot be empty', at, value);
  if (/^[\w-]+$/.test(name)) return good(name);
  return refuseValue(
    'Server name may hold letters, digits, hyphens and underscores only',
    at,
    value,
  );
}

function commandRule(value: Json, at: Location): Verdict {
  if (typeof value !== 'string') return crash;
  const command = value.trim();
  if (command === '') return refuseValue('Command cannot be empty', at, value);
  if (!command.includes(' ')) return good(command);
  return refuseValue('Command must be one executable without spaces', at, value);
}

function argsRule(value: Json, at: Location): Verdict {
  if (isEmptyOrFalse(value)) return good([]);
  if (typeof value === 'string') return argsOfLine(value, at);
  return listRule(textRule)(value, at);
}

function argsOfLine(line: string, at: Location): Verdict {
  const split = parseShellWords(line.trim());
  if (split.kind === 'words') return good(split.words);
  return refuseValue(`Invalid argument format: ${split.reason}`, at, line);
}

function envRule(value: Json, at: Location): Verdict {
  if (isEmptyOrFalse(value)) return good({});
  if (typeof value === 'string') return envOfLine(value, at);
  if (!isJsonObject(value))
    return bad('dict_type', at, 'Input should be a valid dictionary', value);
  const all = mergeVerdicts(
    Object.entries(value).map(([name, item]) => textRule(item, [...at, name])),
  );
  return all.kind === 'good' ? good(value) : all;
}

function envOfLine(line: string, at: Location): Verdict {
  const entries: [string, string][] = [];
  for (const part of line.split(',')) {
    const pair = part.trim();
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals).trim();
    if (equals < 0 || !/^[A-Za-z_]\w*$/.test(name)) {
      return refuseValue('Environment variables must have the form NAME=VALUE', at, line);
    }
    entries.push([name, pair.slice(equals + 1)]);
  }
  return good(Object.fromEntries(entries));
}

/** A real server treats every value that Python takes for false as absent. */
function isEmptyOrFalse(value: Json): boolean {
  if (value === null || value === false || value === '') return true;
  if (typeof value === 'bigint' || typeof value === 'number') return Number(value) === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

export type ShellWords =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'unfinished'; readonly reason: string };

/**
 * The words of a line as a POSIX shell would split it, without expansions or comments: blanks separate words, quotes and
 * backslashes keep them together. Inside double quotes a backslash escapes only `"` and itself.
 * Source: contract "mcp_config: stdio args as a shell line".
 */
export function parseShellWords(line: string): ShellWords {
  const piece = /([ \t\r\n]+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|[^ \t\r\n'"\\]+/sy;
  const words: string[] = [];
  let word: string | undefined;
  while (piece.lastIndex < line.length) {
    const start = piece.lastIndex;
    const found = piece.exec(line);
    if (found === null) return createUnfinishedWords(line.charAt(start));
    const [whole, blanks, single, double, escaped] = found;
    if (blanks === undefined) {
      const text = single ?? double?.replaceAll(/\\(["\\])/g, '$1') ?? escaped ?? whole;
      word = `${word ?? ''}${text}`;
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return { kind: 'words', words: word === undefined ? words : [...words, word] };
}

function createUnfinishedWords(mark: string): ShellWords {
  const reason = mark === '\\' ? 'No escaped character' : 'No closing quotation';
  return { kind: 'unfinished', reason };
}
