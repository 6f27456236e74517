import {
  secondName,
  waitingFor,
  type DesiredItem,
  type ItemRequest,
  type Listing,
} from '../../model/collection.ts';
import { SetpointError } from '../../model/error.ts';
import type { Result } from '../../model/outcome.ts';
import type { Change, PartPlan } from '../../model/plan.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import type { ObservedState } from '../../model/state.ts';
import type { ReconcileInput } from '../../reconcile/contract.ts';
import { interruption, unlessAbandoned } from '../../reconcile/interruption.ts';
import { retryPause } from '../../reconcile/pauses.ts';
import type { CollectionKind } from './wire.ts';

/** What a write of a collection works with. */
export interface Writing {
  readonly kind: CollectionKind;
  readonly input: ReconcileInput;
  readonly settings: ObservedState;
  readonly desired: readonly DesiredItem[];
  /** What is approved. */
  readonly part: PartPlan;
  /** The plan of what a service lists. */
  readonly plan: (listing: Listing) => PartPlan;
}

const SENDS = 2;

/** The name of the item that a change is about. */
export function itemOf({ path: [, name = ''] }: Pick<Change, 'path'>): string {
  return name;
}

/** What the service has of the collection now. */
export function presentListing({ kind, input, settings }: Writing): Promise<Listing> {
  const listing = input.reader(kind.reader).list(settings);
  return unlessAbandoned(
    listing.then((found) => {
      if (found !== null) return found;
      throw new SetpointError('state-unknown', `The service has no ${kind.noun} any more.`);
    }),
    input.abandon,
  );
}

/** Sends what makes one item as declared, and notes what became of its changes. */
export async function sendItem(
  writing: Writing,
  listing: Listing,
  changes: readonly Change[],
  results: Map<Change, Result>,
): Promise<SetpointError | null> {
  const { input, desired } = writing;
  const [first] = changes;
  const item = desired.find(({ name }) => first !== undefined && name === itemOf(first));
  if (first === undefined || item === undefined) return null;
  const requests = requestsFor(item, changes, listing);
  const stored = requests.some(({ kind }) => kind !== 'describe');
  const note = (result: Result): void => changes.forEach((change) => results.set(change, result));
  const putBack = stored ? await input.fingerprints.forget([first.path.slice(0, 2)]) : null;
  for (const [index, request] of requests.entries()) {
    const answer = await sendOne(writing, request).catch((thrown: unknown) => {
      note('unknown');
      throw thrown;
    });
    if (answer.kind === 'stored') {
      note('unknown');
      continue;
    }
    if (answer.kind === 'ambiguous' || index > 0) note('unknown');
    else await putBack?.();
    return answer.kind === 'ambiguous'
      ? maybeStored(writing.kind, request, answer.error)
      : answer.error;
  }
  note('verified');
  return null;
}

/** The requests that make an item as declared, in their order. Never a moment without a value, where a server cannot replace one. */
function requestsFor(
  { name, value, description }: DesiredItem,
  changes: readonly Change[],
  listing: Listing,
): readonly ItemRequest[] {
  const { items, replaces, describes } = listing;
  const there = items.find((item) => item.name === name);
  const next = secondName(name);
  const waiting = waitingFor(name, listing);
  const leftOver: ItemRequest[] = waiting === undefined ? [] : [{ kind: 'remove', name: next }];
  if (value === null)
    return [...(there === undefined ? [] : [{ kind: 'remove', name } as const]), ...leftOver];
  const said = description ?? (there ?? waiting)?.description ?? '';
  const isDescribed = changes.every(({ path }) => path.length > 2);
  if (isDescribed && describes) return [{ kind: 'describe', name, description: said }];
  if (there === undefined || replaces === 'in-place')
    return [{ kind: 'store', name, value, description: said }, ...leftOver];
  return [
    ...leftOver,
    { kind: 'store', name: next, value, description: said },
    { kind: 'remove', name },
    { kind: 'rename', name: next, to: name, description: said },
  ];
}

/** Sends a request, and again once if it may not have taken effect. What was unsure once stays so, unless a list shows the effect. */
async function sendOne(writing: Writing, request: ItemRequest): Promise<WriteAnswer> {
  const { input, kind, settings } = writing;
  let unsure: WriteAnswer | null = null;
  for (let attempt = 1; ; attempt += 1) {
    const sending = input.writer(kind.writer).send(settings, request);
    const answer: WriteAnswer = await unlessAbandoned(sending, input.abandon);
    if (answer.kind === 'stored') return answer;
    if (answer.kind === 'ambiguous') unsure = answer;
    // What somebody else has removed is removed.
    const isMissing = request.kind === 'remove' && answer.kind === 'not-applied' && answer.reached;
    if ((unsure !== null || isMissing) && (await isFound(writing, request)))
      return { kind: 'stored' };
    const isLast = attempt >= SENDS || interruption(input.signal) !== null;
    if (isLast || (answer.kind === 'not-applied' && !answer.retry)) return unsure ?? answer;
    await input.clock.sleep(retryPause(answer.error), input.signal);
  }
}

/** Whether a list can be read, and shows that a request took effect. */
async function isFound(writing: Writing, request: ItemRequest): Promise<boolean> {
  try {
    return isShown(request, await presentListing(writing));
  } catch {
    return false;
  }
}

/** Whether a list shows that a request took effect. That a value was replaced no list shows. */
function isShown(request: ItemRequest, { items, replaces }: Listing): boolean {
  const described = items.find(({ name }) => name === request.name);
  switch (request.kind) {
    case 'remove':
      return described === undefined;
    case 'rename':
      return described === undefined && items.some(({ name }) => name === request.to);
    case 'describe':
      return described?.description === request.description;
    case 'store':
      return replaces === 'by-second-name' && described !== undefined;
  }
}

function maybeStored(
  { noun }: CollectionKind,
  { name }: ItemRequest,
  error: SetpointError,
): SetpointError {
  return new SetpointError(
    'state-unknown',
    `The write of ${name} of the ${noun} may or may not have taken effect. ${error.message}`,
    {
      hint: 'Run setpoint plan: it reads what is there, and says what is not known.',
      cause: error,
    },
  );
}
