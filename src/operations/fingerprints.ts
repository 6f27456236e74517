import { dirname, relative, resolve } from 'node:path';
import { SetpointError } from '../model/error.ts';
import { fingerprintFile, type FingerprintFile } from '../host/fingerprint-file.ts';
import { embeddedStore } from './open-target.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';

const FILE = '.setpoint/fingerprints.json';

/** What is known of the secrets last written to a target; nothing without SETPOINT_STATE_KEY. The file lies beside the settings. */
export function fingerprintsOf(prepared: Prepared, { env }: Options): Promise<FingerprintFile> {
  const { server, target } = prepared;
  const path = resolve(dirname(target.file), FILE);
  const origin = server instanceof SetpointError ? '' : server.origin;
  const address = addressOf(prepared);
  return fingerprintFile(path, env['SETPOINT_STATE_KEY'] ?? '', { origin, address });
}

/** Where the requests of a target go, spelled in one way; an embedded store by where it lies beside the settings. */
function addressOf({ server, target }: Prepared): string {
  if (server instanceof SetpointError) return '';
  const folder = dirname(target.file);
  const store = embeddedStore(server, folder);
  if (store !== null) return `embedded:${relative(folder, store)}`;
  const { origin, pathname } = new URL(server.url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}
