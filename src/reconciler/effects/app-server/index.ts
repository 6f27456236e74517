import { nativeDefinitions } from '../../model/native-schema.ts';
import { SETTINGS_TYPES, sharedTypeRules } from '../agent-server/types.ts';
import type { Effects, RefusalRule } from '../effects.ts';
import { limitPart, requireFreeName, requireThing } from '../refusals.ts';
import { readRecord } from '../stored.ts';
import { newName, PROFILE_EFFECTS, PROFILES, SECRETS } from './profiles.ts';
import { IS_STORED, SETTINGS_EFFECTS } from './settings.ts';

const MOST = 10;
const GIT_PROVIDERS = 'git-providers';

/** The refusals of an app server because of what it has stored. */
const APP_REFUSALS: readonly RefusalRule[] = [
  {
    rule: 'llm_profiles: none is stored before the settings are',
    on: [`POST ${PROFILES}/{}`],
    status: 404,
    refuses: (stored) => (stored[IS_STORED] === true ? null : { code: 'unstored' }),
  },
  limitPart('llm_profiles', `POST ${PROFILES}/{}`, MOST),
  requireThing('llm_profiles', [`POST ${PROFILES}/{}/activate`, `POST ${PROFILES}/{}/rename`]),
  requireFreeName('llm_profiles', `POST ${PROFILES}/{}/rename`, 409, newName),
  requireThing('secrets', [`PUT ${SECRETS}/{}`]),
  {
    ...requireThing('secrets', [`DELETE ${SECRETS}/{}`], (stored, name) => {
      // A server that never stored a secret takes the removal of any.
      const isOpen = name === GIT_PROVIDERS || stored['secrets'] === undefined;
      return isOpen || Object.hasOwn(readRecord(stored, 'secrets'), name);
    }),
    rule: 'secrets: what is removed is there',
  },
];

/** What requests do to an app server of releases 1.6 to 1.11 as recorded, with the types of 1.11.0. */
export const APP_SERVER: Effects = {
  effects: [...SETTINGS_EFFECTS, ...PROFILE_EFFECTS],
  types: {
    get defs() {
      return nativeDefinitions('app-server');
    },
    rules: sharedTypeRules(2),
  },
  settings: SETTINGS_TYPES,
  refusals: APP_REFUSALS,
};
