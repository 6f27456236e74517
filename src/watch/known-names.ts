import { usageError } from '../model/error.ts';
import { globMatcher } from '../model/glob.ts';
import { choicesHint } from '../model/wording.ts';
import { Journal } from './journal/journal.ts';
import { SuspensionFile } from './suspension-file.ts';

/** The environments that somebody named with -e. */
export interface Chosen {
  readonly names: readonly string[];
  /** Those of the names that the data folder does not know: they may be misspelled, or not have been read yet. */
  readonly unknown: readonly string[];
  /** What to do about them. */
  readonly hint: string;
}

/**
 * The environments of a controller's data folder that names and patterns such as `prod-*` mean. A name is taken as it is, also if the folder does
 * not know it. Throws a usage error for a pattern that fits nothing.
 */
export async function chosenNames(data: string, asked: readonly string[]): Promise<Chosen> {
  const known = await knownNames(data);
  const names = asked.flatMap((name) => {
    if (!name.includes('*')) return [name];
    const found = known.filter(globMatcher(name));
    if (found.length > 0) return found;
    throw usageError(
      `No environment in ${data} matches "${name}".`,
      known.length === 0 ? NOTHING : choicesHint(name, known),
    );
  });
  const unknown = names.filter((name) => !known.includes(name));
  const [first = ''] = unknown;
  const hint = known.length === 0 ? NOTHING : choicesHint(first, known);
  return { names: [...new Set(names)], unknown, hint };
}

const NOTHING = 'The folder knows no environment. Name the folder of the controller with --data.';

/** The environments that were read, written or suspended, in the order of their names. */
async function knownNames(data: string): Promise<readonly string[]> {
  const { memory } = await new Journal(data, Date.now).remember();
  const suspensions = new SuspensionFile(data);
  await suspensions.refresh();
  const seen = [...memory.environments.values()]
    .filter(({ lastRead, lastApply }) => lastRead !== null || lastApply !== null)
    .map(({ name }) => name);
  return [...new Set([...seen, ...suspensions.names])].toSorted();
}
