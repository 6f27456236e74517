import { activeDeclared } from '../../model/collection-forms.ts';
import type { SetpointError, Warning } from '../../model/error.ts';
import type { Remainder } from '../../model/outcome.ts';
import { samePath } from '../../model/path.ts';
import type { SettingsPlan } from '../../model/plan.ts';
import type { SettingsWrite, ObservedState } from '../../model/state.ts';
import { findDeactivation } from '../../plan/consequences.ts';
import { ACTIVE, isProfileDeactivated, isUnchanged, profileWarning } from '../../plan/profiles.ts';
import type { ReconcileInput } from '../../reconcile/contract.ts';
import { DIALECTS } from '../../service/dialects.ts';

/** The result of activating a profile again, with the answer if the service did not confirm it. */
export interface Activation {
  readonly sent: boolean;
  readonly error: SetpointError | null;
}

/**
 * Makes the LLM profile active again that a write has made inactive. Activation replaces the llm of the settings with its llm, so it is
 * omitted if either has changed since before the write. The observation that follows shows whether it took effect.
 */
export async function reactivateProfile(
  { writer }: ReconcileInput,
  write: SettingsWrite,
  before: ObservedState,
  latest: ObservedState,
): Promise<Activation> {
  const ending = findDeactivation(write, before);
  if (
    ending?.again !== true ||
    !isProfileDeactivated(before, latest) ||
    !isUnchanged(ending.name, before, latest)
  )
    return { sent: false, error: null };
  const { activate } = DIALECTS[latest.dialect.name];
  if (activate === undefined) throw new Error(`${latest.dialect.name} ends no profile.`);
  const answer = await writer(activate)(ending.name);
  return { sent: true, error: answer.kind === 'stored' ? null : answer.error };
}

/** The active profile that a write deactivates, although the write leaves the llm unchanged. */
export function listDeactivatedProfiles(
  write: SettingsWrite | null,
  before: ObservedState,
  after: ObservedState,
): Remainder[] {
  const name = before.profiles?.active ?? null;
  if (name === null || !isProfileDeactivated(before, after)) return [];
  if (findDeactivation(write, before)?.again === false) return [];
  return [
    {
      resource: 'settings',
      path: ACTIVE,
      expected: name,
      actual: after.profiles?.active ?? null,
      reason: 'was active before the write, and is no longer active',
      hint: `Activate the LLM profile ${name} on the service, and give it a base_url, so that no write ends it.`,
    },
  ];
}

/** The warnings of a plan, with the result for the profile that was active instead of the expectation. */
export function updateProfileWarnings(
  { warnings, write }: Pick<SettingsPlan, 'warnings' | 'write'>,
  [before, after]: readonly [ObservedState, ObservedState],
  { sent, error }: Activation,
  { desired }: Pick<ReconcileInput, 'desired'>,
): readonly Warning[] {
  const others = warnings.filter(({ path }) => !samePath(path, ACTIVE));
  const ending = findDeactivation(write, before);
  if (ending === null) return others;
  const { name } = ending;
  if (!isProfileDeactivated(before, after))
    return sent
      ? [
          ...others,
          profileWarning(
            `The write made the LLM profile ${name} inactive, and it was activated again.`,
          ),
        ]
      : others;
  if (error !== null)
    return [
      ...others,
      profileWarning(`The LLM profile ${name} could not be activated again: ${error.message}`),
    ];
  if (ending.again || activeDeclared(desired, 'llm_profile') !== null) return others;
  const message = `The LLM profile ${name} is no longer active, because the write changed the llm. To keep a profile active, change the profile on the service, then activate it there.`;
  return [...others, profileWarning(message)];
}
