import { pythonType } from '../native/refusal-text.ts';
import { isJsonList, isJsonObject, type Json, memberOf } from '../json.ts';

/** Why a list of marketplaces is refused; undefined if it is not. Source: contract "registered_marketplaces: twice the same name". */
export function marketplaceProblem(value: Json | undefined): string | undefined {
  if (typeof value === 'string' && value !== '')
    return 'Expected dict or MarketplaceRegistration, got str';
  if (value === undefined || !isJsonList(value)) return undefined;
  const odd = value.find((one) => !isJsonObject(one));
  if (odd !== undefined) return `Expected dict or MarketplaceRegistration, got ${pythonType(odd)}`;
  const entries = value.filter(isJsonObject);
  const bare = entries.findIndex((entry) =>
    ['name', 'source'].some((name) => memberOf(entry, name) === undefined),
  );
  if (bare >= 0) return `Invalid marketplace at index ${bare}: Field required`;
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
