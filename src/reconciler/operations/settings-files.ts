import { join } from 'node:path';
import { isFolder, isLink, pathExists, listFolder } from '../host/read-text.ts';
import { SetpointError } from '../model/error.ts';
import { globMatcher, isGlobMatch } from '../model/matcher.ts';
import { namesListed } from '../model/wording.ts';
import { DEFAULT_FILE } from './options.ts';

/** Names of settings files that need not be given, each of another kind: schema stores know the latter two by their names. */
const OWN_FILE = 'setpoint.yaml';
const OWN_FILES = '*.setpoint.yaml';
export const DEFAULT_FILES: readonly string[] = [DEFAULT_FILE, OWN_FILE, OWN_FILES];

/**
 * The settings files of a folder if nobody names one: settings.yaml, setpoint.yaml, or all that match *.setpoint.yaml; settings.yaml if there
 * are none. Throws a usage error that names them if there are files of two kinds, so that none is left out without a word.
 */
export function defaultFiles(folder = '.'): readonly string[] {
  const single = [DEFAULT_FILE, OWN_FILE].filter((name) => pathExists(join(folder, name)));
  const several = pathExists(folder)
    ? listFolder(folder).filter((name) => isGlobMatch(name, [OWN_FILES]))
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

/**
 * The settings files that a path names: itself; of a folder those that need not be named; of a pattern, in which `*` stands for characters of a name and `**`
 * for folders, those that match it. Throws if there are none.
 */
export function filesAt(path: string): readonly string[] {
  if (isFolder(path)) {
    const found = defaultFiles(path).map((name) => join(path, name));
    if (found.some(pathExists)) return found;
    throw new SetpointError('file-unreadable', `No ${DEFAULT_FILE} in the folder ${path}.`, {
      hint: 'Name the file itself, or a pattern such as envs/*.yaml.',
    });
  }
  if (!path.includes('*') || pathExists(path)) return [path];
  const found = matchingFiles(path);
  if (found.length > 0) return found;
  throw new SetpointError('file-unreadable', `No file matches ${path}.`, {
    hint: 'Check the folder and the pattern: * stands for characters of a name, ** for folders.',
  });
}

/** Names that a part of a pattern stands for: one that begins with a dot only if the part does. */
function namesLike(part: string, names: readonly string[]): readonly string[] {
  const isLike = globMatcher(part);
  return names.filter((name) => isLike(name) && (part.startsWith('.') || !name.startsWith('.')));
}

/** Folders that a search looks into, so that one of a whole disk ends. */
const MOST_FOLDERS = 100_000;

/** The files that match a pattern, sorted. `**` looks into no folder of dependencies or whose name begins with a dot, and follows no link. */
function matchingFiles(pattern: string): readonly string[] {
  const parts = pattern.split(/[\\/]/);
  const found: string[] = [];
  let left = MOST_FOLDERS;
  const under = (folder: string): readonly string[] => {
    left -= 1;
    if (left < 0)
      throw new SetpointError('usage', `${pattern} stands for more than ${MOST_FOLDERS} folders.`, {
        hint: 'Begin the pattern with a folder that has fewer.',
      });
    return isFolder(folder === '' ? '.' : folder) ? listFolder(folder === '' ? '.' : folder) : [];
  };
  const at = (folder: string, name: string): string => (folder === '' ? name : join(folder, name));
  const look = (folder: string, index: number): void => {
    const part = parts[index] ?? '';
    const isLast = index === parts.length - 1;
    if (part === '**' && !isLast) {
      look(folder, index + 1);
      for (const name of under(folder))
        if (
          !name.startsWith('.') &&
          name !== 'node_modules' &&
          isFolder(at(folder, name)) &&
          !isLink(at(folder, name))
        )
          look(at(folder, name), index);
      return;
    }
    if (part === '' && index === 0) {
      look('/', index + 1);
      return;
    }
    const names = part.includes('*') ? namesLike(part, under(folder)) : [part];
    for (const name of names) {
      const path = part === '' ? folder : at(folder, name);
      if (!isLast) look(path, index + 1);
      else if (pathExists(path) && !isFolder(path)) found.push(path);
    }
  };
  look('', 0);
  return [...new Set(found)].toSorted();
}
