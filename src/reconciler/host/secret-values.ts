import { secretName, type SecretPath, type Variables } from '../model/ports.ts';
import { runProgram, type ProgramAnswer } from './run-program.ts';
import { secretCommands, type SecretCommand } from './secret-commands.ts';

type Found = { readonly text: string } | { readonly problem: string };

/** Asks for secrets, and has what was found. */
export interface SecretAnswers {
  ask(secrets: Iterable<SecretPath>, signal?: AbortSignal): Promise<void>;
  /** Undefined if it was not asked for. */
  of(secret: SecretPath): Found | undefined;
}

const LARGEST_SECRET = 64 * 1024;
const LARGEST_BATCH = 1024 * 1024;
/** Processes at a time. */
const AT_A_TIME = 4;

/**
 * What secret commands gave in one run: each is asked once for a secret, however often it is read. Neither what a command prints nor what it
 * says when it fails is ever part of a problem.
 */
export class SecretValues implements SecretAnswers {
  readonly #env: Variables;
  readonly #asked = new Map<string, Promise<unknown>>();
  readonly #found = new Map<string, Found>();
  readonly #turns = new StartOrder();
  #commands: ReadonlyMap<string, SecretCommand> | null = null;

  constructor(env: Variables) {
    this.#env = env;
  }

  /** Asks for those of the secrets that were not asked for yet. Throws a usage error if SETPOINT_SECRET_COMMANDS cannot be used. */
  async ask(secrets: Iterable<SecretPath>, signal?: AbortSignal): Promise<void> {
    const wanted = [...new Map([...secrets].map((one) => [secretName(one), one])).values()];
    const isNew = (one: SecretPath): boolean => !this.#asked.has(secretName(one));
    const fresh = wanted.filter(isNew);
    if (fresh.length > 0) this.#start(fresh, signal);
    await Promise.all(wanted.flatMap((one) => this.#asked.get(secretName(one)) ?? []));
  }

  /** What was found; undefined if it was not asked for. */
  of(secret: SecretPath): Found | undefined {
    return this.#found.get(secretName(secret));
  }

  /** Forgets what was found of one, so that it can be asked for again. */
  forget(secret: SecretPath): void {
    this.#asked.delete(secretName(secret));
    this.#found.delete(secretName(secret));
  }

  /** Whether one process gives all secrets of a command. */
  isBatch(name: string): boolean {
    return this.#commandNamed(name)?.protocol === 'batch';
  }

  #commandNamed(name: string): SecretCommand | undefined {
    this.#commands ??= secretCommands(this.#env);
    return this.#commands.get(name);
  }

  #start(secrets: readonly SecretPath[], signal: AbortSignal | undefined): void {
    const turns = this.#turns;
    for (const [name, paths] of grouped(secrets)) {
      const command = this.#commandNamed(name);
      const set = (path: string, found: Promise<Found>): void => {
        const key = secretName({ command: name, path });
        this.#asked.set(
          key,
          found.then((one) => this.#found.set(key, one)),
        );
      };
      if (command === undefined) {
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

function grouped(secrets: readonly SecretPath[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { command, path } of secrets)
    groups.set(command, [...(groups.get(command) ?? []), path]);
  return groups;
}

/** Starts a few things at a time, in their order. */
class StartOrder {
  readonly #waiting: (() => void)[] = [];
  #free = AT_A_TIME;

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((start) => this.#waiting.push(start));
    else this.#free -= 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

async function askForOne(
  name: string,
  { argv: [program, ...args], variables, timeout }: SecretCommand,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Found> {
  const words = args.map((word) => word.replaceAll('{}', () => path));
  const limits = { variables, timeout, limit: LARGEST_SECRET + 2, signal };
  const answer = await runProgram(program, words, limits);
  const text = answer.kind === 'done' ? textOf(answer.output) : null;
  return text === null
    ? { problem: programProblem(name, answer, program, timeout) }
    : valueOf(name, text.replace(/\r?\n$/, ''));
}

/** The protocol of Datadog's and Vector's secret backends: the names in, `{NAME: {value, error}}` out. */
async function askForAll(
  name: string,
  { argv: [program, ...args], variables, timeout }: SecretCommand,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<(path: string) => Found> {
  const input = JSON.stringify({ version: '1.0', secrets: paths });
  const limits = { variables, timeout, limit: LARGEST_BATCH, signal, input };
  const answer = await runProgram(program, args, limits);
  const text = answer.kind === 'done' ? textOf(answer.output) : null;
  if (text === null) {
    const problem = programProblem(name, answer, program, timeout);
    return () => ({ problem });
  }
  const values = parsed(text);
  if (values === null)
    return () => ({ problem: `the secret command ${name} printed no JSON object` });
  return (path) => {
    const given: unknown = Object.hasOwn(values, path) ? values[path] : null;
    const value: unknown =
      typeof given === 'object' && given !== null && 'value' in given ? given.value : null;
    return typeof value === 'string'
      ? valueOf(name, value)
      : { problem: `the secret command ${name} gave no value for it` };
  };
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

function valueOf(name: string, text: string): Found {
  if (text.trim() === '') return { problem: `the secret command ${name} gave an empty value` };
  if (Buffer.byteLength(text) > LARGEST_SECRET) return { problem: tooMuch(name) };
  return { text };
}

function textOf(output: Buffer): string | null {
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
  const command = `the secret command ${name}`;
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
      return tooMuch(name);
  }
}

function tooMuch(name: string): string {
  return `the secret command ${name} gave more than 64 KiB`;
}
