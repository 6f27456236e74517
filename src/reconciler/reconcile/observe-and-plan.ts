import { asSetpointError, SetpointError } from '../model/error.ts';
import type { PartPlan, Change, Plan } from '../model/plan.ts';
import { type ObservedState, findDeclaredServers, type DesiredState } from '../model/state.ts';
import { listSkippedNames } from '../model/uncompared.ts';
import type { ManagedResource, NamedItems, PlanInput, Reading } from './contract.ts';
import {
  itemReferences,
  listItemNames,
  type DesiredItem,
  type ItemReference,
} from '../model/collection.ts';
import { listRecordEntries, MCP_LISTS, listPathedEntries, OTHERS } from '../model/mcp.ts';
import { describeRepeatedEntries } from '../model/keyed-lists.ts';
import { ACTIVE_FORM } from '../model/collection-forms.ts';
import { formatPath } from '../model/path.ts';
import { isEmpty, isRecord } from '../model/value.ts';
import { managesEntry, managesField } from '../plan/declared.ts';
import { planEnvironment, type PlanResult } from '../plan/plan-environment.ts';
import {
  planSettingsPart,
  sameChanges,
  extractSettingsPlan,
  withSettings,
} from '../plan/settings-part.ts';

/**
 * The one way to a plan: plan, drift, apply, a plan against a snapshot and explain all observe and plan here, and differ in
 * what they observe and in what they do with the plan. Sends nothing. Throws a SetpointError if something that the file
 * declares cannot be observed, or this service does not have it.
 */
export async function observeAndPlan<O extends ObservedState | null>(
  input: PlanInput<O>,
): Promise<PlanResult<O>> {
  const observed = await input.settings.observe(input.signal);
  const parts = await planWithUndeclared(input, observed);
  return proveSafePlan(input, planEnvironment(input, observed, parts));
}

/** The parts of all that the file declares, and of what it does not declare if that is to be listed. */
async function planWithUndeclared(
  input: PlanInput<ObservedState | null>,
  observed: ObservedState | null,
): Promise<readonly PartPlan[]> {
  if (input.listing === undefined) return planDeclared(input, observed);
  const ended = new AbortController();
  const signals = [ended.signal, ...(input.signal === undefined ? [] : [input.signal])];
  const undeclared = listUndeclaredItems(input, observed, AbortSignal.any(signals));
  try {
    const parts = await planDeclared(input, observed);
    return [...parts, ...(await undeclared)];
  } finally {
    ended.abort();
  }
}

/** The parts of all that the file declares, in the order of writing. */
async function planDeclared(
  input: PlanInput<ObservedState | null>,
  observed: ObservedState | null,
): Promise<readonly PartPlan[]> {
  const read: Reading[] = [];
  const lacking: LackingError[] = [];
  const readings = input.resources.flatMap((one) => startReading(one, input, observed) ?? []);
  for (const reading of await Promise.allSettled(readings)) {
    if (reading.status === 'fulfilled') read.push(reading.value);
    else if (reading.reason instanceof LackingError) lacking.push(reading.reason);
    else throw lackingAll(lacking) ?? reading.reason;
  }
  const lacked = lackingAll(lacking);
  if (lacked !== null) throw lacked;
  const parts: PartPlan[] = [];
  for (const plan of read) if (plan !== null) parts.push(plan(parts));
  const changes = parts.flatMap((part) => part.changes);
  await resolveReferences(input, observed, changes);
  return input.resources.reduce<Plan>(
    (plan, { judge }) => (observed === null || judge === undefined ? plan : judge(plan, observed)),
    parts,
  );
}

/** Begins to read a resource; null if the file declares nothing of it. Never throws. */
function startReading(
  { read }: ManagedResource,
  input: PlanInput<ObservedState | null>,
  observed: ObservedState | null,
): Promise<Reading> | null {
  try {
    const reading = read(input, observed);
    return reading === null ? null : Promise.resolve(reading);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** States that a service has nothing of a kind that the file declares: the kind, and where it is declared. */
export class LackingError extends SetpointError {
  readonly what: string;

  constructor(what: string, message: string, hint: string) {
    super('unfit-for-service', message, { hint });
    this.what = what;
  }
}

/** One error for all that a service lacks. */
function lackingAll(errors: readonly LackingError[]): SetpointError | null {
  const [first = null, ...others] = errors;
  if (others.length === 0) return first;
  const what = errors.map((one) => one.what).join(', ');
  return new SetpointError(
    'unfit-for-service',
    `This service does not support everything in the file: ${what}.`,
    { hint: errors.map(({ hint }) => hint).join(' ') },
  );
}

/** Plans again with new settings. The other resources are observed again when their turn comes. */
export async function planAgain(
  input: PlanInput,
  { plan, proofs }: PlanResult,
): Promise<PlanResult> {
  const observed = await input.settings.observe(input.signal);
  const again = withSettings(plan, () => planSettingsPart(input, observed));
  const isSame = sameChanges(extractSettingsPlan(plan), extractSettingsPlan(again));
  const planned = planEnvironment(input, observed, again, isSame ? proofs : undefined);
  return isSame ? planned : proveSafePlan(input, planned);
}

/**
 * A plan with what the service tried of it, judged by that as well. What a guard refuses is not tried: a try sends the keys, and
 * starts the programs.
 */
async function proveSafePlan<O extends ObservedState | null>(
  input: PlanInput<O>,
  planned: PlanResult<O>,
): Promise<PlanResult<O>> {
  const { plan, observed, refusals } = planned;
  if (input.prove === undefined || observed === null) return planned;
  const [other] = refusals.filter(({ rule }) => rule !== 'unproven');
  const refused = other === undefined ? null : `an apply would be refused (rule ${other.rule})`;
  const proofs = await input.prove(plan, observed, refused);
  return planEnvironment(input, observed, plan, proofs);
}

/*
 * Names that declared items have of items of other blocks. Each must be there once the plan is applied: declared by the file, or on the service.
 * That the file removes or renames it is found before, without a service, unless the name comes from a reference.
 */

/** The block of mcp servers, which are in the settings. */
const SERVERS = 'mcp_servers';

/** Names that a service looks up only when an agent runs. */
const NOT_JUDGED: Readonly<Record<string, (name: string) => boolean>> = {
  secrets: () => true,
  // What a service has built in needs no webhook.
  webhooks: (name) => ['azure_devops', 'bitbucket_data_center', 'github', 'jira_dc'].includes(name),
};

/**
 * Throws a SetpointError if an item that the plan writes names one that will not be there, or one of which the service has two. Asks the
 * service only for what the file does not declare. What a snapshot does not have is not judged, nor an item that is as the file declares it.
 */
export async function resolveReferences(
  input: Pick<PlanInput<ObservedState | null>, 'desired' | 'reader' | 'resources' | 'signal'>,
  settings: ObservedState | null,
  changes: readonly Pick<Change, 'path'>[],
): Promise<void> {
  const { desired, resources } = input;
  const repeats = describeRepeatedEntries(desired);
  if (repeats.length > 0)
    throw createUnsentError(repeats, 'Keep one of the two: a server takes each once.');
  const problems = itemReferences(desired).flatMap((one) => describeEndedItem(one, desired));
  if (problems.length > 0) throw createUnsentError(problems, CORRECT);
  if (settings === null || settings.saved === true) return;
  const isWritten = ({ path: [block, name] }: ItemReference): boolean =>
    changes.some(({ path }) => path[0] === block && path[1] === name);
  const open = itemReferences(desired).filter(
    (one) => isWritten(one) && isOpen(one, desired) && !isMadeByService(one, settings),
  );
  const blocks = new Set(open.map(({ block }) => block));
  for (const block of blocks) {
    const asked = open.filter((one) => one.block === block);
    const named = resources
      .flatMap((one) => one.named ?? [])
      .find(({ form }) => form.block === block);
    const found =
      block === SERVERS
        ? listServersAfterwards(desired, settings)
        : named === undefined
          ? null
          : await readNamesOnService(named, asked, input, settings);
    if (found === null) continue;
    const noun = named?.form.resource ?? 'mcp server';
    problems.push(...asked.flatMap((one) => describeReferenceProblem(one, noun, found)));
  }
  if (problems.length > 0) throw createUnsentError(problems, CORRECT);
}

const CORRECT = 'Correct the name, or declare what it names.';

function createUnsentError(problems: readonly string[], hint: string): SetpointError {
  const message = `${problems.join(' ')} Nothing was sent.`;
  return new SetpointError('unfit-for-service', message, { hint });
}

/** Describes a name, from a reference, of an item that the file removes or renames. Such a name in the file itself is found without a plan. */
function describeEndedItem(
  { block, name, path, source }: ItemReference,
  desired: DesiredState,
): readonly string[] {
  const items = (desired.items.get(block) ?? []) as readonly DesiredItem[];
  if (items.some((one) => one.name === name && one.members !== null)) return [];
  const ended = items.find((one) => one.name === name || one.former?.name === name);
  if (ended === undefined) return [];
  const how = ended.members === null ? 'removes' : `renames to ${ended.name}`;
  const [at, there] = [source, ended.source].map(({ file, line }) => `${file}:${line}`);
  return [
    `${formatPath(path)} (${at}) names ${formatPath([block, name])}, which the file ${how} (${there}).`,
  ];
}

/** Reports whether the file does not declare what a place names, so that the service must have it. */
function isOpen({ block, name }: ItemReference, desired: DesiredState): boolean {
  if (NOT_JUDGED[block]?.(name) === true) return false;
  const declared = desired.items.get(block) ?? [];
  return !listItemNames(declared as Parameters<typeof listItemNames>[0]).includes(name);
}

/** Reports whether a service makes the agent profile `default`, as it does where it is to be active and no other one is. */
function isMadeByService({ block, name, path }: ItemReference, { answer }: ObservedState): boolean {
  const isPointer = block === 'agent_profiles' && path[0] === ACTIVE_FORM.block;
  return isPointer && name === 'default' && isEmpty(answer['active_agent_profile_id']);
}

/** The names of a collection, each as often as the service has it; null if that does not show. */
async function readNamesOnService(
  { list }: NamedItems,
  asked: readonly ItemReference[],
  { desired, reader, signal }: Pick<PlanInput, 'desired' | 'reader' | 'signal'>,
  settings: ObservedState,
): Promise<readonly string[] | null> {
  const names = [...new Set(asked.map(({ name }) => name))];
  const declared = names.map((name) => ({
    name,
    members: {},
    source: findReferenceSource(name, asked),
  }));
  const found = await list(reader, settings, { declared, desired, isReferred: true }, signal);
  if (found === 'untold') return null;
  return found?.items.map(({ name }) => name) ?? [];
}

function findReferenceSource(
  name: string,
  asked: readonly ItemReference[],
): ItemReference['source'] {
  const found = asked.find((one) => one.name === name);
  return found?.source ?? { file: '', line: 0, column: 0 };
}

/** The names of the mcp servers of a service once the plan is applied; null if the service gives one of them its name. */
function listServersAfterwards(
  desired: DesiredState,
  { values }: ObservedState,
): readonly string[] | null {
  const config = values['mcp_config'];
  const own = findDeclaredServers(desired);
  const isManaged = own !== undefined && managesField(desired, 'mcp_config');
  const declared = isManaged
    ? MCP_LISTS.flatMap((list) => (isRecord(own.value) ? listRecordEntries(own.value[list]) : []))
    : [];
  const there = listPathedEntries(config)
    .filter(({ list, entry }) => !isManaged || !managesEntry(desired, list, entry))
    .map(({ entry }) => entry);
  const names = [...declared, ...there].map(({ name }) => name);
  if (names.some((name) => typeof name !== 'string')) return null;
  const others = isRecord(config) ? config[OTHERS] : undefined;
  return [
    ...names.filter((name) => typeof name === 'string'),
    ...(isRecord(others) ? Object.keys(others) : []),
  ];
}

function describeReferenceProblem(
  { block, name, path, source: { file, line } }: ItemReference,
  noun: string,
  found: readonly string[],
): string[] {
  const count = found.filter((one) => one === name).length;
  if (count === 1) return [];
  const at = `${formatPath(path)} (${file}:${line}) names the ${noun} ${name}`;
  return [
    count === 0
      ? `${at}, which neither the file (${block}) nor the service has.`
      : `${at}, and the service has ${count} of that name. Rename or remove the others on the service.`,
  ];
}

type Input = PlanInput<ObservedState | null>;

/** The names of the items of a block that the file does not declare, or why they are not known. */
interface Listed {
  readonly resource: ManagedResource;
  readonly names: readonly string[];
  readonly error: SetpointError | null;
}

/**
 * Lists the items that a service has of each block that the file does not declare, all at once, as parts without changes. A list that
 * changes something on the service is not requested. Never rejects: one warning names all lists that cannot be read.
 */
export async function listUndeclaredItems(
  input: Input,
  settings: ObservedState | null,
  signal: AbortSignal,
): Promise<readonly PartPlan[]> {
  const { listing, desired, resources } = input;
  if (listing === undefined || settings === null) return [];
  const isDeclared = (block: string): boolean =>
    (desired.items.get(block) ?? []).length > 0 || desired.exhaustive?.has(block) === true;
  const lists = await Promise.all(
    resources.map(async (resource): Promise<Listed> => {
      const { named, block } = resource;
      const none = { resource, names: [], error: null };
      if (named === undefined || isDeclared(block)) return none;
      if (named.listWrites(settings.dialect.name)) return none;
      try {
        const names = await listNames(named, { ...input, reader: listing, signal }, settings);
        const skipped = listSkippedNames(desired, block);
        return { ...none, names: names.filter((name) => !skipped.has(name)) };
      } catch (thrown) {
        // A snapshot has what it was taken with.
        return settings.saved === true ? none : { ...none, error: asSetpointError(thrown) };
      }
    }),
  );
  const failed = lists.filter(({ error }) => error !== null);
  const message = `Not listed here: ${failed.map(({ resource }) => resource.block).join(', ')}. ${failed[0]?.error?.message}`;
  return lists.flatMap((list): PartPlan[] => {
    const { resource, names } = list;
    const path = [resource.block];
    const warnings = list === failed[0] ? [{ code: 'not-listed', message, path } as const] : [];
    if (names.length === 0 && warnings.length === 0) return [];
    const empty = { changes: [], unknown: [], unmet: [], gone: [], unpreservable: [] };
    const unmanaged = names.map((name) => [resource.block, name]);
    return [{ resource, ...empty, unmanaged, warnings, work: [] }];
  });
}

async function listNames(
  { list }: NamedItems,
  { desired, reader, signal }: Pick<Input, 'desired' | 'reader' | 'signal'>,
  settings: ObservedState,
): Promise<readonly string[]> {
  const asked = { declared: [], desired, isReferred: true } as const;
  const listed = await list(reader, settings, asked, signal);
  return listed === null || listed === 'untold' ? [] : listed.items.map(({ name }) => name);
}
