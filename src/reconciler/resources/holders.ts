import { AGENT_PROFILES_FORM } from '../model/collection-forms.ts';
import { itemsDeclared, type ListedItem } from '../model/collection.ts';
import {
  isEmpty,
  isList,
  isRecord,
  valueAt,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import type { Asking } from './collections/wire.ts';

/* What on an Agent Server names LLM profiles and meta profiles. It is looked up only where a server has no room for what is new. */

export const AGENTS_PATH = '/api/agent-profiles';
export const ACTIVE_AGENT = 'active_agent_profile_id';

/** The agent profile that a server makes by itself, whenever none is active. */
export const AGENT_DEFAULT = 'default';

const META_PROFILES = '/api/meta-profiles';

/** The items, each with the agent profiles and meta profiles that name it, as far as these can be read without a write. */
export async function withHolders(
  asking: Asking,
  items: readonly ListedItem[],
  named: 'LLM profiles' | 'meta profiles',
): Promise<readonly ListedItem[]> {
  const agents = await read(asking, AGENTS_PATH, await agentNames(asking), 'profile');
  const isOfLlm = named === 'LLM profiles';
  const metas = isOfLlm
    ? await read(
        asking,
        META_PROFILES,
        await readNames(asking, META_PROFILES, 'meta_profiles'),
        'config',
      )
    : [];
  const holders = [
    ...agents.map(([name, agent]) => {
      const ref = agent[isOfLlm ? 'llm_profile_ref' : 'meta_profile_ref'];
      return { holder: `the agent profile ${name}`, names: [ref] };
    }),
    ...metas.map(([name, { classifier_model: model, classes }]) => {
      const models = isList(classes) ? classes.map((one) => valueAt(one, ['model'])) : [];
      return { holder: `the meta profile ${name}`, names: [model, ...models] };
    }),
  ];
  return items.map((item) => {
    const heldBy = holders.flatMap(({ holder, names }) =>
      names.includes(item.name) ? holder : [],
    );
    return heldBy.length === 0 ? item : { ...item, heldBy };
  });
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
  return entries.map((one) => valueAt(one, ['name'])).filter((name) => typeof name === 'string');
}

async function read(
  { get }: Asking,
  path: string,
  names: readonly string[],
  key: string,
): Promise<readonly (readonly [name: string, record: ValueRecord])[]> {
  const found: (readonly [string, ValueRecord])[] = [];
  for (const name of names) {
    const json = await get(`${path}/${encodeURIComponent(name)}`);
    const record: Value | undefined = typeof json === 'symbol' ? undefined : valueAt(json, [key]);
    if (isRecord(record)) found.push([name, record]);
  }
  return found;
}
