import { automationAfter, continuesConversation } from '../../effects/automations.ts';
import { AUTOMATIONS_FORM } from '../../model/collection-forms.ts';
import type { ListedItem } from '../../model/collection.ts';
import type { Warning } from '../../model/error.ts';
import { formatPath } from '../../model/path.ts';
import type { Change } from '../../model/plan.ts';
import { createRecord, isEmpty, sameValue, type ValueRecord } from '../../model/value.ts';
import { collection } from '../collections/collection.ts';
import type { CollectionState, UnsupportedItem } from '../collections/wire.ts';
import { listAutomations, wholeMember } from './read.ts';
import { createAutomationRequests, selectSent } from './write.ts';

/** Prompts that an automation service has an agent run. It knows them by ids, and takes one name twice. */
export const AUTOMATIONS = collection(AUTOMATIONS_FORM, {
  'agent-server': {
    list: listAutomations,
    replaces: () => 'in-place',
    describes: true,
    whole: wholeMember,
    leaves: ({ item, there, changes }) =>
      automationAfter(there?.stored ?? createRecord([]), selectSent({ item, changes })),
    requests: createAutomationRequests,
    keeps: ({ foreign }) => foreign !== undefined,
    unfit: findUnfitAutomations,
    warned: findStartedRuns,
  },
});

function findUnfitAutomations({ items, listing }: CollectionState): readonly UnsupportedItem[] {
  return items.flatMap((item): UnsupportedItem[] => {
    const there = listing.items.find(({ name }) => name === item.name);
    const problem = findProblem(item.members, there);
    return problem === null ? [] : [{ item, ...problem }];
  });
}

function findProblem(
  members: ValueRecord | null,
  there: ListedItem | undefined,
): Omit<UnsupportedItem, 'item'> | null {
  if (there?.foreign !== undefined)
    return {
      why: `is not managed: ${there.foreign}.`,
      hint: 'Give the declared one another name, or rename the one on the service.',
    };
  if (members === null) return null;
  const has = (name: string): boolean => !isEmpty(members[name] ?? null);
  if (has('cron') && has('event'))
    return { why: 'has cron and event.', hint: 'Declare one of them, or null for the other.' };
  if (has('model') && has('agent_profile'))
    return {
      why: 'has model and agent_profile.',
      hint: 'Declare one of them, or null for the other: an agent profile has its own model.',
    };
  if (there === undefined && !(has('prompt') && (has('cron') || has('event'))))
    return {
      why: 'is not on the service, and a new one needs prompt, and cron or event.',
      hint: 'Declare them.',
    };
  if (members['keep_alive'] === false && continuesConversation(members))
    return {
      why: 'has keep_alive: false, and its events continue a conversation.',
      hint: 'Write keep_alive: true: the conversation is in the sandbox.',
    };
  if (there !== undefined && isRepoLocked(members, there))
    return {
      why: 'declares other repos, which the release of this server takes at a creation only.',
      hint: 'Use a later release; or declare null to remove it with its runs, apply, and declare it again.',
    };
  const isApart = there?.stored?.['is_apart'] === true;
  return isApart && (has('prompt') || has('repos'))
    ? {
        why: 'runs an archive that the service does not build: its prompt is not what runs.',
        hint: 'Declare null to remove it with its runs, apply, and declare it again.',
      }
    : null;
}

/** Reports whether repositories differ on a release that has no tags either: it takes no others. */
function isRepoLocked(members: ValueRecord, { members: own, shows = [] }: ListedItem): boolean {
  if (shows.includes('tags') || !Object.hasOwn(members, 'repos')) return false;
  const [declared, found] = [members, own].map(({ repos = null }) => wholeMember('repos', repos));
  return !sameValue(declared ?? null, found ?? null);
}

/** A schedule whose last time lies after the last run is caught up at once, and so is one that is switched on again. */
function findStartedRuns(
  changes: readonly Change[],
  { items, listing }: CollectionState,
): readonly Warning[] {
  return items.flatMap(({ name, members }): Warning[] => {
    const there = listing.items.find((one) => one.name === name);
    if (there === undefined || members === null) return [];
    const changed = changes.flatMap(({ path: [, own, member] }) =>
      own === name && member !== undefined ? [member] : [],
    );
    const after = automationAfter(there.stored ?? createRecord([]), members);
    const isOn = after['enabled'] !== false && !isEmpty(after['cron'] ?? null);
    const isCaughtUp = changed.some((one) => ['cron', 'timezone', 'enabled'].includes(one));
    if (!isOn || !isCaughtUp) return [];
    const path = [AUTOMATIONS_FORM.block, name];
    const since = there.stored?.['has_run'] === true ? 'last run' : 'creation';
    const message = `${formatPath(path)} may start a run at once: the service catches up on a time of its schedule that lies after its ${since}.`;
    return [{ code: 'starts-run', message, path }];
  });
}
