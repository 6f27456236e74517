import { asSetpointError, type SetpointError } from '../model/error.ts';
import type { PartPlan } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { listSkippedNames } from '../model/uncompared.ts';
import type { ManagedResource, NamedItems, PlanInput } from './contract.ts';

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
