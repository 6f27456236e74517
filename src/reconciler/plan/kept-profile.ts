import { AGENT_KIND, isNamedWithin, MODEL_PART } from '../model/field.ts';
import type { Path } from '../model/path.ts';
import type { SettingsWrite, Warning } from '../model/plan.ts';
import type { LlmProfiles, ObservedState } from '../model/state.ts';
import { isEmpty, isRecord, membersOf, recordOf, sameValue } from '../model/value.ts';

/** Where an app-server shows which LLM profile is active. */
export const ACTIVE: Path = ['llm_profiles', 'active'];

/** The LLM profile that a write makes inactive; null if it ends none. */
export interface Ending {
  readonly name: string;
  /** Whether the llm stays that of the profile, so that it can be made active again: its address is filled in, which ends it. */
  readonly again: boolean;
}

export function endingBy(
  fields: SettingsWrite['fields'],
  { profiles }: ObservedState,
): Ending | null {
  const name = profiles?.active ?? null;
  if (profiles === undefined || name === null) return null;
  const again = !Object.keys(fields).some(isOfLlm);
  return again && !isBare(profiles, name) ? null : { name, again };
}

/** Whether a profile has no address. The service fills in that of the provider beside each write, in the settings alone. */
function isBare({ llms }: LlmProfiles, name: string): boolean {
  const llm = llms[name] ?? null;
  return !isRecord(llm) || isEmpty(llm['base_url'] ?? null);
}

/** That a write ends the active profile, for its plan. */
export function endingWarnings(
  fields: SettingsWrite['fields'],
  observed: ObservedState,
): Warning[] {
  const ending = endingBy(fields, observed);
  if (ending === null) return [];
  const message = ending.again
    ? `Any write of settings makes the active LLM profile ${ending.name} inactive, because it has no base_url and the service fills one in. setpoint activates it again after this write. Give it a base_url, so that no write ends it.`
    : `This write changes the llm, so that the LLM profile ${ending.name} is not active after it. To keep a profile active, change it on the service, and activate it there.`;
  return [profileWarning(message)];
}

export function profileWarning(message: string): Warning {
  return { code: 'active-profile', message, path: ACTIVE };
}

/** Whether the profile that was active before a write is not any more. */
export function hasEnded({ profiles }: ObservedState, after: ObservedState): boolean {
  const was = profiles?.active ?? null;
  return was !== null && after.profiles?.active !== was;
}

/** Whether the llm, and that of a profile, are what they were: then the profile may be activated, and changes nothing by it. */
export function isUnchanged(name: string, before: ObservedState, after: ObservedState): boolean {
  const llm = ({ values, secrets, profiles }: ObservedState) =>
    recordOf([
      ['values', membersOf(values, isOfLlm)],
      ['secrets', recordOf([...secrets].filter(([secret]) => isOfLlm(secret)))],
      ['profile', profiles?.llms[name] ?? null],
    ]);
  return sameValue(llm(before), llm(after));
}

function isOfLlm(name: string): boolean {
  return isNamedWithin(name, MODEL_PART) || isNamedWithin(name, AGENT_KIND);
}
