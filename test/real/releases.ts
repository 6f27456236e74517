import { readFileSync } from 'node:fs';
import type { DialectName } from '../../src/reconciler/model/dialect.ts';

/** A release of a server that `npm run test:real` starts. */
export interface Release {
  readonly release: string;
  /** Its package on PyPI. */
  readonly server: 'openhands-ai' | 'openhands-agent-server';
  readonly dialect: DialectName;
  /** Members of an answer that came after the recorded release: a case neither asks for them nor refuses them. */
  readonly added?: readonly string[];
  /** Recorded cases that this release is known to answer otherwise, each with the reason. */
  readonly differs?: Readonly<Record<string, string>>;
  /** Steps of the loop, or whole loops, that this release cannot take, each with the reason. */
  readonly without?: Readonly<Record<string, string>>;
  /** Paths of the files that it is tried with, of the loop and of docs/guides/rebuild.md, that it does not have. */
  readonly lacks?: readonly string[];
}

export const RELEASES = JSON.parse(
  readFileSync(new URL('releases.json', import.meta.url), 'utf8'),
) as readonly Release[];

/** The release that this run is about, and the virtual environment that it is installed in: what `scripts/test-real.mjs` sets. */
export function theRelease(): { readonly release: Release; readonly venv: string } {
  const [name, venv] = [process.env['SETPOINT_REAL_RELEASE'], process.env['SETPOINT_REAL_VENV']];
  const release = RELEASES.find((one) => one.release === name);
  if (release === undefined || venv === undefined)
    throw new Error('Start these tests by npm run test:real.');
  return { release, venv };
}
