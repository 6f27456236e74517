import { isAbsolute } from 'node:path';
import { SetpointError } from '../model/error.ts';
import type { Variables } from '../model/ports.ts';
import { readText } from './read-text.ts';

/** A program that gives secrets, as SETPOINT_SECRET_COMMANDS names it. */
export interface SecretCommand {
  readonly argv: readonly [string, ...string[]];
  /** `value`: one process for each secret, which prints it. `batch`: one for all, with JSON in and out. */
  readonly protocol: 'value' | 'batch';
  /** All the variables that it gets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeout: number;
}

const VARIABLE = 'SETPOINT_SECRET_COMMANDS';
const LARGEST_FILE = 64 * 1024;
const DEFAULT_SECONDS = 30;
const MOST_SECONDS = 300;

/** Variables that most programs need to find themselves and their own files. */
const ALWAYS_PASSED = [
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
  'SYSTEMROOT',
  'PATHEXT',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'TEMP',
];

/**
 * The commands of SETPOINT_SECRET_COMMANDS: JSON, or the absolute path of a file with it. Throws a usage error that describes the fault,
 * and quotes only names of commands.
 */
export function secretCommands(env: Variables): ReadonlyMap<string, SecretCommand> {
  const text = env[VARIABLE]?.trim() ?? '';
  if (text === '') return new Map();
  const commands = commandTable(text.startsWith('{') ? text : readCommandsFile(text));
  return new Map(
    Object.entries(commands).map(([name, written]) => {
      if (!/^[A-Za-z][\w-]{0,63}$/.test(name))
        throw invalid('has a name that is not made of letters, digits, - and _, a letter first');
      return [name, parseSecretCommand(name, written, env)];
    }),
  );
}

function readCommandsFile(path: string): string {
  if (!isAbsolute(path)) throw invalid('is neither a JSON object nor the absolute path of a file');
  const read = readText(path, LARGEST_FILE);
  if ('text' in read) return read.text.replace(/^\uFEFF/, '');
  throw invalid(`names ${path}, which is larger than 64 KiB, or no UTF-8 text`);
}

/** The parser's own message would quote the text. */
function commandTable(text: string): Record<string, unknown> {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    // Reported below.
  }
  if (isPlainRecord(value)) return value;
  throw invalid('is not a JSON object');
}

function parseSecretCommand(name: string, written: unknown, env: Variables): SecretCommand {
  const of: Record<string, unknown> = Array.isArray(written)
    ? { argv: written }
    : isPlainRecord(written)
      ? written
      : {};
  const { argv, protocol = 'value', env: passed = [], timeout = DEFAULT_SECONDS, ...others } = of;
  const wrong = (problem: string): SetpointError => invalid(`: the command ${name} ${problem}`);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrong('has a key other than argv, protocol, env and timeout');
  if (protocol !== 'value' && protocol !== 'batch') throw wrong('has no protocol value or batch');
  if (!isTextList(argv)) throw wrong('needs argv, a list of texts: the program and its arguments');
  const [program = '', ...args] = argv;
  if (program === '' || (/[\\/]/.test(program) && !isAbsolute(program)))
    throw wrong('needs a program on PATH, or its absolute path');
  const holes = args.filter((word) => word.includes('{}')).length;
  if (protocol === 'value' && holes !== 1) throw wrong('needs {} in one argument, for the path');
  if (!isTextList(passed)) throw wrong('needs env as a list of names of variables');
  if (typeof timeout !== 'number' || !(timeout >= 1 && timeout <= MOST_SECONDS))
    throw wrong(`needs a timeout from 1 to ${MOST_SECONDS} seconds`);
  const names = [...ALWAYS_PASSED, ...passed];
  const variables = names.flatMap((one) => {
    const value = env[one];
    return value === undefined ? [] : [[one, value] as const];
  });
  return {
    argv: [program, ...args],
    protocol,
    variables: Object.fromEntries(variables),
    timeout: timeout * 1000,
  };
}

function invalid(problem: string): SetpointError {
  return new SetpointError('usage', `${VARIABLE} ${problem}.`.replace(' :', ':'), {
    hint: 'Write it like {"pass": ["pass", "show", "{}"]}, where setpoint runs and not in the branch.',
  });
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}

function isPlainRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
