import { itemReferences, listItemNames, type ItemReference } from '../model/collection.ts';
import { SetpointError } from '../model/error.ts';
import { listRecordEntries, MCP_LISTS, listPathedEntries } from '../model/mcp.ts';
import { OTHERS } from '../model/mcp-map.ts';
import { formatPath } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import { findDeclaredServers, type DesiredState, type ObservedState } from '../model/state.ts';
import { isRecord } from '../model/value.ts';
import { managesEntry, managesField } from '../plan/declared.ts';
import type { NamedItems, PlanInput } from './contract.ts';

/*
 * Names that declared items have of items of other blocks. Each must be there once the plan is applied: declared by the file, or on the service.
 * That the file removes or renames it is found before, without a service.
 */

/** The block of mcp servers, which are in the settings. */
const SERVERS = 'mcp_servers';

/** Items that a service makes when it needs them, and names that it looks up only when an agent runs. */
const NOT_JUDGED: Readonly<Record<string, (name: string) => boolean>> = {
  agent_profiles: (name) => name === 'default',
  secrets: () => true,
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
  if (settings === null || settings.saved === true) return;
  const isWritten = ({ path: [block, name] }: ItemReference): boolean =>
    changes.some(({ path }) => path[0] === block && path[1] === name);
  const open = itemReferences(desired).filter((one) => isWritten(one) && isOpen(one, desired));
  const blocks = new Set(open.map(({ block }) => block));
  if (blocks.size === 0) return;
  const problems: string[] = [];
  for (const block of blocks) {
    const asked = open.filter((one) => one.block === block);
    const named = resources
      .flatMap((one) => one.named ?? [])
      .find(({ form }) => form.block === block);
    const found =
      block === SERVERS
        ? serversAfter(desired, settings)
        : named === undefined
          ? null
          : await namesOn(named, asked, input, settings);
    if (found === null) continue;
    const noun = named?.form.resource ?? 'mcp server';
    problems.push(...asked.flatMap((one) => describeReferenceProblem(one, noun, found)));
  }
  if (problems.length === 0) return;
  throw new SetpointError('unfit-for-service', `${problems.join(' ')} Nothing was sent.`, {
    hint: 'Correct the name, or declare what it names.',
  });
}

/** Reports whether the file does not declare what a place names, so that the service must have it. */
function isOpen({ block, name }: ItemReference, desired: DesiredState): boolean {
  if (NOT_JUDGED[block]?.(name) === true) return false;
  const declared = desired.items.get(block) ?? [];
  return !listItemNames(declared as Parameters<typeof listItemNames>[0]).includes(name);
}

/** The names of a collection, each as often as the service has it; null if that does not show. */
async function namesOn(
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
function serversAfter(desired: DesiredState, { values }: ObservedState): readonly string[] | null {
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
