import { ACTIVE_FORM, CONNECTIONS_FORM, LLM_PROFILES_FORM } from '../model/collection-forms.ts';
import { REASONS, type Reason } from '../model/reasons.ts';
import { itemNamed, type DesiredItem } from '../model/collection.ts';
import { AGENT_KIND } from '../model/field.ts';
import type { Path } from '../model/path.ts';
import type { Fingerprints, WrittenSecret } from '../model/ports.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredState } from '../model/state.ts';
import { isRecord, readPath, type Value, type ValueRecord } from '../model/value.ts';
import type { Get } from './collections/wire.ts';
import { isCopiedLlm } from './llm-profiles/read.ts';
import { isActiveCopy } from './meta-profiles.ts';

/*
 * The copies that the settings of an Agent Server have of what is active. A change of a profile does not reach them, somebody may change them, and a
 * run may be killed before it has made a profile active again.
 */

/** Reports whether the settings have the active profile in its current form. `path` is that of the profile, `kind` that of its pointer. */
export async function isCopied(
  get: Get,
  path: string,
  kind: string,
  settings: ValueRecord,
): Promise<boolean> {
  const isCopy = COPIES[kind];
  // An agent of another maker has no copy.
  if (isCopy === undefined || readPath(settings, AGENT_KIND) === 'acp') return true;
  const found = await get(path);
  return typeof found === 'symbol' || !isRecord(found) || isCopy(found, settings);
}

/** Both as the server shows them. */
const COPIES: Readonly<Record<string, (shown: ValueRecord, settings: ValueRecord) => boolean>> = {
  llm_profile: isCopiedLlm,
  meta_profile: ({ config }, settings) =>
    !isRecord(config) ||
    isActiveCopy(config, readPath(settings, ['agent_settings', 'meta_profile'])),
};

/** The key that is in the settings since an LLM profile was made active: no copy shows which. */
const KEY_TAKEN: Path = [ACTIVE_FORM.block, 'llm_profile', 'api_key'];

/** The key that goes into the settings with a profile, for the fingerprints. */
export function keyTaken(item: DesiredItem, desired: DesiredState): readonly WrittenSecret[] {
  const value = findProfileKey(item, desired);
  return value === null ? [] : [{ path: KEY_TAKEN, value }];
}

/** Explains why a profile must be activated again, judged by the key last copied into the settings from here. */
export function keyChanged(
  item: DesiredItem,
  desired: DesiredState,
  fingerprints: Fingerprints,
): Reason | null {
  const last = findProfileKey(item, desired)?.compareWith((text) =>
    fingerprints.compare(KEY_TAKEN, text),
  );
  if (last !== 'different') return null;
  return REASONS['key-changed'];
}

/** The key that a profile has by the file, its own or that of its connection; null if the file has none. */
function findProfileKey({ name, members }: DesiredItem, desired: DesiredState): Secret | null {
  const active = members?.[ACTIVE_FORM.main];
  if (name !== 'llm_profile' || typeof active !== 'string') return null;
  const profile = itemNamed(desired, LLM_PROFILES_FORM, active)?.members;
  const connection = profile?.['connection'];
  const holder =
    typeof connection === 'string'
      ? itemNamed(desired, CONNECTIONS_FORM, connection)?.members
      : profile;
  const key: Value = holder?.['api_key'] ?? null;
  return key instanceof Secret && !(key instanceof UnseenSecret) ? key : null;
}
