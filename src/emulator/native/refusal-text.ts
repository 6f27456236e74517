import { isJsonList, isJsonObject, type Json } from '../json.ts';
import type { RuleProblem } from '../rules.ts';

const LONGEST = 50;
const KEPT_BEFORE = 25;
const KEPT_AFTER = 24;

/**
 * Problems as Python's pydantic prints them. It repeats what was sent, and what is stored with it.
 * Source: contract "llm.model: null after a value", "language: wrong type".
 */
export function refusalText(title: string, problems: readonly RuleProblem[]): string {
  const count = `${problems.length} validation ${problems.length === 1 ? 'error' : 'errors'} for ${title}`;
  const each = problems.flatMap(({ type, loc, msg, input }) => [
    ...(loc.length === 0 ? [] : [loc.join('.')]),
    `  ${msg} [type=${type}, input_value=${shortenInput(pythonText(input))}, input_type=${pythonType(input)}]`,
    `    For further information visit https://errors.pydantic.dev/2.12/v/${type}`,
  ]);
  return [count, ...each].join('\n');
}

function shortenInput(text: string): string {
  const characters = Array.from(text);
  if (characters.length <= LONGEST) return text;
  const before = characters.slice(0, KEPT_BEFORE).join('');
  return `${before}...${characters.slice(-KEPT_AFTER).join('')}`;
}

function pythonText(value: Json): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return pythonQuoted(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isInteger(value) ? `${value}.0` : String(value);
  if (isJsonList(value)) return `[${value.map(pythonText).join(', ')}]`;
  const members = Object.entries(value).map(
    ([name, one]) => `${pythonQuoted(name)}: ${pythonText(one)}`,
  );
  return `{${members.join(', ')}}`;
}

function pythonQuoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return `${mark}${mark === "'" ? escaped.replaceAll("'", "\\'") : escaped}${mark}`;
}

/** Returns Python's name for the type of a value. */
export function pythonType(value: Json): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'float';
  return isJsonObject(value) ? 'dict' : 'list';
}
