import type { Secret } from '../model/secret.ts';
import { isList, isRecord, WireNumber, type Value } from '../model/value.ts';

const MOST = 10;
const DEEPEST = 12;

/**
 * What a 422 objects to, in words: `mcp_config.sse_servers.0.url (missing)`. The answer repeats what was sent, secrets too,
 * so only `loc` and `type` of its details are read, and of those only what looks like a name or a position and holds none
 * of the secrets. Empty where there is nothing to tell.
 */
export function refusedPlaces(body: Value, secrets: readonly Secret[]): string {
  const details = isRecord(body) && isList(body['detail']) ? body['detail'] : [];
  const places = details.flatMap((detail) => placeOf(detail, secrets) ?? []);
  const shown = [...new Set(places)].slice(0, MOST).join(', ');
  return places.length > MOST ? `${shown} and more` : shown;
}

function placeOf(detail: Value, secrets: readonly Secret[]): string | null {
  if (!isRecord(detail) || !isList(detail['loc'])) return null;
  const path = detail['loc'][0] === 'body' ? detail['loc'].slice(1) : detail['loc'];
  const segments = path.slice(0, DEEPEST).map((segment) => segmentText(segment, secrets));
  const type = detail['type'];
  const named = typeof type === 'string' && isTelling(type, /^[a-z][a-z0-9_]{0,39}$/, secrets);
  return `${segments.join('.') || 'the body'}${named ? ` (${type})` : ''}`;
}

function segmentText(segment: Value, secrets: readonly Secret[]): string {
  if (segment instanceof WireNumber) return '?';
  if (typeof segment === 'number') return Number.isSafeInteger(segment) ? String(segment) : '?';
  if (typeof segment !== 'string') return '?';
  return isTelling(segment, /^[A-Za-z_][A-Za-z0-9_-]{0,39}$/, secrets) ? segment : '?';
}

function isTelling(text: string, form: RegExp, secrets: readonly Secret[]): boolean {
  return (
    form.test(text) &&
    secrets.every((secret) => secret.compareWith((value) => overlap(text, value)) === 'apart')
  );
}

/** Short secrets are found in any word, so only the whole of one counts. */
function overlap(text: string, value: string): 'apart' | 'overlap' {
  if (value === '') return 'apart';
  if (text === value) return 'overlap';
  const within = value.length >= 6 && text.includes(value);
  const partOf = text.length >= 6 && value.includes(text);
  return within || partOf ? 'overlap' : 'apart';
}
