import { SHORTEST_INSIDE } from '../model/encodings.ts';
import { Redactor } from '../model/redactor.ts';
import type { Secret } from '../model/secret.ts';
import { isList, isRecord, WireNumber, type Value } from '../model/value.ts';

/** What was sent and must not be told. */
interface Hidden {
  readonly redactor: Redactor;
  readonly secrets: readonly Secret[];
}

const MOST = 10;
const DEEPEST = 12;

/**
 * What a 422 objects to, in words: `mcp_config.sse_servers.0.url (missing)`. The answer repeats what was sent, secrets too,
 * so only `loc` and `type` of its details are read, and of those only what looks like a name or a position and neither holds
 * one of the secrets, in any form or case, nor is a part of one. Empty where there is nothing to tell.
 */
export function refusedPlaces(body: Value, secrets: readonly Secret[]): string {
  const details = isRecord(body) && isList(body['detail']) ? body['detail'] : [];
  const redactor = new Redactor();
  for (const secret of secrets) redactor.addSecret(secret);
  const hidden = { redactor, secrets };
  const places = details.flatMap((detail) => placeOf(detail, hidden) ?? []);
  const shown = [...new Set(places)].slice(0, MOST).join(', ');
  return places.length > MOST ? `${shown} and more` : shown;
}

function placeOf(detail: Value, hidden: Hidden): string | null {
  if (!isRecord(detail) || !isList(detail['loc'])) return null;
  const path = detail['loc'][0] === 'body' ? detail['loc'].slice(1) : detail['loc'];
  const segments = path.slice(0, DEEPEST).map((segment) => segmentText(segment, hidden));
  const type = detail['type'];
  const named = typeof type === 'string' && isTelling(type, /^[a-z][a-z0-9_]{0,39}$/, hidden);
  return `${segments.join('.') || 'the body'}${named ? ` (${type})` : ''}`;
}

function segmentText(segment: Value, hidden: Hidden): string {
  if (segment instanceof WireNumber) return '?';
  if (typeof segment === 'number') return Number.isSafeInteger(segment) ? String(segment) : '?';
  if (typeof segment !== 'string') return '?';
  return isTelling(segment, /^[A-Za-z_][A-Za-z0-9_-]{0,39}$/, hidden) ? segment : '?';
}

function isTelling(text: string, form: RegExp, { redactor, secrets }: Hidden): boolean {
  return (
    form.test(text) &&
    redactor.text(text) === text &&
    secrets.every((secret) => secret.compareWith((value) => partOf(text, value)) === 'apart')
  );
}

/** Short texts are part of any secret. */
function partOf(text: string, value: string): 'apart' | 'part' {
  const part = text.length >= SHORTEST_INSIDE && value.toLowerCase().includes(text.toLowerCase());
  return part ? 'part' : 'apart';
}
