import { isJsonList, type Json } from './json.ts';

/** The JSON text of a value, without spaces: a bigint as its digits, a number always with a fraction or an exponent. */
export function writeJson(value: Json): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return writeFraction(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isJsonList(value)) return `[${value.map(writeJson).join(',')}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`,
  );
  return `{${members.join(',')}}`;
}

function writeFraction(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
