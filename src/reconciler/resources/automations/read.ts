import { EVENT } from '../../effects/automations.ts';
import { AGENT_PROFILES_FORM, AUTOMATIONS_FORM } from '../../model/collection-forms.ts';
import { itemsDeclared, type ListedItem } from '../../model/collection.ts';
import { SetpointError } from '../../model/error.ts';
import {
  createRecord,
  isEmpty,
  isList,
  isRecord,
  readPath,
  sameValue,
  textFits,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import type { Asking, Get } from '../collections/wire.ts';
import { ACTIVE_AGENT, AGENTS_PATH } from '../holders.ts';
import {
  AUTOMATIONS_PATH,
  listAllPages,
  readListedId,
  refuseGitSync,
  refuseLaterMembers,
} from './service.ts';

/** The members that are sent and shown by the names of the file. */
const SAME = ['model', 'timeout', 'keep_alive', 'description', 'tags', 'enabled'] as const;

/** The members of later releases. */
const LATER = ['description', 'tags'];

const TIMEOUT = 600;

/** A member in the form in which the service stores it, with its default. */
export function wholeMember(name: string, value: Value): Value {
  switch (name) {
    case 'timeout':
      return value ?? TIMEOUT;
    case 'timezone':
      return value ?? 'UTC';
    case 'enabled':
      return value ?? true;
    case 'tags':
      return isList(value) ? foldTags(value) : [];
    case 'repos':
      return isList(value) ? value.map(wholeRepository) : [];
    case 'event':
      return isRecord(value) ? wholeEvent(value) : null;
    default:
      return value === '' ? null : value;
  }
}

/** Tags are trimmed, in small letters, with - for blanks, and each once. */
function foldTags(tags: readonly Value[]): Value {
  const folded = tags.map((tag) =>
    typeof tag === 'string' ? tag.trim().toLowerCase().replaceAll(/\s+/g, '-') : tag,
  );
  return folded.filter((tag, index) => folded.indexOf(tag) === index);
}

function wholeRepository(value: Value): Value {
  if (typeof value === 'string') return createRecord([['url', value]]);
  if (!isRecord(value)) return value;
  return createRecord(
    ['url', 'provider', 'ref'].flatMap((name) =>
      isEmpty(value[name] ?? null) ? [] : [[name, value[name] ?? null] as const],
    ),
  );
}

function wholeEvent(event: ValueRecord): ValueRecord {
  const others = Object.entries(EVENT).map(([name, own]) => [name, event[name] ?? own] as const);
  return createRecord([
    ['source', event['source'] ?? null],
    ['events', event['events'] ?? null],
    ...others,
  ]);
}

export async function listAutomations(asking: Asking): Promise<readonly ListedItem[] | null> {
  const { declared, isReferred, isExhaustive, names } = asking;
  const entries = await listAllPages(asking, AUTOMATIONS_PATH, 'automations');
  if (entries === null) return null;
  const isPlanned = !isReferred && (declared.length > 0 || isExhaustive);
  if (isPlanned && (names !== 'all' || isExhaustive)) {
    await refuseGitSync(asking);
    if (entries.length === 0) await refuseLaterMembers(asking, AUTOMATIONS_FORM.block, LATER);
  }
  const agents = isReferred ? NO_NAMES : await findAgentNames(asking, entries);
  const counts = new Map<Value, number>();
  for (const { name = null } of entries) counts.set(name, (counts.get(name) ?? 0) + 1);
  return entries.map((entry) => {
    const { id, name } = entry;
    if (typeof id !== 'string' || typeof name !== 'string') throw asking.unlike(AUTOMATIONS_PATH);
    const count = counts.get(name) ?? 1;
    if (count > 1 && isPlanned && declared.some((one) => one.name === name))
      throw createSameNameError(name, entries);
    return readAutomation({ id, name, entry, agents, count });
  });
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

function createSameNameError(name: string, entries: readonly ValueRecord[]): SetpointError {
  const ids = entries.flatMap((one) => (one['name'] === name ? [readListedId(one)] : []));
  return new SetpointError(
    'unfit-for-service',
    `The automation service has ${ids.length} automations named ${name}: ${ids.join(', ')}. The file cannot specify which one it means. Nothing was sent.`,
    { hint: 'Rename or remove the others on the service.' },
  );
}

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly entry: ValueRecord;
  readonly agents: ReadonlyMap<string, string>;
  /** The number of those that have its name. */
  readonly count: number;
}

function readAutomation({ id, name, entry, agents, count }: Entry): ListedItem {
  const members = readMembers(entry, agents);
  const kind = readPath(entry, ['preset_metadata', 'preset_type']);
  const foreign =
    kind === 'plugin' || isRecord(entry['plugin_spec'])
      ? 'it runs plugins'
      : kind !== 'prompt'
        ? 'it runs an archive of its own'
        : count > 1
          ? `the service has ${count} of this name`
          : undefined;
  const column = entry['prompt'] ?? null;
  const stored: [string, Value][] = [
    ...Object.entries(members),
    ['is_other_prompt', !sameValue(column, members['prompt'] ?? null)],
    ['is_apart', !textFits(entry['tarball_path'], (path) => path.startsWith('oh-internal://'))],
  ];
  const source = readPath(entry, ['disabled_detail', 'source']) ?? null;
  const isStopped = entry['enabled'] === false && !isEmpty(source) && source !== 'user';
  const never = isEmpty(entry['last_triggered_at'] ?? null);
  return {
    id,
    name,
    members: filterSet(members),
    shows: Object.keys(members),
    stored: createRecord([...stored, ['has_run', !never]]),
    ...(foreign === undefined ? {} : { foreign }),
    ...(isStopped ? { stopped: 'the service switched it off after failures' } : {}),
  };
}

/** The members of an automation that have a value. */
function filterSet(members: ValueRecord): ValueRecord {
  return createRecord(Object.entries(members).filter(([, value]) => value !== null));
}

/** The members that the release of the service has, by the names of the file. The prompt is the one that runs: the other one is a record, which may have been changed without it. */
function readMembers(entry: ValueRecord, agents: ReadonlyMap<string, string>): ValueRecord {
  const { trigger = null, agent_profile_id: agent = null } = entry;
  const preset = isRecord(entry['preset_metadata']) ? entry['preset_metadata'] : {};
  const isCron = readPath(trigger, ['type']) === 'cron';
  const event = isCron || !isRecord(trigger) ? null : readEvent(trigger);
  const repos = isList(preset['repos']) ? preset['repos'].map(wholeRepository) : null;
  return createRecord([
    ['prompt', preset['prompt'] ?? entry['prompt'] ?? null],
    ['cron', isCron ? (readPath(trigger, ['schedule']) ?? null) : null],
    ['timezone', isCron ? (readPath(trigger, ['timezone']) ?? null) : null],
    ['event', event],
    ['agent_profile', typeof agent === 'string' ? (agents.get(agent) ?? agent) : null],
    ['repos', repos],
    ...SAME.flatMap((name) =>
      Object.hasOwn(entry, name) ? [[name, entry[name] ?? null] as const] : [],
    ),
  ]);
}

function readEvent(trigger: ValueRecord): ValueRecord {
  const { on = null } = trigger;
  const others = Object.entries(EVENT).flatMap(([name, own]) => {
    const value = trigger[name] ?? own;
    return value === own ? [] : [[name, value] as const];
  });
  return createRecord([
    ['source', trigger['source'] ?? null],
    ['events', isList(on) ? on : [on]],
    ...others,
  ]);
}

/** The agent profiles that automations name, by their ids. All are listed only while one is active: otherwise their list makes one so. */
async function findAgentNames(
  { get, declared, desired, answer }: Asking,
  entries: readonly ValueRecord[],
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(entries.flatMap(({ agent_profile_id: id }) => (isEmpty(id) ? [] : [id])));
  const found = new Map<string, string>();
  if (ids.size === 0) return found;
  const named = declared.map(({ members }) => members?.['agent_profile']);
  const own = itemsDeclared(desired, AGENT_PROFILES_FORM).map(({ name }) => name);
  for (const name of new Set([...named, ...own])) {
    const id = typeof name === 'string' ? await findAgentId(get, name) : null;
    if (typeof name === 'string' && id !== null) found.set(id, name);
  }
  if (
    [...ids].every((id) => typeof id === 'string' && found.has(id)) ||
    isEmpty(answer[ACTIVE_AGENT])
  )
    return found;
  const json = await get(AGENTS_PATH);
  const profiles = typeof json === 'symbol' ? null : readPath(json, ['profiles']);
  for (const one of isList(profiles) ? profiles : []) {
    const [id, name] = [readPath(one, ['id']), readPath(one, ['name'])];
    if (typeof id === 'string' && typeof name === 'string') found.set(id, name);
  }
  return found;
}

export async function findAgentId(get: Get, name: string): Promise<string | null> {
  const json = await get(`${AGENTS_PATH}/${encodeURIComponent(name)}`);
  const id = typeof json === 'symbol' ? null : readPath(json, ['profile', 'id']);
  return typeof id === 'string' ? id : null;
}
