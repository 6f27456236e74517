import { plainPaths } from '../../../reconciler/desired/field-path.ts';
import { EMBEDDED_DIALECTS } from '../../../reconciler/model/address.ts';
import type { Target } from '../../../reconciler/desired/target.ts';
import { fields } from '../../../reconciler/model/field.ts';
import { labelPairs } from '../../../reconciler/operations/select.ts';
import { loadTargets } from '../../../reconciler/operations/load.ts';
import type { Completion } from '../flag-table.ts';
import { parseOperationOptions } from '../flags.ts';
import type { Io } from '../io.ts';

type ComputedCompletion = Exclude<Extract<Completion, string>, 'files' | 'formats'>;

/** The words for completion that are not in the table of commands. `files` are the settings files that the line names. */
export function listWordChoices(
  what: ComputedCompletion,
  files: readonly string[],
  io: Io,
): readonly string[] {
  switch (what) {
    case 'environments':
      return environmentNames(files, io);
    case 'labels':
      return labelPairs(loadTargetsOffline(files, io)).filter((pair) => PLAIN_PAIR.test(pair));
    case 'secrets':
      return ['all', ...fieldNames(({ readable }) => !readable)];
    case 'fields':
      return ['all', ...fieldNames(() => true)];
    case 'paths':
      return plainPaths();
    case 'dialects':
      return EMBEDDED_DIALECTS;
  }
}

function fieldNames(isOffered: (field: ReturnType<typeof fields>[number]) => boolean): string[] {
  return fields()
    .filter(isOffered)
    .map(({ name }) => name);
}

/** A name that needs no quotes in any shell; others are not offered. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

const PLAIN_PAIR = /^[A-Za-z0-9][A-Za-z0-9._/-]*=[A-Za-z0-9._-]+$/;

/** The environments of the settings files, read offline. Throws if a file is not valid. */
function loadTargetsOffline(files: readonly string[], io: Io): readonly Target[] {
  return loadTargets(parseOperationOptions(files.length === 0 ? {} : { file: files }, io)).targets;
}

function environmentNames(files: readonly string[], io: Io): readonly string[] {
  const names = loadTargetsOffline(files, io).map(({ name }) => name);
  return [...new Set(names)].filter((name) => PLAIN.test(name));
}
