import { parseEnv } from 'node:util';
import { SetpointError } from '../model/error.ts';
import { readText } from './read-text.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const LIMIT = 1024 * 1024;

/** The variables of a file of KEY=VALUE lines: quotes, comments and `export` as shells have them. No error holds a value. */
export function readDotenv(path: string): Record<string, string> {
  const read = readText(path, LIMIT);
  if (!('text' in read)) {
    throw new SetpointError('file-unreadable', `${path} is no text file of variables.`, {
      hint: 'It holds lines NAME=value, in UTF-8, of 1 MiB at most.',
    });
  }
  const text = read.text.replace(/^\uFEFF/, '');
  const variables = Object.entries(parseEnv(text)).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(variables);
}

/**
 * Variables that a file cannot set. The lists say where keys may travel, which is decided outside of the branch; Node reads its
 * own when it starts, so that one in a file would have no effect, or another one than people expect.
 */
const NOT_FROM_A_FILE = /^(?:SETPOINT_ALLOWED_|NODE_(?!ENV$))/i;

/**
 * The environment with the variables of a file added; a variable that the environment has keeps its value. The result is a
 * value of its own: `process.env`, which Node and child processes read, stays as it is. A usage error in a pipeline: there,
 * secrets come from the pipeline, and a file with them has been committed by mistake.
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
        ? 'Node reads it when it starts: set it in the environment itself, if it is needed.'
        : 'It decides where keys may travel: set it in the environment itself.',
    });
  }
  const own = Object.entries(env).filter(([, value]) => value !== undefined);
  return { ...read, ...Object.fromEntries(own) };
}
