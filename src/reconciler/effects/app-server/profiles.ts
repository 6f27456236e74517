import { createRecord, isEmpty, type ValueRecord } from '../../model/value.ts';
import type { Effect } from '../effects.ts';
import {
  readRecord,
  renameMember,
  type Stored,
  withMembers,
  withoutMember,
  withPart,
} from '../stored.ts';
import { listVaultEffects } from '../vault.ts';
import { ACTIVE, SETTINGS, withAddress, withoutStale } from './settings.ts';

export const PROFILES = `${SETTINGS}/profiles`;
export const SECRETS = '/api/v1/secrets';
export const PROVIDERS = `${SECRETS}/git-providers`;

const profileOf = (stored: Stored, name: string) => readRecord(stored, 'llm_profiles', name);

/** With a profile active, whose llm takes the place of that of the settings. */
function inUse(stored: Stored, name: string): Stored {
  const llm = profileOf(stored, name);
  const used = withPart(stored, ['settings', 'agent_settings'], { llm });
  return withMembers(used, { [ACTIVE]: name });
}

export function newName({ new_name: name }: ValueRecord): string {
  return typeof name === 'string' ? name : '';
}

export const PROFILE_EFFECTS: readonly Effect[] = [
  {
    rule: 'llm profiles: a profile is replaced whole; without a body it is the llm of the settings',
    on: [`POST ${PROFILES}/{}`],
    does: (stored, { name, body, shape, before }) => {
      const sent = body['llm'] ?? null;
      const llm =
        sent === null
          ? readRecord(stored, 'settings', 'agent_settings', 'llm')
          : shape('LLM', sent, profileOf(before, name));
      return withPart(stored, ['llm_profiles'], { [name]: llm });
    },
  },
  {
    rule: 'llm profiles: the key alone stays where none is sent',
    on: [`POST ${PROFILES}/{}`],
    does: (stored, { name, body, before }) => {
      const was = profileOf(before, name)['api_key'] ?? null;
      const isBare = isEmpty(profileOf(stored, name)['api_key']) && !isEmpty(body['llm']);
      const isKept = body['preserve_existing_api_key'] === true || isBare;
      if (!isKept || !Object.hasOwn(readRecord(before, 'llm_profiles'), name)) return stored;
      return withPart(stored, ['llm_profiles', name], { api_key: was });
    },
  },
  {
    rule: 'llm profiles: include_secrets false takes the key away',
    on: [`POST ${PROFILES}/{}`],
    does: (stored, { name, body }) =>
      body['include_secrets'] === false
        ? withPart(stored, ['llm_profiles', name], { api_key: null })
        : stored,
  },
  {
    rule: 'llm profiles: a store of the active one from a body ends it',
    on: [`POST ${PROFILES}/{}`],
    does: (stored, { name, body }) =>
      stored[ACTIVE] === name && !isEmpty(body['llm'])
        ? withMembers(stored, { [ACTIVE]: null })
        : stored,
  },
  {
    rule: 'llm profiles: a store of any ends one whose llm is not that of the settings',
    on: [`POST ${PROFILES}/{}`],
    does: withoutStale,
  },
  {
    rule: 'llm profiles: one is renamed in its place',
    on: [`POST ${PROFILES}/{}/rename`],
    does: (stored, { name, body }) =>
      withMembers(stored, {
        llm_profiles: renameMember(readRecord(stored, 'llm_profiles'), name, newName(body)),
      }),
  },
  {
    rule: 'llm profiles: a rename takes the pointer along',
    on: [`POST ${PROFILES}/{}/rename`],
    does: (stored, { name, body }) =>
      stored[ACTIVE] === name ? withMembers(stored, { [ACTIVE]: newName(body) }) : stored,
  },
  {
    rule: 'llm profiles: activation replaces the llm of the settings, key and all',
    on: [`POST ${PROFILES}/{}/activate`],
    does: (stored, { name }) => inUse(stored, name),
  },
  {
    rule: 'llm profiles: activation fills in the address of the provider',
    on: [`POST ${PROFILES}/{}/activate`],
    does: withAddress,
  },
  {
    rule: 'llm profiles: one is removed',
    on: [`DELETE ${PROFILES}/{}`],
    does: (stored, { name }) =>
      withMembers(stored, {
        llm_profiles: withoutMember(readRecord(stored, 'llm_profiles'), name),
      }),
  },
  {
    rule: 'llm profiles: with the active one gone the first of those left takes over, key and all',
    on: [`DELETE ${PROFILES}/{}`],
    does: (stored, { name, before }) => {
      if (before[ACTIVE] !== name) return stored;
      const [first] = Object.keys(readRecord(stored, 'llm_profiles'));
      return first === undefined ? withMembers(stored, { [ACTIVE]: null }) : inUse(stored, first);
    },
  },
  ...listVaultEffects(SECRETS, `POST ${PROVIDERS}`),
  {
    rule: 'git providers: all are removed',
    on: [`DELETE ${PROVIDERS}`],
    does: (stored) => withMembers(stored, { git_providers: createRecord([]) }),
  },
];
