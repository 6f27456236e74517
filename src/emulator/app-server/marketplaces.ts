import { isJsonList, isJsonObject, type Json, memberOf } from '../json.ts';

/** Why a list of marketplaces is refused; undefined if it is not. Source: contract "registered_marketplaces: twice the same name". */
export function marketplaceProblem(value: Json | undefined): string | undefined {
  if (value === undefined || !isJsonList(value)) return undefined;
  const entries = value.filter(isJsonObject);
  const wrong = entries.findIndex((entry) => textOf(memberOf(entry, 'source')).startsWith('/'));
  if (wrong >= 0)
    return `Invalid marketplace at index ${wrong}: Value error, local path source must be relative, not absolute`;
  const names = entries.map((entry) => textOf(memberOf(entry, 'name')));
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  if (twice.length === 0) return undefined;
  return `Marketplace name(s) already in use or duplicated: ${twice.join(', ')}`;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The list as it is stored: each of them is the user's own. */
export function scoped(value: Json): Json {
  if (!isJsonList(value)) return value;
  return value.map((one) => (isJsonObject(one) ? { ...one, scope: 'personal' } : one));
}
