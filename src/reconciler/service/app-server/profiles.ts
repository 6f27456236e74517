import type { WriteAnswer } from '../../model/ports.ts';
import type { LlmProfiles } from '../../model/state.ts';
import { isRecord, recordOf, type ValueRecord } from '../../model/value.ts';
import type { Writing } from '../port.ts';
import { ServiceError } from '../service-error.ts';
import { storeBody } from '../store-body.ts';
import { SETTINGS_PATH } from './dialect.ts';

const PROFILES = 'llm_profiles';

/** The form of a name. What has another could not be part of a path. */
const NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;

/** The LLM profiles in an answer; undefined if it has none. */
export function profilesIn(answer: ValueRecord): LlmProfiles | undefined {
  const held = answer[PROFILES] ?? null;
  const llms = isRecord(held) ? (held['profiles'] ?? null) : null;
  if (!isRecord(held) || !isRecord(llms)) return undefined;
  const { active } = held;
  return { active: typeof active === 'string' ? active : null, llms };
}

/** POST /api/v1/settings/profiles/{name}/activate: the llm of the profile takes the place of that of the settings. */
export function activateProfile(writing: Writing): (name: string) => Promise<WriteAnswer> {
  return (name) => {
    const body = NAME.test(name)
      ? { record: recordOf([]) }
      : { problem: 'the name of the profile cannot be part of a path' };
    return storeBody(writing, body, {
      method: 'POST',
      path: `${SETTINGS_PATH}/profiles/${name}/activate`,
      refusals: [400, 404, 422],
      refusal: (place, { status }) =>
        new ServiceError('settings-refused', `${place} was refused (status ${status}).`),
    });
  };
}
