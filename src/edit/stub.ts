import { isForbiddenVariable } from '../desired/references.ts';
import type { Path } from '../model/path.ts';
import type { Json, Value } from '../model/value.ts';
import { isArray, isObject } from './json-value.ts';

/** A reference in the file that stands for a secret of the service; its variable is called by its final name once it is placed. */
export interface Stub {
  /** What tells its variable from others until then. */
  readonly marker: string;
  /** What the secret belongs to, as plans and flags name it. */
  readonly path: Path;
  /** Where the secret stands in the service's record. */
  readonly at: Path;
  /** What stands there, to tell whether two targets have the same; it is never written or shown. */
  readonly secret: Value;
  /** The scalar as it will stand in the file, the variable by its marker. */
  readonly written: string;
  /** Names for the variable, the one to be preferred first. */
  readonly names: readonly string[];
}

const MARK = '\u0001';
const MARKED = /(?<!\$)\$\{env:\u0001([A-F0-9]+)\}/g;

/** What stands for a variable until it has a name; the same for the same parts. */
export function markerOf(...parts: readonly string[]): string {
  return Buffer.from(parts.join('\n')).toString('hex').toUpperCase();
}

export function marked(marker: string): string {
  return `\${env:${MARK}${marker}}`;
}

/** A value with its marked variables called by their names. */
export function settled(value: Json, nameOf: (marker: string) => string): Json {
  if (typeof value === 'string') return settledText(value, nameOf);
  if (isArray(value)) return value.map((item) => settled(item, nameOf));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, settled(member, nameOf)]),
  );
}

export function settledText(text: string, nameOf: (marker: string) => string): string {
  return text.replaceAll(MARKED, (_, marker: string) => `\${env:${nameOf(marker)}}`);
}

/** Characters of a name that is made here; what tells it from others like it comes behind them. */
const LONGEST = 200;

/** The parts as the name of a variable that a settings file may read. */
export function variableName(...parts: readonly string[]): string {
  const name = parts
    .map((part) => part.slice(0, LONGEST))
    .join('_')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .slice(0, LONGEST)
    .replaceAll(/^_+|_+$/g, '');
  return /^[A-Z]/.test(name) && !isForbiddenVariable(name) ? name : `SETPOINT_${name}`;
}

/** The variables that a text reads. */
export function variablesIn(text: string): Set<string> {
  return new Set([...text.matchAll(/\$\{env:([A-Za-z_]\w*)/g)].map(([, name = '']) => name));
}
