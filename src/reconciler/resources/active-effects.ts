import { CONNECTION_ID } from '../effects/agent-server/settings.ts';
import { readRecord, type Request, type Stored, withMembers, withPart } from '../effects/stored.ts';
import {
  CONNECTIONS_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
} from '../model/collection-forms.ts';
import type { CollectionForm } from '../model/collection.ts';
import { memberFacts } from '../model/path-facts.ts';
import type { Change, PartPlan, Plan } from '../model/plan.ts';
import { UnseenSecret } from '../model/secret.ts';
import type { ObservedState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  createRecord,
  filterMembers,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { listStoredChanges, predictWrite } from '../plan/consequences.ts';
import { extractSettingsPlan } from '../plan/settings-part.ts';
import { concealMember } from '../service/conceal.ts';
import { DIALECTS } from '../service/dialects.ts';
import { predictRequest, withTokens } from '../service/predict.ts';
import { ABSENT, LACKING, type Get } from './collections/wire.ts';

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
  if (found === ABSENT || found === LACKING || !isRecord(found)) return createRecord({});
  const facts = memberFacts('Agent', part === 'llm_profiles' ? 'llm' : 'meta_profile');
  const config = withTokens(readRecord(concealMember(found['config'] ?? null, facts)));
  const key = found['api_key_set'] === true ? new UnseenSecret() : null;
  const own = part === 'llm_profiles' ? withMembers(config, { api_key: key }) : config;
  const stored = withPart(createRecord({}), [part], { [name]: own });
  if (isEmpty(readRecord(own)[CONNECTION_ID])) return stored;
  const list = await get(CONNECTIONS);
  const entries = typeof list !== 'symbol' && isList(list) ? list.filter(isRecord) : [];
  const connections = entries.flatMap(({ id, ...one }): [string, Value][] => {
    const api_key = one['api_key_set'] === true ? new UnseenSecret() : null;
    const base_url = concealMember(one['base_url'] ?? null, memberFacts(facts.type, 'base_url'));
    return typeof id === 'string'
      ? [[id, withMembers(createRecord(one), { api_key, base_url })]]
      : [];
  });
  return withMembers(stored, { provider_connections: createRecord(connections) });
}

/** What a request changes in the settings, given what the plan makes of the profiles before it. */
export function changesInSettings(
  request: Request,
  cause: Change,
  { stored, settings, earlier }: { stored: Stored; settings: ObservedState; earlier: Plan },
): readonly Change[] {
  const { storage } = DIALECTS[settings.dialect.name];
  if (storage === undefined) return [];
  const parts = applyPlannedItems(stored, earlier);
  const { write } = extractSettingsPlan(earlier);
  const from = (write === null ? null : predictWrite(write, settings)?.expected) ?? settings;
  // A profile is active only as long as the llm is its own: then both have the same keys, of which the settings show none.
  const active = readRecord(stored, 'llm_profiles', settings.profiles?.active ?? '');
  const keys = filterMembers(active, (_, value) => value instanceof UnseenSecret);
  const prediction = predictRequest(storage, from, request, parts, keys);
  return listStoredChanges(prediction, from, () => cause).filter(
    ({ path }) =>
      path.length > 1 ||
      path[0]?.startsWith('active_') !== true ||
      cause.resource !== 'active profile',
  );
}

/** What is stored once the plan of profiles and connections is made. */
function applyPlannedItems(stored: Stored, plan: Plan): Stored {
  const profiles = collectLeftItems(plan, LLM_PROFILES_FORM);
  const connections = collectLeftItems(plan, CONNECTIONS_FORM);
  const byName = [...connections].map(([name, one]) => [findStoredId(stored, name), one] as const);
  const linked = [...profiles].map(([name, { connection = null, ...llm }]) => {
    const id = typeof connection === 'string' ? findStoredId(stored, connection) : null;
    return [name, createRecord({ ...llm, [CONNECTION_ID]: id })] as const;
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
  return createRecord({
    classifier_model: classifier ?? null,
    classes,
    prompt_template,
    model_table,
  });
}
