import { asSetpointError, SetpointError } from '../model/error.ts';
import { Merging, type Reported } from './merge.ts';
import { readSaved } from './saved-document.ts';

/**
 * Saved plans, or saved outcomes, as one document: what the shards of a run have printed. The environments are in the order of
 * their names, and the summary is made anew. What keeps it from being whole is in `merged.problems`: missing shards, files that
 * cannot be read or are of another kind, environments that are in two. Throws file-unreadable if no file can be read.
 */
export async function report(files: readonly string[]): Promise<Reported> {
  const merging = new Merging();
  let failure: SetpointError | null = null;
  for (const file of files) {
    try {
      const document = await readSaved(file, ['plan', 'outcome']);
      const { kind } = merging;
      if (kind === null || document.kind === kind) merging.add(file, document);
      else
        merging.reject(
          `${file} is ${NOUNS[document.kind]}, and the first document is ${NOUNS[kind]}.`,
        );
    } catch (thrown) {
      const error = asSetpointError(thrown);
      if (error.code !== 'file-unreadable') throw error;
      failure ??= error;
      merging.reject(error.message);
    }
  }
  const merged = merging.merged();
  if (merged !== null) return merged;
  throw failure ?? new SetpointError('usage', 'There is no document to report.');
}

const NOUNS = { plan: 'a plan', outcome: 'an outcome' } as const;
