import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ReferenceSource, Variables } from '../model/ports.ts';
import { isUnder, readText } from './read-text.ts';

const LIMIT = 64 * 1024;
const DEFAULT_FOLDERS = '/run/secrets';

/**
 * The values of references: variables from `env`, files from the folders that SETPOINT_ALLOWED_FILES lists (comma-separated;
 * default: /run/secrets). A file must be regular, at most 64 KiB of UTF-8, and lie in such a folder once its links are
 * resolved; one trailing newline is dropped.
 */
export function referenceSource(env: Variables): ReferenceSource {
  const folders = (env['SETPOINT_ALLOWED_FILES'] ?? DEFAULT_FOLDERS)
    .split(',')
    .map((folder) => folder.trim())
    .filter((folder) => folder !== '');
  // The process looks each of its variables up anew, and a run asks for the same ones again and again.
  const variables = new Map<string, string | undefined>();
  return {
    variable: (name) => {
      if (!variables.has(name))
        variables.set(name, Object.hasOwn(env, name) ? env[name] : undefined);
      return variables.get(name);
    },
    file: (path) => readSecretFile(path, folders),
  };
}

/** Identifies a file: the same for every path, link and hard link that leads to it. */
export function fileIdentity(path: string): string {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return resolve(path);
  }
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
  try {
    const read = readText(real, LIMIT);
    if ('text' in read) return { text: read.text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '') };
    return {
      problem: `${name} ${read.problem === 'not-utf8' ? 'is not UTF-8 text' : 'is larger than 64 KiB'}`,
    };
  } catch {
    return { problem: `${name} cannot be read, or is not a regular file` };
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
