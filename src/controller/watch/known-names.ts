import { usageError } from '../../reconciler/model/error.ts';
import { globMatcher } from '../../reconciler/model/glob.ts';
import { choicesHint, namesListed } from '../../reconciler/model/wording.ts';
import { Journal } from './journal/journal.ts';
import { SuspensionFile } from './suspension-file.ts';

/** The environments that somebody named with -e. */
export interface Chosen {
  readonly names: readonly string[];
  /** Those of the names that the data folder does not know: they may be misspelled, or not have been read yet. */
  readonly unknown: readonly string[];
  /** What to do about them. */
  readonly hint: string;
  /** Those of the names that are suspended, or in which healing has stopped. */
  readonly resumable: readonly string[];
}

/**
 * The environments of a controller's data folder that names and patterns such as `prod-*` mean. A name is taken as it is, also if the folder does
 * not know it. Throws a usage error for a pattern that fits nothing.
 */
export async function chosenNames(data: string, asked: readonly string[]): Promise<Chosen> {
  const held = await knownNames(data);
  const known = [...held.keys()].toSorted();
  const names = asked.flatMap((name) => {
    if (!name.includes('*')) return [name];
    const found = known.filter(globMatcher(name));
    if (found.length > 0) return found;
    throw usageError(
      `No environment in ${data} matches "${name}".`,
      known.length === 0 ? NOTHING : choicesHint(name, known),
    );
  });
  const unknown = names.filter((name) => !held.has(name));
  const [first = ''] = unknown;
  const hint = known.length === 0 ? NOTHING : choicesHint(first, known);
  const all = [...new Set(names)];
  return { names: all, unknown, hint, resumable: all.filter((name) => held.get(name) === true) };
}

/** The same for who is about to change them. Throws a usage error for a name that is unknown where others are known, unless it is forced. */
export async function namesToChange(
  data: string,
  asked: readonly string[],
  { force, also }: { readonly force: boolean; readonly also: string },
): Promise<Chosen> {
  const chosen = await chosenNames(data, asked);
  const { unknown, hint } = chosen;
  if (unknown.length === 0 || hint === NOTHING || force) return chosen;
  throw usageError(
    `No controller of ${data} has read ${namesListed(unknown)}.`,
    `${hint}${also} Nothing was changed.`,
  );
}

const NOTHING = 'The folder knows no environment. Name the folder of the controller with --data.';

/** The environments that were read, written or suspended, and whether each is suspended or healing has stopped in it. */
async function knownNames(data: string): Promise<ReadonlyMap<string, boolean>> {
  const { memory } = await new Journal(data, Date.now).remember();
  const suspensions = new SuspensionFile(data);
  await suspensions.refresh();
  const known = new Map<string, boolean>();
  for (const { name, lastRead, lastApply, stopped } of memory.environments.values())
    if (lastRead !== null || lastApply !== null) known.set(name, stopped !== null);
  for (const name of suspensions.names)
    known.set(name, known.get(name) === true || suspensions.of(name, Date.now()) !== null);
  return known;
}
