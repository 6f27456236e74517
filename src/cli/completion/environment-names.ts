import { loadTargets } from '../../operations/load.ts';
import type { Options } from '../../operations/options.ts';

/** A name that no shell has to quote; others are not offered. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** The targets and environments of the settings files, for -e: offline, and none where a file is not right. */
export function environmentNames(options: Options): readonly string[] {
  const names = loadTargets(options).targets.map(({ name }) => name);
  return [...new Set(names)].filter((name) => PLAIN.test(name));
}
