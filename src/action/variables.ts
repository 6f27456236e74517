import { listIn } from '../desired/key-travel.ts';
import { SetpointError } from '../model/error.ts';
import { matches } from '../model/glob.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The environment that references are looked up in: the step's own without what the runner passes as inputs, and of `secrets`
 * (JSON, as toJSON(secrets) writes it) those that SETPOINT_ALLOWED_VARIABLES lists. What the step sets under `env:` wins.
 * `commit` takes the place of GITHUB_SHA, which on a pull request is a merge that nobody has seen.
 */
export function variablesFor(
  env: Variables,
  secrets: string | null,
  commit: string | null,
): Variables {
  const chosen = secrets === null ? {} : allowedSecrets(secrets, env['SETPOINT_ALLOWED_VARIABLES']);
  const own = Object.entries(env).filter(
    ([name, value]) => !name.startsWith('INPUT_') && !(value === '' && name in chosen),
  );
  const seen = commit === null ? {} : { GITHUB_SHA: commit };
  return { ...chosen, ...Object.fromEntries(own), ...seen };
}

/** Not those that say where secrets may travel. */
function allowedSecrets(text: string, allowed: string | undefined): Record<string, string> {
  const globs = listIn(allowed);
  if (globs === null) {
    throw new SetpointError(
      'usage',
      'The input secrets needs SETPOINT_ALLOWED_VARIABLES, which says what of them is taken.',
      { hint: 'Set it under env: to the names that the settings file reads, comma-separated.' },
    );
  }
  const named = Object.entries(parsed(text)).filter(
    ([name]) => matches(name, globs) && !name.startsWith('SETPOINT_ALLOWED_'),
  );
  return Object.fromEntries(named);
}

function parsed(text: string): Record<string, string> {
  const secrets = jsonOf(text);
  if (typeof secrets === 'object' && secrets !== null && !Array.isArray(secrets)) {
    const entries = Object.entries(secrets);
    const texts = entries.filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    if (texts.length === entries.length) return Object.fromEntries(texts);
  }
  throw new SetpointError('usage', 'The input secrets is no JSON object of texts.', {
    hint: 'Write secrets: ${{ toJSON(secrets) }}, or leave it out.',
  });
}

/** The parser's own message would hold the beginning of the text. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
