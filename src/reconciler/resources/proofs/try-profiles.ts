import { isRename } from '../../model/action.ts';
import {
  activeDeclared,
  AGENT_PROFILES_FORM,
  CONNECTIONS_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
} from '../../model/collection-forms.ts';
import { itemNamed, itemsDeclared, type DesiredItem } from '../../model/collection.ts';
import { isOfServers } from '../../model/mcp.ts';
import { isWithin } from '../../model/path.ts';
import { notChecked, type TrialResult } from '../../model/proof.ts';
import { isEmpty, isRecord, createRecord, readPath, type ValueRecord } from '../../model/value.ts';
import type { Provable } from '../../plan/unproven.ts';
import { agentProfileBody } from '../agent-profiles.ts';
import { IN_FILE } from '../llm-profiles/store.ts';
import { inFile, createProfileRequests } from '../llm-profiles/write.ts';
import { CONNECTION_ID } from '../../effects/agent-server/settings.ts';
import { mapConnections } from '../provider-connections.ts';
import {
  ENCRYPTED,
  NO_VALUE,
  trial,
  createSkippedTrial,
  type Trial,
  type Trying,
  type TryingPlan,
} from './trial.ts';

const NOT_STORED = 'it is not stored yet: setpoint plan --check tries what is to be stored';
const LINKED = 'its key is that of a provider connection, which only the service knows';

/** An LLM profile to store, or the future active one. */
export function tryPlannedModel(trying: TryingPlan, about: Provable): Trial {
  const [block, name = ''] = about.path;
  if (block === LLM_PROFILES_FORM.block) return profileTrial(trying, about, name);
  const active = activeDeclared(trying.desired, 'llm_profile');
  if (active === null)
    return createSkippedTrial(about, 'the file does not specify which profile it is');
  const isDeclared = itemNamed(trying.desired, LLM_PROFILES_FORM, active) !== undefined;
  return isDeclared ? profileTrial(trying, about, active) : tryStoredModel(trying, about, active);
}

/** The key of a connection, by a profile that names the connection: nothing tries a key alone. */
export function tryPlannedKey(trying: TryingPlan, about: Provable): Trial {
  const [, connection] = about.path;
  const user = itemsDeclared(trying.desired, LLM_PROFILES_FORM).find(
    ({ members }) => members?.['connection'] === connection,
  );
  return user === undefined
    ? createSkippedTrial(about, 'no LLM profile of the file uses it')
    : profileTrial(trying, about, user.name);
}

/** An agent profile to store. Items that the same plan stores do not count as missing. */
export function tryPlannedAgent(trying: TryingPlan, about: Provable): Trial {
  const [, name = ''] = about.path;
  const members = itemNamed(trying.desired, AGENT_PROFILES_FORM, name)?.members ?? null;
  if (members === null) return createSkippedTrial(about, 'it is not declared');
  const coming = new Set(
    trying.plan.flatMap(({ resource, changes }) =>
      COMING.has(resource.block) ? changes.map(({ path }) => path.at(1) ?? '') : [],
    ),
  );
  for (const change of trying.plan.flatMap(({ changes }) => changes))
    if (isOfServers(change.path) || change.path[0] === 'agent_settings')
      for (const key of change.path) coming.add(key);
  return trial(about, null, () => trying.checks.agent(name, agentProfileBody(members), coming));
}

const COMING: ReadonlySet<string> = new Set([LLM_PROFILES_FORM.block, META_PROFILES_FORM.block]);

/** Lists the LLM profiles and agent profiles that the file declares. */
export function listDeclaredProfiles({ desired }: Pick<Trying, 'desired'>): Provable[] {
  const of = (kind: Provable['kind'], block: string): Provable[] =>
    itemsDeclared(desired, { block }).flatMap(({ name, members }) =>
      members === null ? [] : [{ kind, path: [block, name] }],
    );
  return [...of('model', LLM_PROFILES_FORM.block), ...of('agent', AGENT_PROFILES_FORM.block)];
}

/** A profile as the service has it. */
export function tryStoredProfile(trying: Trying, about: Provable): Trial {
  const [, name = ''] = about.path;
  if (about.kind === 'model') return tryStoredModel(trying, about, name);
  return trial(about, null, () => trying.checks.agent(name, null, new Set()));
}

function tryStoredModel(trying: Trying, about: Provable, name: string): Trial {
  return trial(about, 'model', async () => {
    const found = await trying.get(toAgentPath(name), ENCRYPTED);
    const llm = typeof found === 'symbol' ? undefined : readPath(found, ['config']);
    if (!isRecord(llm)) return notChecked(NOT_STORED);
    if (!isEmpty(llm[CONNECTION_ID])) return notChecked(LINKED);
    return trying.checks.model(name, llm);
  });
}

function profileTrial(trying: TryingPlan, about: Provable, name: string): Trial {
  const { desired } = trying;
  const item = itemNamed(desired, LLM_PROFILES_FORM, name);
  if (item === undefined || item.members === null)
    return createSkippedTrial(about, 'it is not declared');
  const places = [
    [LLM_PROFILES_FORM.block, name],
    [CONNECTIONS_FORM.block, connectionName(item)],
  ];
  if (desired.missing.some(({ path }) => places.some((place) => isWithin(path, place))))
    return createSkippedTrial(about, NO_VALUE);
  const isLinked = !isEmpty(item.members['connection']);
  if (isLinked && isEmpty(findDeclaredConnection(trying, item)['api_key']))
    return createSkippedTrial(about, LINKED);
  const known = trying.drafts.get(name);
  if (known !== undefined) return trial(about, null, known);
  const attempt = onceOnly(async () =>
    tryDraft(trying, isLinked ? await inlineConnection(trying, item) : item),
  );
  trying.drafts.set(name, attempt);
  return trial(about, 'model', attempt);
}

function onceOnly(attempt: () => Promise<TrialResult>): () => Promise<TrialResult> {
  let made: Promise<TrialResult> | null = null;
  return () => (made ??= attempt());
}

/** Returns the declaration of the connection of a profile. */
function findDeclaredConnection({ desired }: Trying, item: DesiredItem): ValueRecord {
  return itemNamed(desired, CONNECTIONS_FORM, connectionName(item))?.members ?? {};
}

function connectionName({ members }: Pick<DesiredItem, 'members'>): string {
  const name = members?.['connection'];
  return typeof name === 'string' ? name : '';
}

/** A profile with the address and the key of its connection in it: no service looks the connection of a draft up. */
async function inlineConnection(trying: Trying, item: DesiredItem): Promise<DesiredItem> {
  const { connection: _, ...members } = item.members ?? {};
  const declared = findDeclaredConnection(trying, item);
  const stored = await mapConnections(trying.get, 'display_name', 'base_url');
  const url = declared['base_url'] ?? stored.get(connectionName(item)) ?? null;
  const own = [
    ['api_key', declared['api_key'] ?? null],
    ['base_url', url],
  ] as const;
  return { ...item, members: createRecord([...Object.entries(members), ...own]) };
}

/** Has the service try a profile as it would be sent, with the secrets that it keeps. */
async function tryDraft(trying: TryingPlan, item: DesiredItem): Promise<TrialResult> {
  const { get, plan, checks } = trying;
  const changes = plan
    .flatMap((part) => part.changes)
    .filter(({ path }) => path[0] === LLM_PROFILES_FORM.block && path[1] === item.name);
  const name = changes.some(isRename) ? (item.former?.name ?? item.name) : item.name;
  const found = await get(toAgentPath(name));
  const there = typeof found === 'symbol' ? undefined : { name, members: {} };
  const listing = { items: [], replaces: 'in-place', describes: true } as const;
  const [request] = createProfileRequests(
    { item: { ...item, name }, changes, there, listing, desired: trying.desired },
    IN_FILE.path,
    inFile,
  );
  const call = typeof request?.call === 'function' ? await request.call(get) : request?.call;
  const llm = call?.body?.['llm'];
  return checks.model(item.name, isRecord(llm) ? llm : createRecord({}));
}

function toAgentPath(name: string): string {
  return `${IN_FILE.path}/${encodeURIComponent(name)}`;
}
