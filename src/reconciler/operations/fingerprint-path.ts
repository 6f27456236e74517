import { dirname, resolve } from 'node:path';
import type { Target } from '../desired/target.ts';
import type { Options } from './options.ts';

/** Where it is kept what is known of the secrets last written to a target: beside the settings, unless they are of a commit. */
export function fingerprintPath(
  { file }: Pick<Target, 'file'>,
  { checkout }: Pick<Options, 'checkout'>,
): string {
  return resolve(checkout?.state ?? dirname(file), '.setpoint/fingerprints.json');
}
