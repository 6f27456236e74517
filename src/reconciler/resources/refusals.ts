import { ACTIVE } from '../effects/app-server/settings.ts';
import { after, findRefusal, type Obstacle } from '../effects/effects.ts';
import {
  type Difference,
  listDifferences,
  mergeStored,
  NONE,
  type Stored,
} from '../effects/stored.ts';
import { isRename } from '../model/action.ts';
import { COLLECTION_FORMS, itemWords } from '../model/collection-forms.ts';
import type { SetpointError } from '../model/error.ts';
import { formatPath, isWithin, type Path, samePath } from '../model/path.ts';
import type { Change, Plan, PlannedRequest } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { ACTIVE_ITEM, createConsequence, predictWrite } from '../plan/consequences.ts';
import { extractSettingsPlan } from '../plan/settings-part.ts';
import { DIALECTS } from '../service/dialects.ts';
import { readStored } from '../service/predict.ts';
import { createRoomError } from './collections/room.ts';

/**
 * Asks of each request of a plan, in its order, whether the service would take it once the earlier ones are made. On a service that takes
 * no more items, removals come first that nothing uses; all others come last. What a rename takes along is added. Throws a SetpointError
 * for the first request that would be refused.
 */
export function judgePlan(plan: Plan, observed: ObservedState): Plan {
  const { storage } = DIALECTS[observed.dialect.name];
  const all = plan.map(({ requests = [] }) => requests);
  if (storage === undefined || all.every((requests) => requests.length === 0)) return plan;
  const { effects } = storage;
  const { write } = extractSettingsPlan(plan);
  const parts = plan.reduce<Stored>((made, { stored = NONE }) => mergeStored(made, stored), NONE);
  const settings = (write === null ? null : predictWrite(write, observed)?.expected) ?? observed;
  const isStored = observed.stored || write !== null;
  let stored = isStored ? readStored(storage, settings, parts) : parts;
  const find = (request: PlannedRequest): Obstacle | null =>
    findRefusal(effects, stored, resolve(request))?.obstacle ?? null;
  const resolve = (request: PlannedRequest) => effects.resolve?.(stored, request) ?? request;
  const along: Change[] = [];
  const take = (request: PlannedRequest): void => {
    const made = after(effects, stored, resolve(request));
    const taken = listRenamedPointers(request.change, stored, made);
    along.push(...taken.filter(({ path }) => !isPlanned(plan, path)));
    stored = made;
  };
  const removals = all.toReversed().flatMap((requests) => requests.filter(isRemoval));
  const room: Path[] = [];
  const isOpen = ({ change }: PlannedRequest) => room.every((path) => path !== change.path);
  const refused: (readonly [PlannedRequest, Obstacle])[] = [];
  const check = (request: PlannedRequest, obstacle: Obstacle | null): void => {
    if (obstacle !== null && isKnown(obstacle, stored)) refused.push([request, obstacle]);
    take(request);
  };
  for (const request of all.flatMap((requests) => requests.filter((one) => !isRemoval(one)))) {
    let obstacle = find(request);
    while (obstacle?.code === 'full') {
      const free = removals.find(
        (one) => one.user === null && isOpen(one) && isOfBlock(one, request) && find(one) === null,
      );
      if (free === undefined) break;
      room.push(free.change.path);
      take(free);
      obstacle = find(request);
    }
    check(request, obstacle);
  }
  for (const request of removals.filter(isOpen)) check(request, find(request));
  // What cannot be removed makes no room, either.
  const [first] = [...refused.filter(([one]) => isRemoval(one)), ...refused];
  if (first === undefined)
    return plan.map((part) => ({
      ...part,
      ...(room.length === 0 ? {} : { room }),
      changes: part.changes.flatMap((one) => [
        one,
        ...(isRename(one) ? along.filter(({ cause }) => cause === one.path) : []),
      ]),
    }));
  const later = removals.filter((one) => isOpen(one) && isOfBlock(one, first[0]));
  throw createRefusalError(...first, later, room.length);
}

/** Reports whether a plan changes a path, or removes the item that has it. */
function isPlanned(plan: Plan, path: Path): boolean {
  return plan.some(({ changes }) =>
    changes.some(
      (one) => samePath(one.path, path) || (one.action === 'remove' && isWithin(path, one.path)),
    ),
  );
}

/** The names in other places that a server changes with the name of an item. */
function listRenamedPointers(rename: Change, before: Stored, made: Stored): readonly Change[] {
  if (!isRename(rename)) return [];
  const isTaken = ([[part], was, is]: Difference): boolean =>
    part !== rename.path[0] && was === rename.before && is === rename.after;
  return listDifferences(before, made)
    .filter(isTaken)
    .map(([place, was, is]) => createConsequence(rename, toPointerPath(place), place, was, is));
}

/** The path of a pointer to an LLM profile, as the file has it: no other items have names that servers change along. */
function toPointerPath(place: Path): Path {
  return place.at(-1) === ACTIVE ? ACTIVE_ITEM : [...place.slice(0, -1), 'llm_profile'];
}

/** The error of a request that the service would refuse. `removals`: those that cannot come before it, after `count` others. */
function createRefusalError(
  { change: { path, source } }: PlannedRequest,
  obstacle: Obstacle,
  removals: readonly PlannedRequest[],
  count: number,
): SetpointError {
  const [why, hint] = describeObstacle(path, obstacle, removals, count);
  return createRoomError(path.slice(0, 2), source, why, hint);
}

function describeObstacle(
  [block = '']: Path,
  obstacle: Obstacle,
  removals: readonly PlannedRequest[],
  count: number,
): readonly [why: string, hint: string] {
  const { noun } = COLLECTION_FORMS.find((one) => one.block === block) ?? { noun: 'items' };
  switch (obstacle.code) {
    case 'full': {
      const { most, has } = obstacle;
      const [named] = removals;
      const planned = removals.length + count;
      const some = planned === 0 ? '' : `, of which ${count} can be removed before`;
      return [
        `exceeds the limit: this service takes ${most} ${noun} and has ${has + count}${some}.`,
        named === undefined
          ? `Remove some: declare ${block}.NAME as null.`
          : `${formatPath(named.change.path)} is removed last, because ${named.user} still names it. Remove it in a separate run, or remove another one.`,
      ];
    }
    case 'in-use': {
      const users = obstacle.by.map(([part, name]) =>
        part === 'settings' ? `the ${name} of the settings` : itemWords({ block: part, name }),
      );
      return [
        `cannot be removed: ${users.join(', ')} would still name it.`,
        'Declare what names it without it, or as null to remove it. The llm of the settings changes when another profile is made active.',
      ];
    }
    case 'broken':
      return [
        'names an LLM profile whose provider connection does not exist.',
        'Name another profile, or declare this one with a connection that exists.',
      ];
    case 'unstored':
      return [
        `cannot be stored: this service takes ${noun} only after settings are stored.`,
        'Also declare a setting, such as language. It is stored first.',
      ];
    case 'taken':
      return ['gets a name that another one has.', 'Choose another name, or remove the other one.'];
    default:
      return [`would be refused by the service.`, 'Check what the service has now.'];
  }
}

function isRemoval({ change: { action } }: PlannedRequest): boolean {
  return action === 'remove';
}

function isOfBlock(
  {
    change: {
      path: [block],
    },
  }: PlannedRequest,
  other: PlannedRequest,
): boolean {
  return block === other.change.path[0];
}

/** That an item is there is seen by the lists, and by the references to it; of connections only where they are listed. */
function isKnown({ code }: Obstacle, stored: Stored): boolean {
  return code === 'broken' ? stored['provider_connections'] !== undefined : code !== 'missing';
}
