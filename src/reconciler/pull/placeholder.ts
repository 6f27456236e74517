import { readableName } from '../desired/pipeline-variables.ts';
import type { Path } from '../model/path.ts';
import type { Json, Value } from '../model/value.ts';
import { isArray, isObject } from '../yaml-edit/source.ts';

/** A reference that a file gets for a secret of the service. Its variable is named once it is known which file it goes to. */
export interface Placeholder {
  /** The text instead of the variable until then. */
  readonly marker: string;
  /** The owner of the secret, as plans and flags name it. */
  readonly path: Path;
  /** The secret's path in the service's record. */
  readonly at: Path;
  /** The secret, to find out whether two targets have the same. It is never written or shown. */
  readonly secret: Value;
  /** The scalar as the file will hold it, with the marker for the variable. */
  readonly written: string;
  /** Names for the variable, the preferred one first. */
  readonly names: readonly string[];
}

/** The placeholder for a secret field, its variable named after the field. */
export function fieldPlaceholder(name: string, secret: Value): Placeholder {
  const marker = createVariableMarker(name);
  return {
    marker,
    path: [name],
    at: [name],
    secret,
    written: markerReference(marker),
    names: [variableName(name)],
  };
}

const MARK = '\u0001';
const MARKED = /(?<!\$)\$\{env:\u0001([A-F0-9]+)\}/g;

/** The marker of a variable, the same for the same parts. */
export function createVariableMarker(...parts: readonly string[]): string {
  return Buffer.from(parts.join('\n')).toString('hex').toUpperCase();
}

export function markerReference(marker: string): string {
  return `\${env:${MARK}${marker}}`;
}

/** A value with names instead of its markers. */
export function replaceMarkers(value: Json, nameOf: (marker: string) => string): Json {
  if (typeof value === 'string') return textWithNames(value, nameOf);
  if (isArray(value)) return value.map((item) => replaceMarkers(item, nameOf));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, replaceMarkers(member, nameOf)]),
  );
}

export function textWithNames(text: string, nameOf: (marker: string) => string): string {
  return text.replaceAll(MARKED, (_, marker: string) => `\${env:${nameOf(marker)}}`);
}

/** Characters of a made-up name, before the number that distinguishes it from another. */
const LONGEST = 200;

/** The parts joined to the name of a variable that a settings file may read. */
export function variableName(...parts: readonly string[]): string {
  const name = parts
    .map((part) => part.slice(0, LONGEST))
    .join('_')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .slice(0, LONGEST)
    .replaceAll(/^_+|_+$/g, '');
  return readableName(/^[A-Z]/.test(name) ? name : `SETPOINT_${name}`);
}

/** The names of the variables that a text reads. */
export function listTextVariables(text: string): Set<string> {
  return new Set([...text.matchAll(/\$\{env:([A-Za-z_]\w*)/g)].map(([, name = '']) => name));
}
