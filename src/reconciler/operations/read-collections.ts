import { ACTIVE_FORM, AGENT_PROFILES_FORM } from '../model/collection-forms.ts';
import { itemsDeclared, type Listing } from '../model/collection.ts';
import type { LeftAlone } from '../model/documents.gen.ts';
import { formatPath, type Path } from '../model/path.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { isEmpty, createRecord } from '../model/value.ts';
import type { ReadCollections } from '../pull/listed.ts';
import { REASONS } from '../pull/writable.ts';
import type { AskedItems, NamedItems } from '../reconcile/contract.ts';
import { findInterruption } from '../reconcile/interruption.ts';
import { RESOURCES } from '../resources/resources.ts';
import type { OpenTarget } from './open-target.ts';

/** A service whose settings were read, and its collections to read. */
interface Reading extends Pick<OpenTarget, 'reader'> {
  readonly observed: ObservedState;
  /** The declarations: their collections are read, and one that cannot be read is an error. */
  readonly desired: DesiredState;
  /** Reports whether all items of a block are requested although the file does not name them. An unreadable block is omitted. */
  readonly isWanted: (block: string) => boolean;
  readonly signal: AbortSignal | undefined;
}

/** Reads the requested items that a service stores by name. Changes nothing there: what writes when it is listed is not listed. */
export async function readCollections(reading: Reading): Promise<ReadCollections> {
  const { observed, desired, isWanted } = reading;
  const listed = new Map<NamedItems, Listing>();
  const unread: LeftAlone[] = [];
  for (const { named } of RESOURCES) {
    if (named === undefined) continue;
    const { form } = named;
    const declared = itemsDeclared(desired, form);
    const isAll = isWanted(form.block) || desired.exhaustive?.has(form.block) === true;
    if (declared.length === 0 && !isAll) continue;
    const leave = (reason: string) => unread.push({ path: [form.block], reason, ref: null });
    const asked: AskedItems = { declared, desired, ...(isAll ? { all: true } : {}) };
    const found = await readItemListing(named, reading, asked);
    if (found === 'unlisted') leave(REASONS.unlisted);
    else if (found === 'untold') leave(REASONS.untold);
    else if (found === null && declared.length > 0) leave(REASONS.lacking);
    else if (found !== null) {
      const isHeldBack = form === AGENT_PROFILES_FORM && isAll && isNoneActive(observed);
      if (isHeldBack) leave(REASONS.listWrites);
      if (!isHeldBack || declared.length > 0) listed.set(named, found);
    }
  }
  return { read: await resolveActiveNames(listed, reading), unread };
}

const ACTIVE_AGENT: Path = ['active_agent_profile_id'];

/** Then the list of agent profiles makes one active. */
function isNoneActive({ answer }: ObservedState): boolean {
  return isEmpty(answer[formatPath(ACTIVE_AGENT)]);
}

async function readItemListing(
  { list }: NamedItems,
  { reader, observed, signal }: Reading,
  asked: AskedItems,
): Promise<Listing | 'untold' | 'unlisted' | null> {
  try {
    return await list(reader, observed, asked, signal);
  } catch (thrown) {
    if (findInterruption(signal) !== null || asked.declared.length > 0) throw thrown;
    return 'unlisted';
  }
}

/** Resolves the ids of active items to names: an Agent Server points to an agent profile by its id. */
async function resolveActiveNames(
  listed: ReadonlyMap<NamedItems, Listing>,
  reading: Reading,
): Promise<ReadCollections['read']> {
  const { observed } = reading;
  const idOf = ({ items }: Listing) => items.find(({ name }) => name === 'agent_profile')?.members;
  const active = [...listed].find(([{ form }]) => form === ACTIVE_FORM)?.[1];
  const id = active === undefined ? undefined : idOf(active)?.[ACTIVE_FORM.main];
  const agents = id === undefined ? [] : await agentsFor(id, listed, reading);
  return [...listed].map(([{ form, plan }, own]) => {
    const items = own.items.map((item) => {
      const isPointer = form === ACTIVE_FORM && item.name === 'agent_profile';
      const agent = isPointer ? agents.find((one) => one.id === id) : undefined;
      return agent === undefined
        ? item
        : { ...item, members: createRecord({ [ACTIVE_FORM.main]: agent.name }) };
    });
    const listing = { ...own, items };
    return { form, listing, plan: (desired) => plan(desired, listing, observed) };
  });
}

/** The agent profiles among which one with an id is. One is active, so they can be listed. */
async function agentsFor(
  id: unknown,
  listed: ReadonlyMap<NamedItems, Listing>,
  reading: Reading,
): Promise<Listing['items']> {
  const known = [...listed].find(([{ form }]) => form === AGENT_PROFILES_FORM)?.[1].items ?? [];
  const named = RESOURCES.flatMap((resource) => resource.named ?? []).find(
    ({ form }) => form === AGENT_PROFILES_FORM,
  );
  if (named === undefined || isNoneActive(reading.observed)) return known;
  if (known.some((one) => one.id === id)) return known;
  const found = await readItemListing(named, reading, { declared: [], all: true });
  return typeof found === 'string' || found === null ? known : found.items;
}
