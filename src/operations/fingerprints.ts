import { dirname, resolve } from 'node:path';
import { fingerprintFile, type FingerprintFile } from '../host/fingerprint-file.ts';
import { originOf } from './look-at.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';

const FILE = '.setpoint/fingerprints.json';

/** What is known of the secrets last written to a target; nothing without SETPOINT_STATE_KEY. The file lies beside the settings. */
export function fingerprintsOf(prepared: Prepared, { env }: Options): Promise<FingerprintFile> {
  const path = resolve(dirname(prepared.target.file), FILE);
  return fingerprintFile(path, env['SETPOINT_STATE_KEY'] ?? '', originOf(prepared) ?? '');
}
