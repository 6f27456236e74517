import {
  activeDeclared,
  AGENT_PROFILES_FORM,
  META_PROFILES_FORM,
} from '../model/collection-forms.ts';
import {
  itemListed,
  itemReferences,
  itemsDeclared,
  type Holder,
  type ListedItem,
} from '../model/collection.ts';
import type { DesiredState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  readPath,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { inParallel } from '../reconcile/in-order.ts';
import { READS_AT_ONCE } from '../service/connect.ts';
import type { Asking } from './collections/wire.ts';

/* What on an Agent Server names LLM profiles and meta profiles. It is looked up only where something is to be removed or renamed. */

export const AGENTS_PATH = '/api/agent-profiles';
export const ACTIVE_AGENT = 'active_agent_profile_id';

/** The agent profile that a server creates whenever none is active. */
export const AGENT_DEFAULT = 'default';

const META_PROFILES = '/api/meta-profiles';

/** The items, each with the agent profiles and meta profiles that name it, if these can be read without a write. */
export async function withHolders(
  asking: Asking,
  items: readonly ListedItem[],
  named: 'LLM profiles' | 'meta profiles',
): Promise<readonly ListedItem[]> {
  const agents = await readHolders(asking, AGENTS_PATH, await agentNames(asking), 'profile');
  const isOfLlm = named === 'LLM profiles';
  const metas = isOfLlm
    ? await readHolders(
        asking,
        META_PROFILES,
        await readNames(asking, META_PROFILES, 'meta_profiles'),
        'config',
      )
    : [];
  const holders = [
    ...agents.map(([name, agent]) => {
      const ref = agent[isOfLlm ? 'llm_profile_ref' : 'meta_profile_ref'];
      return { block: AGENT_PROFILES_FORM.block, name, names: [ref] };
    }),
    ...metas.map(([name, { classifier_model: model, classes }]) => {
      const models = isList(classes) ? classes.map((one) => readPath(one, ['model'])) : [];
      return { block: META_PROFILES_FORM.block, name, names: [model, ...models] };
    }),
  ];
  return items.map((item) => {
    const heldBy = holders.flatMap(({ block, name, names }) =>
      names.includes(item.name) ? { block, name } : [],
    );
    return heldBy.length === 0 ? item : { ...item, heldBy };
  });
}

/** True if a list is read for a plan that may remove or rename some of it: then the references to each are looked up. */
export function needsHolders(
  { declared, isExhaustive }: Pick<Asking, 'declared' | 'isExhaustive'>,
  items: readonly ListedItem[],
): boolean {
  const there = new Set(items.map(({ name }) => name));
  return (
    isExhaustive ||
    declared.some(({ name, members, former }) =>
      members === null ? there.has(name) : former !== undefined && there.has(former.name),
    )
  );
}

/** The parts of a service that name an item and still do once the file is applied. */
export function holdersLeft(
  { block, name, holders }: Holder & { readonly holders: readonly Holder[] },
  desired: DesiredState,
): readonly Holder[] {
  return holders.filter((holder) => {
    const declared = itemListed(itemsDeclared(desired, holder), holder.name);
    if (declared === undefined) return !isRemovedAsOther(holder, desired);
    if (declared.members === null) return false;
    return itemReferences({ items: new Map([[holder.block, [declared]]]) }).some(
      (one) => one.block === block && one.name === name,
    );
  });
}

/** The agent profile that the server makes stays, unless another one becomes active. */
function isRemovedAsOther({ block, name }: Holder, desired: DesiredState): boolean {
  if (desired.exhaustive?.has(block) !== true) return false;
  if (block !== AGENT_PROFILES_FORM.block || name !== AGENT_DEFAULT) return true;
  const next = activeDeclared(desired, 'agent_profile');
  return next !== null && next !== AGENT_DEFAULT;
}

/** The list of agent profiles writes while none is active: then only those that the file names are known. */
async function agentNames(asking: Asking): Promise<readonly string[]> {
  const declared = itemsDeclared(asking.desired, AGENT_PROFILES_FORM).map(({ name }) => name);
  const listed = isEmpty(asking.answer[ACTIVE_AGENT])
    ? []
    : await readNames(asking, AGENTS_PATH, 'profiles');
  return [...new Set([...listed, ...declared, AGENT_DEFAULT])];
}

async function readNames({ get, unlike }: Asking, path: string, key: string): Promise<string[]> {
  const json = await get(path);
  if (typeof json === 'symbol') return [];
  const entries = isRecord(json) ? json[key] : undefined;
  if (!isList(entries)) throw unlike(path);
  return entries.map((one) => readPath(one, ['name'])).filter((name) => typeof name === 'string');
}

async function readHolders(
  { get }: Asking,
  path: string,
  names: readonly string[],
  key: string,
): Promise<readonly (readonly [name: string, record: ValueRecord])[]> {
  const found = await inParallel(names, READS_AT_ONCE, async (name) => {
    const json = await get(`${path}/${encodeURIComponent(name)}`);
    const record: Value | undefined = typeof json === 'symbol' ? undefined : readPath(json, [key]);
    return isRecord(record) ? ([name, record] as const) : null;
  });
  return found.filter((one) => one !== null);
}
