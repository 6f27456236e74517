import { nativeDefinitions } from '../../model/native-schema.ts';
import { SETTINGS_TYPES, sharedTypeRules } from '../agent-server/types.ts';
import { type Effects, matchPathName } from '../effects.ts';
import { readRecord, type Request, type Stored } from '../stored.ts';
import { PROFILE_EFFECTS, PROFILES, SECRETS } from './profiles.ts';
import { IS_STORED, SETTINGS_EFFECTS } from './settings.ts';

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
  refuses: findAppRefusal,
};

const MOST = 10;

/** Why an app server refuses a request because of what it has stored; null if it takes it. */
function findAppRefusal(stored: Stored, { method, path, body }: Request): 404 | 409 | null {
  const named = (pattern: string): string | null => matchPathName([pattern], method, path);
  const profiles = readRecord(stored, 'llm_profiles');
  const saved = named(`POST ${PROFILES}/{}`);
  if (saved !== null && stored[IS_STORED] !== true) return 404;
  if (saved !== null)
    return !Object.hasOwn(profiles, saved) && Object.keys(profiles).length >= MOST ? 409 : null;
  const activated = named(`POST ${PROFILES}/{}/activate`);
  if (activated !== null) return Object.hasOwn(profiles, activated) ? null : 404;
  const from = named(`POST ${PROFILES}/{}/rename`);
  if (from !== null) {
    const { new_name: to } = body;
    const isTaken = typeof to === 'string' && to !== from && Object.hasOwn(profiles, to);
    return !Object.hasOwn(profiles, from) ? 404 : isTaken ? 409 : null;
  }
  const secret = named(`PUT ${SECRETS}/{}`) ?? named(`DELETE ${SECRETS}/{}`);
  const isOpen = stored['secrets'] === undefined && method === 'DELETE';
  if (secret === null || secret === 'git-providers' || isOpen) return null;
  return Object.hasOwn(readRecord(stored, 'secrets'), secret) ? null : 404;
}
