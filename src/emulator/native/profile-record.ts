import { isJsonObject, type Json, type JsonObject, readOwnMember } from '../json.ts';
import { refuseValue, crash, good, type Location, type Verdict } from '../rules.ts';
import { fit, type FitReading } from './fit.ts';
import { fitScalar } from './fit-scalar.ts';
import { settleLlm } from './class-rules.ts';
import type { SchemaNode, Snapshot } from './schema.ts';
import { hasSecret, type OnSecret, withSecrets } from './secret-places.ts';

/** The member of a stored record that has the LLM profiles, each under its name. */
export const PROFILES = 'llm_profiles';

export const LLM: SchemaNode = { $ref: '#/$defs/LLM' };

/** The profiles of a record in the order in which they were made. */
export function readProfiles(record: JsonObject): JsonObject {
  const held = readOwnMember(record, PROFILES) ?? null;
  const profiles = isJsonObject(held) ? (readOwnMember(held, 'profiles') ?? null) : null;
  return isJsonObject(profiles) ? profiles : {};
}

export function findStoredProfile(record: JsonObject, name: string): JsonObject | undefined {
  const profile = readOwnMember(readProfiles(record), name);
  return profile !== undefined && isJsonObject(profile) ? profile : undefined;
}

/** A record with other profiles; what else is held of them stays. */
export function withProfiles(record: JsonObject, profiles: JsonObject): JsonObject {
  const held = readOwnMember(record, PROFILES) ?? null;
  return { ...record, [PROFILES]: { ...(isJsonObject(held) ? held : {}), profiles } };
}

export function withoutProfile(record: JsonObject, name: string): JsonObject {
  const left = Object.entries(readProfiles(record)).filter(([other]) => other !== name);
  return withProfiles(record, Object.fromEntries(left));
}

/** A record with the secrets of its profiles replaced. */
export function withProfileSecrets(
  snapshot: Snapshot,
  record: JsonObject,
  onSecret: OnSecret,
): JsonObject {
  if (readOwnMember(record, PROFILES) === undefined) return record;
  const replaced = Object.entries(readProfiles(record)).map(
    ([name, profile]) => [name, withSecrets(snapshot, LLM, profile, onSecret)] as const,
  );
  return withProfiles(record, Object.fromEntries(replaced));
}

/** The llm that a profile is made of, every default filled in. */
export function fitProfile(reading: FitReading, llm: Json): Verdict {
  const at = ['body', 'llm'];
  const model = isJsonObject(llm) ? (readOwnMember(llm, 'model') ?? '') : 'none';
  if (model === '') return refuseValue('model must be specified in LLM', at, llm);
  const verdict = fit(reading, LLM, llm, at);
  if (verdict.kind !== 'good' || !isJsonObject(verdict.value) || !isJsonObject(llm)) return verdict;
  const settled = settleLlm(verdict.value, llm);
  return settled === undefined ? crash : good(settled);
}

/** Returns why a profile cannot have a name. */
export function checkProfileName(
  name: string,
  pattern: string,
  at: Location = ['path', 'name'],
): Verdict {
  return fitScalar(
    { type: 'string', minLength: 1, maxLength: 64, pattern },
    { isNamed: false },
    name,
    at,
  );
}

export function isKeySet(profile: JsonObject): boolean {
  return hasSecret(profile, ['api_key']);
}
