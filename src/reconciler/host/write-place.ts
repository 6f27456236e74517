import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SetpointError } from '../model/error.ts';
import { isUnder } from './read-text.ts';

/**
 * The file that a write to a path changes, its links resolved. No write follows a link out of its folder: a path in the working
 * folder (or in `folder`, such as that of the settings file) must lead to a file in there, and a path elsewhere, which the user
 * named, must not end in a link. Throws a usage error otherwise, and for a link that leads nowhere.
 */
export function writePlace(path: string, folder = '.'): string {
  const absolute = resolve(path);
  const root = [process.cwd(), resolve(folder)].find((one) => isUnder(absolute, one));
  const real = realPath(absolute, path);
  if (root === undefined ? isLink(absolute) : !isUnder(real, realpathSync(root)))
    throw refused(path, 'would be written through a link that leads elsewhere');
  return real;
}

/** The path with its links resolved; a file that does not exist yet lies in the folder that the links lead to. */
function realPath(absolute: string, path: string): string {
  try {
    return realpathSync(absolute);
  } catch {
    if (isLink(absolute)) throw refused(path, 'is, or lies under, a link that leads nowhere');
    const folder = dirname(absolute);
    return folder === absolute ? absolute : join(realPath(folder, path), basename(absolute));
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function refused(path: string, why: string): SetpointError {
  return new SetpointError('usage', `${path} ${why}; nothing was written.`, {
    hint: 'Remove the link, or name the file that it leads to.',
  });
}
