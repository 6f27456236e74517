import { ACTIVE_PROFILE, fieldsWithin, MODEL_PART } from '../model/field.ts';
import { isWithin, type Path } from '../model/path.ts';

/** What the settings have of a profile because it was made active, by the kind of profile. */
const COPIES: Readonly<Record<string, readonly Path[]>> = {
  llm_profile: [ACTIVE_PROFILE, MODEL_PART, ...fieldsWithin(MODEL_PART).map(({ path }) => path)],
  meta_profile: [
    ['active_meta_profile'],
    ['agent_settings', 'active_meta_profile'],
    ['agent_settings', 'meta_profile'],
    ['agent_settings', 'enable_classify_and_switch_llm_tool'],
  ],
  agent_profile: [['active_agent_profile_id']],
};

/** Whether a path of the settings is written by what is active of these kinds, and by nothing else. */
export function copiedBy(kinds: readonly string[]): (path: Path) => boolean {
  const copies = kinds.flatMap((kind) => COPIES[kind] ?? []);
  return (path) => copies.some((copy) => isWithin(path, copy));
}
