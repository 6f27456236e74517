import { dirname, join } from 'node:path';
import type { Target } from '../desired/target.ts';
import { isThere } from '../host/read-text.ts';
import { SetpointError } from '../model/error.ts';
import type { Options } from './options.ts';

export const SERVICE_KEY = 'SETPOINT_API_KEY';

/** Throws if the file is there already, or an environment cannot have this name. */
export function checkNew(path: string, environment: string | undefined): void {
  if (environment !== undefined) checkName(environment, []);
  if (!isThere(path)) return;
  throw new SetpointError('usage', `${path} exists already, and init does not overwrite it.`, {
    hint: 'Add an environment to it with -e NAME, name another file with -f, or use setpoint pull.',
  });
}

/** Schemas that an editor can read without the network: one that `setpoint schema` wrote, and that of an installed setpoint. */
const SCHEMAS = ['settings.schema.json', 'node_modules/setpoint/schemas/settings.schema.json'];

export function schemaBeside(path: string): string | null {
  const found = SCHEMAS.find((name) => isThere(join(dirname(path), name)));
  return found === undefined ? null : `./${found}`;
}

/** The key of a service, by the variable of its own or the one that is for any; undefined if neither is set. */
export function keyGiven({ env }: Pick<Options, 'env'>, variable: string): string | undefined {
  return [env[variable], env[SERVICE_KEY]].find((one) => (one ?? '') !== '');
}

export function checkName(name: string, targets: readonly Target[]): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    throw new SetpointError('usage', 'The name of an environment cannot have these characters.', {
      hint: 'Use letters, digits, dots, - and _, a letter or digit first.',
    });
  }
  if (targets.every((target) => target.name !== name)) return;
  throw new SetpointError('usage', `The environment ${name} exists already.`, {
    hint: `Import what its service has with setpoint pull -e ${name}.`,
  });
}

export function notMade(): SetpointError {
  return new SetpointError('internal', 'No settings file could be made of what the service has.', {
    hint: 'Please report it with what setpoint get settings shows.',
  });
}
