import { Slots } from '../model/slots.ts';
import { realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  type ReferenceSource,
  type Variables,
  type RequestedValue,
  secretName,
  type SecretPath,
  type SecretResolver,
  type SecretRequest,
} from '../model/ports.ts';
import { isPathUnder, readText } from './read-text.ts';
import { isDotenvProblem, parseDotenv } from '../model/dotenv.ts';
import { SetpointError } from '../model/error.ts';
import { runProgram, type ProgramAnswer } from './run-program.ts';
import { secretCommands, type SecretCommand } from './secret-commands.ts';

const LARGEST_SECRET = 64 * 1024;
const DEFAULT_FOLDERS = '/run/secrets';
const NONE: ReadonlySet<string> = new Set();

/**
 * The values of references: variables from `env`, files from the folders that SETPOINT_ALLOWED_FILES lists (comma-separated; default:
 * /run/secrets). A file must be regular, at most 64 KiB of UTF-8, and lie in such a folder once its links are resolved; one trailing
 * newline is dropped. The identity that a platform gives a container also lies under /run/secrets, and is read only if its own folder is
 * listed; the token of a controller's page never. `secrets` has the values of secret commands. `unanswered` files and folders, whose disk
 * does not answer, are not read.
 */
export function referenceSource(
  env: Variables,
  unanswered = NONE,
  secrets?: SecretAnswers,
): ReferenceSource {
  const folders = listReferenceFolders(env);
  // The process looks each of its variables up again, and a run requests the same ones again and again.
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

/** The values that objects of a cluster request, in one run. */
export interface RequestedSecrets {
  /** Asks for the values of requests, by the texts that stand for them. */
  request(requests: Iterable<readonly [text: string, request: SecretRequest]>): Promise<void>;
  /** Null if no request stands for the text. */
  valueFor(text: string): RequestedValue | null;
}

/** The requested values and nothing else: no variables, no files, no secret commands. */
export function requestSource(secrets: RequestedSecrets): ReferenceSource {
  return {
    variable: () => undefined,
    file: (path) => ({ problem: `an object of a cluster reads no files, such as ${path}` }),
    requested: (text) => secrets.valueFor(text),
  };
}

/** Lists the paths that are checked next to a file itself whenever one is read. */
export function listCheckedPaths(env: Variables): readonly string[] {
  return [
    ...listReferenceFolders(env),
    ...[...IDENTITY_FILES, PAGE_TOKEN].flatMap((name) => env[name] ?? []),
  ];
}

function listReferenceFolders(env: Variables): readonly string[] {
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
  const real = findRealPath(path);
  if (real === null) return { problem: `${name} does not exist` };
  const known = (other: string): string | null =>
    unanswered.has(other) ? null : findRealPath(other);
  const folders = listed.map((folder) => known(folder) ?? resolve(folder));
  const allowing = folders.filter((folder) => isPathUnder(real, folder));
  if (allowing.length === 0) {
    return {
      problem: `${name} lies outside the folders of SETPOINT_ALLOWED_FILES (${listed.join(', ')})`,
    };
  }
  if (known(env[PAGE_TOKEN] ?? '') === real)
    return { problem: `${name} is the token of the page, which no settings file can read` };
  const own = platformFolder(real, (variable) => known(env[variable] ?? ''));
  if (own !== null && !allowing.some((folder) => folder === own || isPathUnder(folder, own))) {
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
 * The folders that Kubernetes, clouds and meshes mount under /run/secrets: those with the name of a domain (kubernetes.io,
 * eks.amazonaws.com), and those that have none.
 */
const PLATFORM =
  /^(?:.*\/)?run\/secrets\/(?:[\w-]+(?:\.[\w-]+)+|azure|openshift|tokens|istio|workload-spiffe-\w+|rhsm|etc-pki-entitlement)(?=\/)/;

/** Variables by which a cloud shows a program where its own token is. */
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

function findRealPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

const LARGEST_DOTENV = 1024 * 1024;

/**
 * The variables of a file of lines NAME=value. What one names of another is looked up above it in the file, then in `env`. Throws a SetpointError with the line of what is
 * not understood, and nothing of what it says.
 */
export function readDotenv(path: string, env: Variables = {}): Record<string, string> {
  const read = readText(path, LARGEST_DOTENV);
  if (!('text' in read)) {
    throw new SetpointError('file-unreadable', `${path} is not a text file of variables.`, {
      hint: 'Write lines NAME=value, in UTF-8, at most 1 MiB.',
    });
  }
  const values = new Map<string, string>();
  const lookUp = (name: string): string | undefined =>
    (Object.hasOwn(env, name) ? env[name] : undefined) ?? values.get(name);
  const variables = parseDotenv(read.text, lookUp, (name, value) => values.set(name, value));
  if (isDotenvProblem(variables))
    throw new SetpointError(
      'file-unreadable',
      `${path}:${variables.line} is ${variables.problem}.`,
      { hint: variables.hint },
    );
  return Object.fromEntries(values);
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
  const read = readDotenv(path, env);
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

type LookupResult = { readonly text: string } | { readonly problem: string };

/** Asks for secrets, and has what was found. */
export interface SecretAnswers {
  ask(secrets: Iterable<SecretPath>, signal?: AbortSignal): Promise<void>;
  /** Undefined if it was not asked for. */
  of(secret: SecretPath): LookupResult | undefined;
}

const LARGEST_BATCH = 1024 * 1024;
/** Processes at a time. */
const AT_A_TIME = 4;

/**
 * The values of secret commands in one run: each is asked once for a secret, however often it is read. Neither the output of a command nor
 * its error text is ever part of a problem.
 */
export class SecretValues implements SecretAnswers {
  readonly #env: Variables;
  readonly #asked = new Map<string, Promise<unknown>>();
  readonly #found = new Map<string, LookupResult>();
  readonly #turns = new Slots(AT_A_TIME);
  readonly #resolver: SecretResolver | undefined;
  #commands: ReadonlyMap<string, SecretCommand> | null = null;

  /** `resolver` takes the place of the commands. */
  constructor(env: Variables, resolver?: SecretResolver) {
    this.#env = env;
    this.#resolver = resolver;
  }

  /** Asks for those of the secrets that were not asked for yet. Throws a usage error if SETPOINT_SECRET_COMMANDS cannot be used. */
  async ask(secrets: Iterable<SecretPath>, signal?: AbortSignal): Promise<void> {
    const wanted = [...new Map([...secrets].map((one) => [secretName(one), one])).values()];
    const isNew = (one: SecretPath): boolean => !this.#asked.has(secretName(one));
    const fresh = wanted.filter(isNew);
    if (fresh.length > 0) this.#start(fresh, signal);
    await Promise.all(wanted.flatMap((one) => this.#asked.get(secretName(one)) ?? []));
  }

  /** Returns the result; undefined if it was not requested. */
  of(secret: SecretPath): LookupResult | undefined {
    return this.#found.get(secretName(secret));
  }

  /** Forgets the result of one, so that it can be requested again. */
  forget(secret: SecretPath): void {
    this.#asked.delete(secretName(secret));
    this.#found.delete(secretName(secret));
  }

  /** Reports whether one process returns all secrets of a command. */
  isBatch(name: string): boolean {
    return this.#resolver === undefined && this.#commandNamed(name)?.protocol === 'batch';
  }

  #commandNamed(name: string): SecretCommand | undefined {
    this.#commands ??= secretCommands(this.#env);
    return this.#commands.get(name);
  }

  #start(secrets: readonly SecretPath[], signal: AbortSignal | undefined): void {
    const turns = this.#turns;
    const resolver = this.#resolver;
    for (const [name, paths] of groupSecretPaths(secrets)) {
      const command = resolver === undefined ? this.#commandNamed(name) : undefined;
      const set = (path: string, found: Promise<LookupResult>): void => {
        const key = secretName({ command: name, path });
        this.#asked.set(
          key,
          found.then((one) => this.#found.set(key, one)),
        );
      };
      if (resolver !== undefined) {
        for (const path of paths)
          set(
            path,
            turns.run(() => callResolver(resolver, name, path)),
          );
      } else if (command === undefined) {
        const problem = `SETPOINT_SECRET_COMMANDS names no command ${name}`;
        for (const path of paths) set(path, Promise.resolve({ problem }));
      } else if (command.protocol === 'batch') {
        const all = turns.run(() => askForAll(name, command, paths, signal));
        for (const path of paths)
          set(
            path,
            all.then((found) => found(path)),
          );
      } else {
        for (const path of paths)
          set(
            path,
            turns.run(() => askForOne(name, command, path, signal)),
          );
      }
    }
  }
}

function groupSecretPaths(secrets: readonly SecretPath[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { command, path } of secrets)
    groups.set(command, [...(groups.get(command) ?? []), path]);
  return groups;
}

async function askForOne(
  name: string,
  { argv: [program, ...args], variables, timeout }: SecretCommand,
  path: string,
  signal: AbortSignal | undefined,
): Promise<LookupResult> {
  const words = args.map((word) => word.replaceAll('{}', () => path));
  const limits = { variables, timeout, limit: LARGEST_SECRET + 2, signal };
  const answer = await runProgram(program, words, limits);
  const text = answer.kind === 'done' ? decodeOutput(answer.output) : null;
  return text === null
    ? { problem: programProblem(name, answer, program, timeout) }
    : checkSecret(formatCommand(name), text.replace(/\r?\n$/, ''));
}

/** Calls the function of a program. What it throws is the program's own, and ends the operation. */
async function callResolver(
  resolver: SecretResolver,
  name: string,
  path: string,
): Promise<LookupResult> {
  const value: unknown = await resolver(name, path);
  return typeof value === 'string'
    ? checkSecret('resolveSecret', value)
    : { problem: `resolveSecret gave no value of ${name}/${path}` };
}

/** The protocol of Datadog's and Vector's secret backends: the names in, `{NAME: {value, error}}` out. */
async function askForAll(
  name: string,
  { argv: [program, ...args], variables, timeout }: SecretCommand,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<(path: string) => LookupResult> {
  const input = JSON.stringify({ version: '1.0', secrets: paths });
  const limits = { variables, timeout, limit: LARGEST_BATCH, signal, input };
  const answer = await runProgram(program, args, limits);
  const text = answer.kind === 'done' ? decodeOutput(answer.output) : null;
  if (text === null) {
    const problem = programProblem(name, answer, program, timeout);
    return () => ({ problem });
  }
  const values = parseJsonObject(text);
  if (values === null) return () => ({ problem: `${formatCommand(name)} printed no JSON object` });
  return (path) => {
    const given: unknown = Object.hasOwn(values, path) ? values[path] : null;
    const value: unknown =
      typeof given === 'object' && given !== null && 'value' in given ? given.value : null;
    return typeof value === 'string'
      ? checkSecret(formatCommand(name), value)
      : { problem: `${formatCommand(name)} gave no value for it` };
  };
}

function parseJsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

function checkSecret(giver: string, text: string): LookupResult {
  if (text.trim() === '') return { problem: `${giver} gave an empty value` };
  if (Buffer.byteLength(text) > LARGEST_SECRET) return { problem: tooMuch(giver) };
  return { text };
}

function decodeOutput(output: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(output);
  } catch {
    return null;
  }
}

function programProblem(
  name: string,
  answer: ProgramAnswer,
  program: string,
  timeout: number,
): string {
  const command = formatCommand(name);
  switch (answer.kind) {
    case 'done':
      return `${command} printed something that is not UTF-8 text`;
    case 'failed':
      return answer.code === null
        ? `${command} could not be run to its end`
        : `${command} ended with exit code ${answer.code}`;
    case 'missing':
      return `the program of ${command} (${program}) was not found`;
    case 'late':
      return `${command} took longer than ${timeout / 1000} s, and was stopped`;
    case 'stopped':
      return `${command} was stopped`;
    case 'too-much':
      return tooMuch(command);
  }
}

function formatCommand(name: string): string {
  return `the secret command ${name}`;
}

function tooMuch(giver: string): string {
  return `${giver} gave more than 64 KiB`;
}
