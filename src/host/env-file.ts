import { parseEnv } from 'node:util';
import { SetpointError } from '../model/error.ts';
import { readText } from './read-text.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const LIMIT = 1024 * 1024;

/** The variables of a file of KEY=VALUE lines: quotes, comments and `export` as shells have them. No error holds a value. */
export function readEnvFile(path: string): Record<string, string> {
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
 * The environment with the variables of a file under what it has itself. A usage error in a pipeline: there, secrets come
 * from the pipeline, and a file with them has been committed by mistake.
 */
export function withEnvFile(env: Variables, path: string | undefined): Variables {
  if (path === undefined) return env;
  if ((env['CI'] ?? '') !== '') {
    throw new SetpointError('usage', '--env-file is not taken where CI is set.', {
      hint: 'Hand the variables over as secrets of the pipeline.',
    });
  }
  const read = readEnvFile(path);
  const policy = Object.keys(read).find((name) => name.startsWith('SETPOINT_ALLOWED_'));
  if (policy !== undefined) {
    throw new SetpointError('usage', `${policy} is not taken from a file.`, {
      hint: 'Where keys may travel is said outside the branch: set it in the environment itself.',
    });
  }
  const own = Object.entries(env).filter(([, value]) => value !== undefined);
  return { ...read, ...Object.fromEntries(own) };
}
