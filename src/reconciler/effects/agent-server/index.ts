import type { Effects } from '../effects.ts';
import { AGENT_EFFECTS } from './agents.ts';
import { PROFILE_EFFECTS } from './profiles.ts';
import { AGENT_REFUSALS, resolveIds } from './refusals.ts';
import { SETTINGS_EFFECTS } from './settings.ts';
import { definitions, SETTINGS_TYPES, TYPE_RULES } from './types.ts';

/** What requests do to an Agent Server: of releases 1.49.1 to 1.58.2 as recorded, with the types of 1.57.0. */
export const AGENT_SERVER: Effects = {
  effects: [...SETTINGS_EFFECTS, ...PROFILE_EFFECTS, ...AGENT_EFFECTS],
  types: {
    get defs() {
      return definitions();
    },
    rules: TYPE_RULES,
  },
  settings: SETTINGS_TYPES,
  refusals: AGENT_REFUSALS,
  resolve: resolveIds,
};
