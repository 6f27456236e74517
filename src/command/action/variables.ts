import type { Variables } from '../../reconciler/model/ports.ts';
import { parseEnvironmentList, parseVariableName } from '../../reconciler/desired/key-travel.ts';
import { SetpointError } from '../../reconciler/model/error.ts';
import { isGlobMatch } from '../../reconciler/model/matcher.ts';

/**
 * The variables that references may name: those of the step, without the runner's own for inputs, and those of `secrets` (JSON, the output
 * of toJSON(secrets)) that SETPOINT_ALLOWED_VARIABLES lists. The values under `env:` of the step win. `commit` replaces GITHUB_SHA, which
 * on a pull request is a merge that no user has seen.
 */
export function createStepVariables(
  env: Variables,
  secrets: string | null,
  commit: string | null,
): Variables {
  const chosen =
    secrets === null ? {} : filterAllowedSecrets(secrets, env['SETPOINT_ALLOWED_VARIABLES']);
  const own = Object.entries(env).filter(
    ([name, value]) => !name.startsWith('INPUT_') && !(value === '' && name in chosen),
  );
  const seen = commit === null ? {} : { GITHUB_SHA: commit };
  return { ...chosen, ...Object.fromEntries(own), ...seen };
}

/** Without the variables that decide where secrets may be sent, and which programs give them. */
function filterAllowedSecrets(text: string, allowed: string | undefined): Record<string, string> {
  const globs = parseEnvironmentList(allowed)?.map(parseVariableName) ?? null;
  if (globs === null) {
    throw new SetpointError(
      'usage',
      'The input secrets needs SETPOINT_ALLOWED_VARIABLES, the list of those to use.',
      { hint: 'Set it under env: to the names that the settings file reads, comma-separated.' },
    );
  }
  const named = Object.entries(parseSecretsInput(text)).filter(
    ([name]) => isGlobMatch(name, globs) && !/^SETPOINT_(?:ALLOWED_|SECRET_COMMANDS$)/.test(name),
  );
  return Object.fromEntries(named);
}

function parseSecretsInput(text: string): Record<string, string> {
  const secrets = parseJsonQuietly(text);
  if (typeof secrets === 'object' && secrets !== null && !Array.isArray(secrets)) {
    const entries = Object.entries(secrets);
    const texts = entries.filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    if (texts.length === entries.length) return Object.fromEntries(texts);
  }
  throw new SetpointError('usage', 'The input secrets is not a JSON object of strings.', {
    hint: 'Write secrets: ${{ toJSON(secrets) }}, or leave it out.',
  });
}

/** The parser's own message would contain the beginning of the text. */
function parseJsonQuietly(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
