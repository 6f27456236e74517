import { realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ReferenceSource, Variables } from '../model/ports.ts';
import { isUnder, readText } from './read-text.ts';

const LIMIT = 64 * 1024;
const DEFAULT_FOLDERS = '/run/secrets';
const NONE: ReadonlySet<string> = new Set();

/**
 * The values of references: variables from `env`, files from the folders that SETPOINT_ALLOWED_FILES lists (comma-separated;
 * default: /run/secrets). A file must be regular, at most 64 KiB of UTF-8, and lie in such a folder once its links are
 * resolved; one trailing newline is dropped. What the platform gives a container as its own identity lies under /run/secrets, too, and is
 * read only if its own folder is listed. What is `unanswered`, files and folders whose disk does not answer, is not asked for.
 */
export function referenceSource(env: Variables, unanswered = NONE): ReferenceSource {
  const folders = foldersIn(env);
  // The process looks each of its variables up anew, and a run asks for the same ones again and again.
  const variables = new Map<string, string | undefined>();
  return {
    variable: (name) => {
      if (!variables.has(name))
        variables.set(name, Object.hasOwn(env, name) ? env[name] : undefined);
      return variables.get(name);
    },
    file: (path) => readSecretFile(path, folders, env, unanswered),
  };
}

/** What is looked at besides a file itself whenever one is read. */
export function lookedAtBesides(env: Variables): readonly string[] {
  return [...foldersIn(env), ...IDENTITY_FILES.flatMap((name) => env[name] ?? [])];
}

function foldersIn(env: Variables): readonly string[] {
  return (env['SETPOINT_ALLOWED_FILES'] ?? DEFAULT_FOLDERS)
    .split(',')
    .map((folder) => folder.trim())
    .filter((folder) => folder !== '');
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
  listed: readonly string[],
  env: Variables,
  unanswered: ReadonlySet<string>,
): { text: string } | { problem: string } {
  const name = `the file ${path}`;
  if (unanswered.has(path)) return { problem: `${name} does not answer: its disk hangs` };
  const real = realPath(path);
  if (real === null) return { problem: `${name} does not exist` };
  const known = (other: string): string | null => (unanswered.has(other) ? null : realPath(other));
  const folders = listed.map((folder) => known(folder) ?? resolve(folder));
  const allowing = folders.filter((folder) => isUnder(real, folder));
  if (allowing.length === 0) {
    return {
      problem: `${name} lies outside the folders of SETPOINT_ALLOWED_FILES (${listed.join(', ')})`,
    };
  }
  const own = platformFolder(real, (variable) => known(env[variable] ?? ''));
  if (own !== null && !allowing.some((folder) => folder === own || isUnder(folder, own))) {
    return {
      problem: `${name} is what the platform gives this machine for itself, and SETPOINT_ALLOWED_FILES does not name ${own}`,
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

/**
 * What Kubernetes, clouds and meshes mount under /run/secrets: folders with the name of a domain (kubernetes.io, eks.amazonaws.com), and
 * those that have none.
 */
const PLATFORM =
  /^(?:.*\/)?run\/secrets\/(?:[\w-]+(?:\.[\w-]+)+|azure|openshift|tokens|istio|workload-spiffe-\w+|rhsm|etc-pki-entitlement)(?=\/)/;

/** Variables by which a cloud tells a program where its own token is. */
const IDENTITY_FILES = [
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AZURE_FEDERATED_TOKEN_FILE',
  'ALIBABA_CLOUD_OIDC_TOKEN_FILE',
  'GOOGLE_APPLICATION_CREDENTIALS',
];

/** The folder of the platform's own that a file lies in; null if it lies in none. */
function platformFolder(real: string, pathIn: (variable: string) => string | null): string | null {
  const mounted = PLATFORM.exec(real)?.[0];
  if (mounted !== undefined) return mounted;
  const isOwn = IDENTITY_FILES.some((name) => pathIn(name) === real);
  return isOwn ? dirname(real) : null;
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
