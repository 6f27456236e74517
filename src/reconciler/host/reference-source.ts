import { realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ReferenceSource, Variables } from '../model/ports.ts';
import { isUnder, readText } from './read-text.ts';
import type { SecretAnswers } from './secret-values.ts';
import { parseEnv } from 'node:util';
import { SetpointError } from '../model/error.ts';

const LARGEST_SECRET = 64 * 1024;
const DEFAULT_FOLDERS = '/run/secrets';
const NONE: ReadonlySet<string> = new Set();

/**
 * The values of references: variables from `env`, files from the folders that SETPOINT_ALLOWED_FILES lists (comma-separated;
 * default: /run/secrets). A file must be regular, at most 64 KiB of UTF-8, and lie in such a folder once its links are
 * resolved; one trailing newline is dropped. What the platform gives a container as its own identity lies under /run/secrets, too, and is
 * read only if its own folder is listed; the token of a controller's page never. `secrets` has what secret commands gave. What is `unanswered`, files and folders whose disk does not answer, is not asked for.
 */
export function referenceSource(
  env: Variables,
  unanswered = NONE,
  secrets?: SecretAnswers,
): ReferenceSource {
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
    ...(secrets === undefined ? {} : { secret: (one) => secrets.of(one) }),
  };
}

/** What is looked at besides a file itself whenever one is read. */
export function lookedAtBesides(env: Variables): readonly string[] {
  return [...foldersIn(env), ...[...IDENTITY_FILES, PAGE_TOKEN].flatMap((name) => env[name] ?? [])];
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
  if (known(env[PAGE_TOKEN] ?? '') === real)
    return { problem: `${name} is the token of the page, which no settings file can read` };
  const own = platformFolder(real, (variable) => known(env[variable] ?? ''));
  if (own !== null && !allowing.some((folder) => folder === own || isUnder(folder, own))) {
    return {
      problem: `${name} is what the platform gives this machine for itself, and SETPOINT_ALLOWED_FILES does not name ${own}`,
    };
  }
  try {
    const read = readText(real, LARGEST_SECRET);
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

/** The variable that names the file of the token with which people act on a controller's page. */
const PAGE_TOKEN = 'SETPOINT_WATCH_TOKEN_FILE';

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

const LARGEST_DOTENV = 1024 * 1024;

/** The variables of a file of KEY=VALUE lines, with quotes, comments and `export` as in a shell. No error quotes a value. */
export function readDotenv(path: string): Record<string, string> {
  const read = readText(path, LARGEST_DOTENV);
  if (!('text' in read)) {
    throw new SetpointError('file-unreadable', `${path} is not a text file of variables.`, {
      hint: 'Write lines NAME=value, in UTF-8, at most 1 MiB.',
    });
  }
  const text = read.text.replace(/^\uFEFF/, '');
  const variables = Object.entries(parseEnv(text)).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(variables);
}

/**
 * Variables that a file cannot set. The allow-lists decide where keys may be sent, and secret commands what runs, which must not be decided on a branch; Node
 * reads its own when it starts, so one in a file would have no effect, or not the expected one.
 */
const NOT_FROM_A_FILE = /^(?:SETPOINT_ALLOWED_|SETPOINT_SECRET_COMMANDS$|NODE_(?!ENV$))/i;

/**
 * The environment plus the variables of a file; a variable that the environment has keeps its value. `process.env`, which Node
 * and child processes read, is not changed. Throws a usage error in a pipeline: there, secrets come from the pipeline, and a
 * file with them has been committed by mistake.
 */
export function withDotenv(env: Variables, path: string | undefined): Variables {
  if (path === undefined) return env;
  if ((env['CI'] ?? '') !== '') {
    throw new SetpointError('usage', '--dotenv is not allowed in a pipeline (CI is set).', {
      hint: 'Pass the variables as secrets of the pipeline.',
    });
  }
  const read = readDotenv(path);
  const refused = Object.keys(read).find((name) => NOT_FROM_A_FILE.test(name));
  if (refused !== undefined) {
    throw new SetpointError('usage', `--dotenv: ${refused} cannot be set in a file.`, {
      hint: refused.toUpperCase().startsWith('NODE_')
        ? 'Node reads it when it starts: set it in the environment itself.'
        : 'It decides where keys may be sent: set it in the environment itself.',
    });
  }
  const own = Object.entries(env).filter(([, value]) => value !== undefined);
  return { ...read, ...Object.fromEntries(own) };
}
