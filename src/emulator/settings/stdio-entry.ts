import { isJsonList, isJsonObject, type Json } from '../json/json.ts';
import { checkObject, type Member } from '../validation/object-rule.ts';
import { textRule } from '../validation/scalar-rules.ts';
import { shellWords } from './shell-words.ts';
import {
  allOf,
  bad,
  badValue,
  crash,
  good,
  type Location,
  type Verdict,
} from '../validation/verdict.ts';

const members: readonly Member[] = [
  { name: 'name', rule: nameRule },
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

function nameRule(value: Json, at: Location): Verdict {
  if (typeof value !== 'string') return crash;
  const name = value.trim();
  if (name === '') return badValue('Server name cannot be empty', at, value);
  if (/^[\w-]+$/.test(name)) return good(name);
  return badValue('Server name may hold letters, digits, hyphens and underscores only', at, value);
}

function commandRule(value: Json, at: Location): Verdict {
  if (typeof value !== 'string') return crash;
  const command = value.trim();
  if (command === '') return badValue('Command cannot be empty', at, value);
  if (!command.includes(' ')) return good(command);
  return badValue('Command must be one executable without spaces', at, value);
}

function argsRule(value: Json, at: Location): Verdict {
  if (isEmptyOrFalse(value)) return good([]);
  if (typeof value === 'string') return argsOfLine(value, at);
  if (!isJsonList(value)) return bad('list_type', at, 'Input should be a valid list', value);
  return allOf(value.map((item, index) => textRule(item, [...at, BigInt(index)])));
}

function argsOfLine(line: string, at: Location): Verdict {
  const split = shellWords(line.trim());
  if (split.kind === 'words') return good(split.words);
  return badValue(`Invalid argument format: ${split.reason}`, at, line);
}

function envRule(value: Json, at: Location): Verdict {
  if (isEmptyOrFalse(value)) return good({});
  if (typeof value === 'string') return envOfLine(value, at);
  if (!isJsonObject(value))
    return bad('dict_type', at, 'Input should be a valid dictionary', value);
  const all = allOf(Object.entries(value).map(([name, item]) => textRule(item, [...at, name])));
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
      return badValue('Environment variables must have the form NAME=VALUE', at, line);
    }
    entries.push([name, pair.slice(equals + 1)]);
  }
  return good(Object.fromEntries(entries));
}

/** The real server reads every value that its language takes for false as "nothing given". */
function isEmptyOrFalse(value: Json): boolean {
  if (value === null || value === false || value === '') return true;
  if (typeof value === 'bigint' || typeof value === 'number') return Number(value) === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
