import { AGENT_SERVER } from '../../effects/agent-server/index.ts';
import { PROFILES } from '../../effects/agent-server/profiles.ts';
import { APP_SERVER } from '../../effects/app-server/index.ts';
import { PROFILES as V1_PROFILES } from '../../effects/app-server/profiles.ts';
import { after, type Effects } from '../../effects/effects.ts';
import { NONE, readRecord, withoutMember } from '../../effects/stored.ts';
import { onceFor } from '../../model/cache.ts';
import { LLM_PROFILES_FORM } from '../../model/collection-forms.ts';
import { isSecretItemMember } from '../../model/collection.ts';
import { createRecord, isRecord, type Value, type ValueRecord } from '../../model/value.ts';

/** How a server stores profiles. */
export interface ProfileStore {
  readonly effects: Effects;
  readonly path: string;
  /** Reports whether a stored secret is sent along, because it would be lost. */
  readonly carries: (name: string, value: Value) => boolean;
  /** Reports whether a declared secret is sent each time. */
  readonly resends?: (name: string) => boolean;
}

/** It keeps the key, and shows maps; a user with other secrets there must declare them. */
export const IN_SETTINGS: ProfileStore = {
  effects: APP_SERVER,
  path: V1_PROFILES,
  carries: (name, value) => name !== 'api_key' && isRecord(value),
  resends: isLostInSettings,
};

export const IN_FILE: ProfileStore = {
  effects: AGENT_SERVER,
  path: PROFILES,
  carries: () => true,
};

/** The secrets that an app-server loses at each store that does not send them: it keeps the key alone, and shows maps. */
export function isLostInSettings(member: string): boolean {
  return isSecretMember(member) && member.startsWith('aws_');
}

export function isSecretMember(name: string): boolean {
  return isSecretItemMember(LLM_PROFILES_FORM, [name]);
}

/** The members that a server fills in, which count only where the file declares them. */
export const OF_THE_SERVER: ReadonlySet<string> = new Set([
  'stream_idle_timeout',
  'api_version',
  'usage_id',
]);

/** What a server has of a member that a profile leaves out. */
export function fillMember(store: ProfileStore, members: ValueRecord, name: string): Value {
  return toStoredLlm(store, withoutMember(members, name), NONE)[name] ?? null;
}

/** What a server has of a profile of which nothing is sent. */
export const defaultsOf = onceFor((store: ProfileStore) => toStoredLlm(store, NONE, NONE));

/** What a server stores of the llm of a profile, in the place of `before`. */
export function toStoredLlm(
  { effects, path }: ProfileStore,
  llm: ValueRecord,
  before: ValueRecord,
): ValueRecord {
  const stored = createRecord({ llm_profiles: createRecord({ one: before }) });
  const request = { method: 'POST', path: `${path}/one`, body: createRecord({ llm }) };
  return readRecord(after(effects, stored, request), 'llm_profiles', 'one');
}
