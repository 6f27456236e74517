import type { ListedItem, Storing } from '../../model/collection.ts';
import { SetpointError } from '../../model/error.ts';
import {
  createRecord,
  isEmpty,
  isRecord,
  sameValue,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import {
  createRemovals,
  type ItemRequest,
  type ItemWork,
  type Prerequisite,
} from '../collections/wire.ts';
import { findAgentId, wholeMember } from './read.ts';
import { AUTOMATIONS_PATH, createLostItemRefusal, findIds, refusedMembers } from './service.ts';

const TRIGGER = ['cron', 'timezone', 'event'] as const;
/** The members that a creation does not take. */
const LATE = ['tags', 'agent_profile'];

/** The declared members that a change sends. A part of a trigger takes the others along. */
export function selectSent({ item, changes }: Pick<Storing, 'item' | 'changes'>): ValueRecord {
  const changed = new Set(changes.map(({ path: [, , member = ''] }) => member));
  const isWhole = changes.some(({ path }) => path.length === 2);
  const isOfTrigger = TRIGGER.some((name) => changed.has(name));
  const isSent = (name: string): boolean =>
    isWhole || changed.has(name) || (isOfTrigger && TRIGGER.some((one) => one === name));
  return createRecord(Object.entries(item.members ?? {}).filter(([name]) => isSent(name)));
}

export function createAutomationRequests(work: ItemWork): readonly ItemRequest[] {
  const { item, there } = work;
  const { name, members } = item;
  if (members === null) return createRemovals(work, toAutomationPath);
  return there === undefined ? createAutomation(name, members) : changeRequests(work, there);
}

/**
 * One that needs a second request is created off: it never runs as it is in between. Nothing keeps a second one of the name from being made:
 * what is there is read right before.
 */
function createAutomation(name: string, members: ValueRecord): readonly ItemRequest[] {
  const late = Object.keys(members).filter(
    (member) => LATE.includes(member) && !isEmpty(members[member] ?? null),
  );
  const enabled = members['enabled'] ?? true;
  const isTwo = late.length > 0;
  const body = createRecord([
    ['name', name],
    ...Object.entries(toAutomationBody(members)).filter(
      ([own, value]) => own !== 'tags' && value !== null,
    ),
    ['enabled', isTwo ? false : enabled],
  ]);
  const isThere: Prerequisite['isShown'] = ({ items }) => items.some((one) => one.name === name);
  const creation: ItemRequest = {
    kind: 'store',
    name,
    shows: createRecord([...Object.entries(members), ['enabled', isTwo ? false : enabled]]),
    call: async (get) => {
      if ((await findIds(get, LIST, 'name', name)).length > 0) throw createNameRaceError(name);
      return {
        method: 'POST',
        path: `${AUTOMATIONS_PATH}/preset/prompt`,
        body,
        refusals: REFUSALS,
      };
    },
    isShown: isThere,
  };
  if (!isTwo) return [creation];
  const rest = createRecord([
    ...late.map((member) => [member, members[member] ?? null] as const),
    ['enabled', enabled],
  ]);
  // The list may lag behind the creation.
  const needs = { isShown: isThere, otherwise: createLostItemRefusal(name) };
  return [creation, { ...describeRequest(name, rest, members, null), needs }];
}

function changeRequests({ item, changes }: ItemWork, there: ListedItem): readonly ItemRequest[] {
  const sent = selectSent({ item, changes });
  const stored = there.stored ?? createRecord([]);
  const isOfTrigger = TRIGGER.some((name) => Object.hasOwn(sent, name));
  const trigger = isOfTrigger ? withTrigger(stored, sent) : sent;
  const isModel = !isEmpty(sent['model'] ?? null) && !isEmpty(stored['agent_profile'] ?? null);
  const whole = isModel
    ? createRecord([...Object.entries(trigger), ['agent_profile', null]])
    : trigger;
  const shows = createRecord([...Object.entries(there.members), ...Object.entries(sent)]);
  const change = describeRequest(there.name, whole, shows, toAutomationPath(there));
  // The same text builds nothing: the record is emptied first.
  const isAgain = Object.hasOwn(sent, 'prompt') && stored['is_other_prompt'] === true;
  if (!isAgain) return [change];
  const none = createRecord([['prompt', null]]);
  return [describeRequest(there.name, none, there.members, toAutomationPath(there)), change];
}

/** The trigger is replaced whole: what the file leaves out of it stays as it was. */
function withTrigger(stored: ValueRecord, sent: ValueRecord): ValueRecord {
  const kept = TRIGGER.map((name) => [name, sent[name] ?? stored[name] ?? null] as const);
  const both = new Map<string, Value>(kept);
  if (!isEmpty(sent['event'] ?? null)) both.set('cron', null).set('timezone', null);
  else if (!isEmpty(sent['cron'] ?? null)) both.set('event', null);
  const others = Object.entries(sent).filter(([name]) => !both.has(name));
  return createRecord([...others, ...both]);
}

function describeRequest(
  name: string,
  sent: ValueRecord,
  shows: ValueRecord,
  path: string | null,
): ItemRequest {
  return {
    kind: 'describe',
    name,
    shows,
    call: async (get) => {
      const agent = sent['agent_profile'];
      const id = typeof agent === 'string' ? await findAgentId(get, agent) : null;
      if (typeof agent === 'string' && id === null) throw createLostAgentError(agent);
      const [first] = path === null ? await findIds(get, LIST, 'name', name) : [];
      const own = path ?? (first === undefined ? null : toAutomationPath({ id: first }));
      if (own === null) throw new SetpointError('contended', createLostItemRefusal(name).why);
      const agentId = Object.hasOwn(sent, 'agent_profile')
        ? [['agent_profile_id', id] as const]
        : [];
      const body = createRecord([...Object.entries(toAutomationBody(sent)), ...agentId]);
      return {
        method: 'PATCH',
        path: own,
        body,
        refusals: REFUSALS,
      };
    },
    isShown: ({ items }) =>
      items.some(
        (one) =>
          one.name === name &&
          Object.entries(sent).every(([member, value]) =>
            sameValue(wholeMember(member, one.members[member] ?? null), wholeMember(member, value)),
          ),
      ),
  };
}

/** Members by the names of the service. A trigger is one of its members. */
function toAutomationBody(members: ValueRecord): ValueRecord {
  const { cron = null, timezone = null, event = null } = members;
  const own = Object.entries(members).filter(
    ([name]) => name !== 'agent_profile' && !TRIGGER.some((one) => one === name),
  );
  if (isEmpty(cron) && !isRecord(event)) return createRecord(own);
  const trigger = isRecord(event)
    ? [['type', 'event'] as const, ...Object.entries(event).map(toTheirs)]
    : [
        ['type', 'cron'] as const,
        ['schedule', cron] as const,
        ...(isEmpty(timezone) ? [] : [['timezone', timezone] as const]),
      ];
  return createRecord([...own, ['trigger', createRecord(trigger)]]);
}

function toTheirs([name, value]: readonly [string, Value]): readonly [string, Value] {
  return [name === 'events' ? 'on' : name, value];
}

/** The members of the file that a refusal may name, by the names of the service. */
const REFUSALS = {
  422: refusedMembers({
    name: 'its name',
    prompt: 'prompt',
    schedule: 'cron',
    timezone: 'timezone',
    event: 'event',
    filter: 'event.filter',
    subject_key_expr: 'event.subject_key_expr',
    turn_text_expr: 'event.turn_text_expr',
    model: 'model',
    agent_profile_id: 'agent_profile',
    repos: 'repos',
    timeout: 'timeout',
    keep_alive: 'keep_alive',
    description: 'description',
    tags: 'tags',
    enabled: 'enabled',
  }),
};

const LIST = [AUTOMATIONS_PATH, 'automations'] as const;

function createNameRaceError(name: string): SetpointError {
  return new SetpointError(
    'contended',
    `Another client has just created the automation ${name}. Nothing was written.`,
  );
}

function createLostAgentError(name: string): SetpointError {
  return new SetpointError(
    'contended',
    `The agent profile ${name} is no longer on the service. Nothing was written.`,
  );
}

function toAutomationPath({ id = '' }: Pick<ListedItem, 'id'>): string {
  return `${AUTOMATIONS_PATH}/${encodeURIComponent(id)}`;
}
