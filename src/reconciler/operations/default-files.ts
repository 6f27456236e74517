import { join } from 'node:path';
import { SetpointError } from '../model/error.ts';
import { matches } from '../model/glob.ts';
import { namesListed } from '../model/wording.ts';
import { isThere, namesIn } from '../host/read-text.ts';
import { DEFAULT_FILE } from './options.ts';

/** Names of settings files that need not be given, each of another kind: schema stores know the latter two by their names. */
const OWN_FILE = 'setpoint.yaml';
const OWN_FILES = '*.setpoint.yaml';

/**
 * The settings files of a folder if nobody names one: settings.yaml, setpoint.yaml, or all that match *.setpoint.yaml; settings.yaml if there
 * are none. Throws a usage error that names them if there are files of two kinds, so that none is left out without a word.
 */
export function defaultFiles(folder = '.'): readonly string[] {
  const single = [DEFAULT_FILE, OWN_FILE].filter((name) => isThere(join(folder, name)));
  const several = isThere(folder)
    ? namesIn(folder).filter((name) => matches(name, [OWN_FILES]))
    : [];
  const found = [...single, ...several.toSorted()];
  if (single.length > 1 || (single.length === 1 && several.length > 0)) {
    throw new SetpointError(
      'usage',
      `This folder has several settings files: ${namesListed(found)}.`,
      {
        hint: 'Name the one you mean with -f; without it they must be of one kind.',
      },
    );
  }
  return found.length > 0 ? found : [DEFAULT_FILE];
}
