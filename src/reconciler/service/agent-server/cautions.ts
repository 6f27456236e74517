import type { Caution } from '../../model/state.ts';
import type { ValueRecord } from '../../model/value.ts';

const LLM = ['agent_settings.llm'];

/** What a plan on this answer must warn of. */
export function cautionsOf(answer: ValueRecord): Caution[] {
  if (typeof answer['active_profile'] !== 'string') return [];
  const message =
    'The server has an active LLM profile (active_profile): once a profile is activated again, it replaces all of the llm, its key too.';
  return [{ warning: { code: 'active-profile', message, path: ['active_profile'] }, about: LLM }];
}
