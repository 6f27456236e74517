import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A file of setpoint's own package. */
export async function readPackageFile(path: string): Promise<string> {
  let folder = import.meta.dirname;
  while (dirname(folder) !== folder && !(await exists(join(folder, 'package.json'))))
    folder = dirname(folder);
  return readFile(join(folder, path), 'utf8');
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
