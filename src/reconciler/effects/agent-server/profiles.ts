import {
  isEmpty,
  isRecord,
  createRecord,
  textFits,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import type { Effect } from '../effects.ts';
import {
  readRecord,
  renameMember,
  type Stored,
  withMembers,
  withoutMember,
  withPart,
} from '../stored.ts';
import { isAcp, linkLlm, readStoredName, withRouting } from './settings.ts';
import { ROUTING } from './types.ts';

/* LLM profiles and the connections that they share, and meta profiles. */

export const CONNECTIONS = '/api/llm/provider-connections';
export const PROFILES = '/api/profiles';
export const META = '/api/meta-profiles';

const POST = [`POST ${PROFILES}/{}`];

function withProfile(stored: Stored, name: string, members: Readonly<Record<string, Value>>) {
  return withPart(stored, ['llm_profiles', readStoredName(name)], members);
}

function isActive(stored: Stored, pointer: string, name: string): boolean {
  const active = readRecord(stored, 'settings')[pointer];
  return typeof active === 'string' && readStoredName(active) === readStoredName(name);
}

export const PROFILE_EFFECTS: readonly Effect[] = [
  {
    rule: 'connections: one is made, under an id of the server and of the provider custom by itself',
    on: [`POST ${CONNECTIONS}`],
    does: (stored, { body }) => {
      const { display_name: name = null, provider = 'custom', base_url = null } = body;
      const id = `new connection ${Object.keys(readRecord(stored, 'provider_connections')).length}`;
      const api_key = readProfileKey(body['api_key'] ?? null);
      const connection = createRecord(
        Object.entries({ display_name: name, provider, base_url, api_key }),
      );
      return withPart(stored, ['provider_connections'], { [id]: connection });
    },
  },
  {
    rule: 'connections: what is not sent stays, and blank takes the key away',
    on: [`PATCH ${CONNECTIONS}/{}`],
    does: (stored, { name, body }) => {
      const key = body['api_key'];
      const own = key === undefined ? {} : { api_key: readProfileKey(key) };
      return withPart(stored, ['provider_connections', name], {
        ...body,
        ...own,
      });
    },
  },
  {
    rule: 'connections: one is removed',
    on: [`DELETE ${CONNECTIONS}/{}`],
    does: (stored, { name }) => withoutThing(stored, 'provider_connections', name),
  },
  {
    rule: 'llm profiles: a profile is replaced whole, with its secrets',
    on: POST,
    does: (stored, { name, body, before, shape }) => {
      const was = readRecord(before, 'llm_profiles', readStoredName(name));
      const llm = shape('LLM', readRecord(body, 'llm'), was);
      return withPart(stored, ['llm_profiles'], { [readStoredName(name)]: llm });
    },
  },
  {
    rule: 'llm profiles: one with a connection has no key and no address of its own',
    on: POST,
    does: (stored, { name }) => {
      const id = readRecord(stored, 'llm_profiles', readStoredName(name))['provider_connection_id'];
      return isEmpty(id) ? stored : withProfile(stored, name, { api_key: null, base_url: null });
    },
  },
  {
    rule: 'llm profiles: one is renamed',
    on: [`POST ${PROFILES}/{}/rename`],
    does: (stored, { name, body }) =>
      renameProfile(stored, 'llm_profiles', readStoredName(name), newName(body)),
  },
  {
    rule: 'llm profiles: a rename takes the pointer along',
    on: [`POST ${PROFILES}/{}/rename`],
    does: (stored, { name, body }) =>
      isActive(stored, 'active_profile', name) && newName(body) !== readStoredName(name)
        ? withPart(stored, ['settings'], { active_profile: newName(body) })
        : stored,
  },
  {
    rule: 'llm profiles: agent profiles follow a rename, and no meta profile does',
    on: [`POST ${PROFILES}/{}/rename`],
    does: (stored, { name, body }) =>
      withMembers(stored, {
        agent_profiles: createRecord(
          Object.entries(readRecord(stored, 'agent_profiles')).map(([agent, profile]) =>
            isRecord(profile) && profile['llm_profile_ref'] === readStoredName(name)
              ? [agent, withMembers(profile, { llm_profile_ref: newName(body) })]
              : [agent, profile],
          ),
        ),
      }),
  },
  {
    rule: 'llm profiles: one is removed',
    on: [`DELETE ${PROFILES}/{}`],
    does: (stored, { name }) => withoutThing(stored, 'llm_profiles', readStoredName(name)),
  },
  {
    rule: 'llm profiles: a removal clears the pointer, and the llm stays',
    on: [`DELETE ${PROFILES}/{}`],
    does: (stored, { name }) =>
      isActive(stored, 'active_profile', name)
        ? withPart(stored, ['settings'], { active_profile: null })
        : stored,
  },
  {
    rule: 'llm profiles: activation moves the pointer',
    on: [`POST ${PROFILES}/{}/activate`],
    does: (stored, { name }) =>
      withPart(stored, ['settings'], { active_profile: readStoredName(name) }),
  },
  {
    rule: 'llm profiles: activation replaces the llm of the settings, key and address too',
    on: [`POST ${PROFILES}/{}/activate`],
    does: (stored, { name }) =>
      isAcp(stored)
        ? stored
        : withPart(stored, ['settings', 'agent_settings'], {
            llm: linkLlm(stored, readStoredName(name)),
          }),
  },
  {
    rule: 'meta profiles: a profile is replaced whole',
    on: [`POST ${META}/{}`],
    does: (stored, { name, body, before, shape }) => {
      const was = readRecord(before, 'meta_profiles', readStoredName(name));
      return withPart(stored, ['meta_profiles'], {
        [readStoredName(name)]: shape(ROUTING, body, was),
      });
    },
  },
  {
    rule: 'meta profiles: activation copies the profile into the settings',
    on: [`POST ${META}/{}/activate`],
    does: (stored, { name }) => {
      if (isAcp(stored)) return withPart(stored, ['settings'], { active_meta_profile: null });
      const copy = readRecord(stored, 'meta_profiles', readStoredName(name));
      const copied = withPart(stored, ['settings', 'agent_settings'], {
        meta_profile: copy,
      });
      return withPart(copied, ['settings'], { active_meta_profile: name });
    },
  },
  {
    rule: 'meta profiles: activation turns the tool on',
    on: [`POST ${META}/{}/activate`],
    does: (stored, { name }) => (isAcp(stored) ? stored : withRouting(stored, name)),
  },
  {
    rule: 'meta profiles: one is removed',
    on: [`DELETE ${META}/{}`],
    does: (stored, { name }) => withoutThing(stored, 'meta_profiles', readStoredName(name)),
  },
  {
    rule: 'meta profiles: removal of the active one clears copy, pointer and tool',
    on: [`DELETE ${META}/{}`],
    does: (stored, { name }) => {
      if (readRecord(stored, 'settings')['active_meta_profile'] !== name) return stored;
      const cleared = withPart(stored, ['settings'], {
        active_meta_profile: null,
      });
      const agent = ['settings', 'agent_settings'];
      return isAcp(stored)
        ? cleared
        : withRouting(withPart(cleared, agent, { meta_profile: null }), null);
    },
  },
];

export function withoutThing(stored: Stored, part: string, name: string): Stored {
  return withMembers(stored, {
    [part]: withoutMember(readRecord(stored, part), name),
  });
}

export function renameProfile(stored: Stored, part: string, from: string, to: string): Stored {
  return withMembers(stored, {
    [part]: renameMember(readRecord(stored, part), from, to),
  });
}

/** The name that a rename gives. */
export function newName(body: ValueRecord): string {
  const name = body['new_name'];
  return typeof name === 'string' ? readStoredName(name) : '';
}

/** The key of a connection; blank is none. */
function readProfileKey(key: Value): Value {
  return textFits(key, (text) => text.trim() === '') ? null : key;
}
