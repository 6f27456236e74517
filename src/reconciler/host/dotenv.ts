import type { Variables } from '../model/ports.ts';
import { parseEnv } from 'node:util';
import { SetpointError } from '../model/error.ts';
import { readText } from './read-text.ts';

const LIMIT = 1024 * 1024;

/** The variables of a file of KEY=VALUE lines, with quotes, comments and `export` as in a shell. No error quotes a value. */
export function readDotenv(path: string): Record<string, string> {
  const read = readText(path, LIMIT);
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
 * Variables that a file cannot set. The allow-lists decide where keys may be sent, which must not be decided on a branch; Node
 * reads its own when it starts, so one in a file would have no effect, or not the expected one.
 */
const NOT_FROM_A_FILE = /^(?:SETPOINT_ALLOWED_|NODE_(?!ENV$))/i;

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
