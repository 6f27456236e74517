import { readFileSync } from 'node:fs';
import type { DialectName } from '../../src/reconciler/model/dialect.ts';

/** A release of a server that `npm run test:real` starts. */
export interface Release {
  readonly release: string;
  /** Its package on PyPI. */
  readonly server: 'openhands-ai' | 'openhands-agent-server' | 'openhands-automation';
  readonly dialect: DialectName;
  /** Members of an answer that came after the recorded release: a case neither asks for them nor refuses them. */
  readonly added?: readonly string[];
  /** Recorded cases that this release is known to answer otherwise, each with the reason. */
  readonly differs?: Readonly<Record<string, string>>;
  /** Steps of the loop, or whole loops, that this release cannot take, each with the reason. */
  readonly without?: Readonly<Record<string, string>>;
  /** The release of the Agent Server that an automation service is tried with. */
  readonly beside?: string;
  /** Paths of the files that it is tried with, of the loop and of docs/guides/rebuild.md, that it does not have. */
  readonly lacks?: readonly string[];
}

export const RELEASES = JSON.parse(
  readFileSync(new URL('releases.json', import.meta.url), 'utf8'),
) as readonly Release[];

/** The release that this run is about, or the one next to it, and its virtual environment: set by `scripts/test-real.mjs`. */
export function theRelease(of: '' | '_BESIDE' = ''): {
  readonly release: Release;
  readonly venv: string;
} {
  const name = process.env[`SETPOINT_REAL_RELEASE${of}`];
  const venv = process.env[`SETPOINT_REAL_VENV${of}`];
  const release = RELEASES.find((one) => one.release === name);
  if (release === undefined || venv === undefined)
    throw new Error('Start these tests by npm run test:real.');
  return { release, venv };
}
