import { CONNECTION_ID } from '../../effects/agent-server/settings.ts';
import { mergeStored, NONE, type Stored, withPart } from '../../effects/stored.ts';
import {
  isSecretItemMember,
  type CollectionForm,
  type ListedItem,
  type Listing,
} from '../../model/collection.ts';
import { itemWords } from '../../model/collection-forms.ts';
import { SetpointError } from '../../model/error.ts';
import { serversWith } from '../../model/native-schema.ts';
import { formatPath, type Path, type Source } from '../../model/path.ts';
import { isRename } from '../../model/action.ts';
import type { Change, PlannedRequest } from '../../model/plan.ts';
import { createRecord } from '../../model/value.ts';
import { afterRenames } from './renames.ts';
import { readChangedItemName, renameRequests } from './send.ts';
import {
  type CollectionCodec,
  type CollectionState,
  type ItemRequest,
  type UnsupportedItem,
} from './wire.ts';

/* What a server would refuse of the part of a plan, and what it is asked about the rest. */

/** Nothing is sent of a plan if the server would refuse a part of it. */
export function throwIfUnfit(
  form: CollectionForm,
  wire: CollectionCodec | undefined,
  judged: CollectionState,
): void {
  const [one] = [
    ...unkept(form, judged),
    ...ofOtherReleases(wire, judged),
    ...(wire?.unfit?.(judged) ?? []),
  ];
  if (one === undefined) return;
  const { item, why, hint } = one;
  throw createRoomError([form.block, item.name], item.source, why, hint);
}

/** Members that this release of a service does not have: it drops them without a word, or refuses the item after others were written. */
function ofOtherReleases(
  wire: CollectionCodec | undefined,
  { items, listing, settings }: CollectionState,
): readonly UnsupportedItem[] {
  return items.flatMap((item): UnsupportedItem[] => {
    const there = listing.items.find((one) => one.name === item.name);
    const shown = (there ?? listing.items.find(({ shows }) => shows !== undefined))?.shows;
    const known =
      (wire?.membersHere === undefined ? shown : wire.membersHere(item, there, settings)) ?? null;
    if (known === null || settings.saved === true) return [];
    const declared = Object.entries(item.members ?? {}).filter(([, value]) => value !== null);
    const lacking = declared.map(([name]) => name).filter((name) => !known.includes(name));
    const [first] = lacking;
    if (first === undefined) return [];
    const servers = wire?.placeOf === undefined ? '' : serversWith(wire.placeOf(first));
    const others = servers === '' ? 'Later releases have it' : `It is in ${servers}`;
    const why = `declares ${lacking.join(', ')}, which the release of this server does not have. ${others}.`;
    return [{ item, why, hint: 'Remove it for this environment, or use such a release.' }];
  });
}

/** Lists the members that a run skips and that a write would not preserve. */
function unkept(
  form: CollectionForm,
  { items, listing }: CollectionState,
): readonly UnsupportedItem[] {
  return items.flatMap((item): UnsupportedItem[] => {
    const { name, left = [] } = item;
    if (left.length === 0) return [];
    const members = left.join(', ');
    const hint = `--without ${formatPath([form.block, name])} leaves all of it unchanged.`;
    if (listing.items.every((one) => one.name !== name))
      return [
        { item, why: `is not on this service, and cannot be created without ${members}.`, hint },
      ];
    if (left.some((member) => isSecretItemMember(form, [member])) && !listing.describes)
      return [
        { item, why: `is only written as a whole by this service, including ${members}.`, hint },
      ];
    return [];
  });
}

/** The requests that a plan makes of its changes. `listing` is as it is before renames. */
export function listPlannedRequests(
  wire: CollectionCodec | undefined,
  { items, listing, desired }: CollectionState,
  changes: readonly Change[],
): readonly PlannedRequest[] {
  if (wire === undefined || changes.length === 0) return [];
  const renamed = afterRenames(items, listing);
  const requests = items.flatMap((item) => {
    const own = changes.filter((change) => readChangedItemName(change) === item.name);
    const [renames, others] = [own.filter(isRename), own.filter((one) => !isRename(one))];
    const there = renamed.items.find(({ name }) => name === item.name);
    const work = { item, changes: others, there, listing: renamed, desired };
    const [rename, other] = [renames[0], others[0]];
    return [
      ...(rename === undefined ? [] : toForms(renameRequests(wire, item, listing), rename, there)),
      ...(other === undefined ? [] : toForms(wire.requests(work), other, there)),
    ];
  });
  return [
    ...requests.filter(({ change }) => isRename(change)),
    ...requests.filter(({ change }) => !isRename(change)),
  ];
}

function toForms(
  requests: readonly ItemRequest[],
  change: Change,
  there: ListedItem | undefined,
): readonly PlannedRequest[] {
  const { isActive = false, heldBy = [] } = there ?? {};
  const [holder] = heldBy;
  const other = isActive ? 'what is active' : null;
  const user = holder === undefined ? other : itemWords(holder);
  return requests.flatMap(({ call, form }): PlannedRequest[] => {
    const known = form ?? (typeof call === 'function' ? null : call);
    if (known === null) return [];
    const { method, path, body } = known;
    return [{ change, method, path, body: body ?? NONE, user }];
  });
}

/** The part and the member by which a server knows what uses an item of a block. */
const USES: Readonly<Record<string, readonly [part: string, member: string]>> = {
  provider_connections: ['llm_profiles', CONNECTION_ID],
  llm_profiles: ['agent_profiles', 'llm_profile_ref'],
};

/** Returns the stored state that a list shows: its items, and what uses them. */
export function toStoredItems(
  { block }: CollectionForm,
  { theirs, hasIds }: Pick<CollectionCodec, 'theirs' | 'hasIds'>,
  { items, stored = NONE }: Listing,
): Stored {
  const names = new Map([...(theirs ?? [])].map(([server, own]) => [own, server]));
  return items.reduce(
    (made, { name, id, members, stored: others = NONE, heldBy = [] }) => {
      const key = hasIds === true ? (id ?? name) : name;
      const own = Object.entries(members).map(([member, value]) => [
        names.get(member) ?? member,
        value,
      ]);
      const known = { ...Object.fromEntries(own), ...others, display_name: name, id: id ?? null };
      const [part, member] = USES[block] ?? [];
      return heldBy.reduce(
        (whole, user) =>
          user.block === part && member !== undefined
            ? withPart(whole, [part, user.name], { [member]: key })
            : whole,
        withPart(made, [block, key], known),
      );
    },
    mergeStored(stored, createRecord({ [block]: NONE })),
  );
}

/** The error of a plan that a service would refuse. `path` is that of the item. */
export function createRoomError(
  path: Path,
  source: Source | null,
  message: string,
  hint: string,
): SetpointError {
  const at = `${formatPath(path)}${source === null ? '' : ` (${source.file}:${source.line})`}`;
  return new SetpointError('unfit-for-service', `${at} ${message} Nothing was sent.`, { hint });
}
