import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import type { ReferenceSource } from '../model/ports.ts';

const LIMIT = 64 * 1024;
const DEFAULT_FOLDERS = '/run/secrets';

/**
 * The values of references: variables from `env`, files from the folders that SETPOINT_ALLOWED_FILES lists (apart by commas;
 * /run/secrets where it is not set). A file is regular, at most 64 KiB of UTF-8, and lies in such a folder once its links are
 * resolved; one trailing newline is dropped.
 */
export function referenceSource(
  env: Readonly<Record<string, string | undefined>>,
): ReferenceSource {
  const folders = (env['SETPOINT_ALLOWED_FILES'] ?? DEFAULT_FOLDERS)
    .split(',')
    .map((folder) => folder.trim())
    .filter((folder) => folder !== '');
  return {
    variable: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    file: (path) => readSecretFile(path, folders),
  };
}

function readSecretFile(
  path: string,
  folders: readonly string[],
): { text: string } | { problem: string } {
  const name = `the file ${path}`;
  const real = realPath(path);
  if (real === null) return { problem: `${name} does not exist` };
  if (!folders.some((folder) => isUnder(real, realPath(folder) ?? resolve(folder)))) {
    return {
      problem: `${name} lies outside the folders of SETPOINT_ALLOWED_FILES (${folders.join(', ')})`,
    };
  }
  const bytes = readRegular(real);
  if (typeof bytes === 'string') return { problem: `${name} ${bytes}` };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '') };
  } catch {
    return { problem: `${name} is not UTF-8 text` };
  }
}

/** The bytes of a regular file, or what is wrong with it. Opened without blocking, so that a pipe cannot hang the run. */
function readRegular(path: string): Buffer | string {
  let handle: number;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return 'may not be read';
  }
  try {
    if (!fstatSync(handle).isFile()) return 'is not a regular file';
    const buffer = Buffer.alloc(LIMIT + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length <= LIMIT; length += read) {
      read = readSync(handle, buffer, length, buffer.length - length, null);
    }
    return length > LIMIT ? 'is larger than 64 KiB' : buffer.subarray(0, length);
  } catch {
    return 'cannot be read';
  } finally {
    closeSync(handle);
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function isUnder(path: string, folder: string): boolean {
  const inner = relative(folder, path);
  return inner !== '' && !inner.startsWith('..') && !isAbsolute(inner);
}
