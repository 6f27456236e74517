import { AGENT_SERVER } from '../effects/agent-server/index.ts';
import { APP_SERVER } from '../effects/app-server/index.ts';
import { SETTINGS as V1_SETTINGS, withAddress } from '../effects/app-server/settings.ts';
import { after } from '../effects/effects.ts';
import { readRecord, type Request, type Stored, withMembers, withPart } from '../effects/stored.ts';
import {
  CONNECTIONS_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
} from '../model/collection-forms.ts';
import type { CollectionForm } from '../model/collection.ts';
import { formatPath, isWithin, samePath } from '../model/path.ts';
import type { Change, PartPlan, Plan } from '../model/plan.ts';
import { isMaskedSecret } from '../model/secret-words.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { ObservedState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  mapRecord,
  assignPath,
  createRecord,
  collectSecrets,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { toPlannedPath } from '../plan/moved.ts';
import { BROUGHT } from '../plan/profiles.ts';
import { fieldNamed, MODEL_PART } from '../model/field.ts';
import { differing } from './collections/along.ts';
import { ABSENT, LACKING, type Get } from './collections/wire.ts';
import { CONNECTION_ID } from './provider-connections.ts';

/* What an activation, or the removal of what is active, changes in the settings of an Agent Server. */

const CONNECTIONS = '/api/llm/provider-connections';

/** A profile that is to be active, as the server has it now, and the connection that it names. */
export async function readStoredTarget(
  get: Get,
  part: 'llm_profiles' | 'meta_profiles',
  path: string,
  name: string,
): Promise<Stored> {
  const found = await get(path);
  if (found === ABSENT || found === LACKING || !isRecord(found)) return createRecord([]);
  const config = withTokens(readRecord(found, 'config'));
  const key = found['api_key_set'] === true ? new UnseenSecret() : null;
  const own = part === 'llm_profiles' ? withMembers(readRecord(config), { api_key: key }) : config;
  const stored = withPart(createRecord([]), [part], { [name]: own });
  if (isEmpty(readRecord(own)[CONNECTION_ID])) return stored;
  const list = await get(CONNECTIONS);
  const entries = typeof list !== 'symbol' && isList(list) ? list.filter(isRecord) : [];
  const connections = entries.flatMap(({ id, ...one }): [string, Value][] => {
    const api_key = one['api_key_set'] === true ? new UnseenSecret() : null;
    return typeof id === 'string'
      ? [[id, withMembers(createRecord(Object.entries(one)), { api_key })]]
      : [];
  });
  return withMembers(stored, { provider_connections: createRecord(connections) });
}

/** A value with a token in place of each secret that the server does not show. */
function withTokens(value: Value): Value {
  if (isList(value)) return value.map(withTokens);
  if (isRecord(value)) return mapRecord(value, withTokens);
  const secret = typeof value === 'string' ? new Secret(value) : value;
  return secret instanceof Secret && isMaskedSecret(secret) ? new UnseenSecret() : value;
}

/** What a request changes in the settings, given what the plan makes of the profiles before it. */
export function changesInSettings(
  request: Request,
  cause: Change,
  { stored, settings, earlier }: { stored: Stored; settings: ObservedState; earlier: Plan },
): readonly Change[] {
  const isAppServer = settings.dialect.name === 'app-server';
  const shown = withMembers(applyPlannedItems(stored, earlier), {
    settings: toStoredSettings(settings),
  });
  // An app-server stores the address of the provider, and shows none.
  const before = isAppServer ? asAppServer(shown, stored, settings) : shown;
  const made = after(isAppServer ? APP_SERVER : AGENT_SERVER, before, request);
  const [was, is] = [before, made].map((one) => readRecord(one, 'settings'));
  // Servers list members in different orders.
  const all = differing(was ?? createRecord([]), is ?? createRecord([])).toSorted(
    ([one], [other]) => (formatPath(one) < formatPath(other) ? -1 : 1),
  );
  return all.flatMap(([place, from, to]): Change[] => {
    if (samePath(place, ['agent_settings', 'active_meta_profile'])) return [];
    const path = toPlannedPath(place);
    const isLlm = isWithin(place, MODEL_PART);
    const isPointer = path.length === 1 && path[0]?.startsWith('active_') === true;
    if (isPointer && cause.resource === 'active profile') return [];
    return [
      {
        ...cause,
        path,
        action: isEmpty(to) ? 'clear' : isEmpty(from) ? 'set' : 'change',
        before: from,
        after: isEmpty(to) ? null : to,
        sensitive: collectSecrets(from).length + collectSecrets(to).length > 0,
        ref: null,
        reason: isLlm ? BROUGHT : ALONG,
        consequence: true,
        cause: cause.path,
      },
    ];
  });
}

/** What an app-server has stored: defaults once anything is stored, and the address of the provider, of which it shows none. */
function asAppServer(shown: Stored, stored: Stored, settings: ObservedState): Stored {
  if (settings.stored) return withAddress(withActiveKey(shown, stored, settings));
  return after(APP_SERVER, shown, { method: 'POST', path: V1_SETTINGS, body: createRecord([]) });
}

/** An app-server keeps a profile active only as long as the llm is its own: then both have the same keys, of which the settings show none. */
function withActiveKey(shown: Stored, stored: Stored, { profiles }: ObservedState): Stored {
  const profile = readRecord(stored, 'llm_profiles', profiles?.active ?? '');
  const keys = Object.entries(profile).filter(([, value]) => value instanceof UnseenSecret);
  return withPart(shown, ['settings', ...MODEL_PART], Object.fromEntries(keys));
}

const ALONG = 'comes with the active meta profile';

/** The settings as they are stored, as far as they show: fields in their native places, and tokens for secrets. */
function toStoredSettings({ answer, secrets }: ObservedState): ValueRecord {
  const shown = readRecord(withTokens(answer));
  const native = Object.entries(shown).reduce((made, [name, value]) => {
    const place = fieldNamed(name)?.place ?? [name];
    return place.length > 1 && name !== 'mcp_config' ? assignPath(made, place, value) : made;
  }, shown);
  const isSet = secrets.get('llm_api_key') === 'stored';
  return assignPath(native, [...MODEL_PART, 'api_key'], isSet ? new UnseenSecret() : null);
}

/** What is stored once the plan of profiles and connections is made. */
function applyPlannedItems(stored: Stored, plan: Plan): Stored {
  const profiles = collectLeftItems(plan, LLM_PROFILES_FORM);
  const connections = collectLeftItems(plan, CONNECTIONS_FORM);
  const byName = [...connections].map(([name, one]) => [findStoredId(stored, name), one] as const);
  const linked = [...profiles].map(([name, { connection = null, ...llm }]) => {
    const id = typeof connection === 'string' ? findStoredId(stored, connection) : null;
    return [name, createRecord(Object.entries({ ...llm, [CONNECTION_ID]: id }))] as const;
  });
  const withAll = withPart(
    withPart(stored, ['llm_profiles'], Object.fromEntries(linked)),
    ['meta_profiles'],
    Object.fromEntries(
      [...collectLeftItems(plan, META_PROFILES_FORM)].map(([name, one]) => [name, routing(one)]),
    ),
  );
  return byName.reduce(
    (made, [id, one]) => withPart(made, ['provider_connections', id], one),
    withAll,
  );
}

function collectLeftItems(
  plan: Plan,
  { block }: Pick<CollectionForm, 'block'>,
): ReadonlyMap<string, ValueRecord> {
  const part: PartPlan | undefined = plan.find(({ resource }) => resource.block === block);
  return part?.leaves ?? new Map<string, ValueRecord>();
}

function findStoredId(stored: Stored, name: string): string {
  const found = Object.entries(readRecord(stored, 'provider_connections')).find(
    ([, one]) => readRecord(one)['display_name'] === name,
  );
  return found?.[0] ?? name;
}

/** A meta profile as a server has it, by the names of the file. */
function routing({ classifier, ...members }: ValueRecord): ValueRecord {
  const { classes = [], prompt_template = null, model_table = null } = members;
  return createRecord(
    Object.entries({ classifier_model: classifier ?? null, classes, prompt_template, model_table }),
  );
}
