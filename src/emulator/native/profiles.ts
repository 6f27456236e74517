import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import { badValue, crash, good, type Location, type Verdict } from '../rules.ts';
import { fit, type FitReading } from './fit.ts';
import { fitScalar } from './fit-scalar.ts';
import { settledLlm } from './class-rules.ts';
import type { SchemaNode, Snapshot } from './schema.ts';
import { isSet, type OnSecret, withSecrets } from './secret-places.ts';

/** The member of a stored record that has the LLM profiles, each under its name. */
export const PROFILES = 'llm_profiles';

export const LLM: SchemaNode = { $ref: '#/$defs/LLM' };

/** The profiles of a record in the order in which they were made. */
export function profilesOf(record: JsonObject): JsonObject {
  const held = memberOf(record, PROFILES) ?? null;
  const profiles = isJsonObject(held) ? (memberOf(held, 'profiles') ?? null) : null;
  return isJsonObject(profiles) ? profiles : {};
}

export function profileOf(record: JsonObject, name: string): JsonObject | undefined {
  const profile = memberOf(profilesOf(record), name);
  return profile !== undefined && isJsonObject(profile) ? profile : undefined;
}

/** A record with other profiles; what else is held of them stays. */
export function withProfiles(record: JsonObject, profiles: JsonObject): JsonObject {
  const held = memberOf(record, PROFILES) ?? null;
  return { ...record, [PROFILES]: { ...(isJsonObject(held) ? held : {}), profiles } };
}

export function withoutProfile(record: JsonObject, name: string): JsonObject {
  const left = Object.entries(profilesOf(record)).filter(([other]) => other !== name);
  return withProfiles(record, Object.fromEntries(left));
}

/** A record with the secrets of its profiles replaced. */
export function withProfileSecrets(
  snapshot: Snapshot,
  record: JsonObject,
  onSecret: OnSecret,
): JsonObject {
  if (memberOf(record, PROFILES) === undefined) return record;
  const replaced = Object.entries(profilesOf(record)).map(
    ([name, profile]) => [name, withSecrets(snapshot, LLM, profile, onSecret)] as const,
  );
  return withProfiles(record, Object.fromEntries(replaced));
}

/** The llm that a profile is made of, every default filled in. */
export function fitProfile(reading: FitReading, llm: Json): Verdict {
  const at = ['body', 'llm'];
  const model = isJsonObject(llm) ? (memberOf(llm, 'model') ?? '') : 'none';
  if (model === '') return badValue('model must be specified in LLM', at, llm);
  const verdict = fit(reading, LLM, llm, at);
  if (verdict.kind !== 'good' || !isJsonObject(verdict.value) || !isJsonObject(llm)) return verdict;
  const settled = settledLlm(verdict.value, llm);
  return settled === undefined ? crash : good(settled);
}

/** Why a profile cannot have a name. */
export function nameProblem(
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
  return isSet(profile, ['api_key']);
}
