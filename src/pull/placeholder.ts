import { isForbiddenVariable } from '../desired/references.ts';
import type { Path } from '../model/path.ts';
import type { Json, Value } from '../model/value.ts';
import type { Edit } from '../yaml-edit/edit-text.ts';
import { isArray, isObject } from '../yaml-edit/json.ts';
import type { PlacedEdit } from './place-edits.ts';

/** A reference that a file gets for a secret of the service. Its variable is named once it is known which file it goes to. */
export interface Placeholder {
  /** Stands for the variable until then. */
  readonly marker: string;
  /** What the secret belongs to, as plans and flags name it. */
  readonly path: Path;
  /** The secret's path in the service's record. */
  readonly at: Path;
  /** The secret, to tell whether two targets have the same. It is never written or shown. */
  readonly secret: Value;
  /** The scalar as the file will hold it, with the marker for the variable. */
  readonly written: string;
  /** Names for the variable, the preferred one first. */
  readonly names: readonly string[];
}

/** A placeholder whose variable has its name. */
export interface NewReference {
  readonly name: string;
  readonly path: Path;
  readonly at: Path;
  /** The scalar as the file writes it. */
  readonly written: string;
}

/** The placeholder for a secret field, its variable named after the field. */
export function fieldPlaceholder(name: string, secret: Value): Placeholder {
  const marker = markerOf(name);
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
export function markerOf(...parts: readonly string[]): string {
  return Buffer.from(parts.join('\n')).toString('hex').toUpperCase();
}

export function markerReference(marker: string): string {
  return `\${env:${MARK}${marker}}`;
}

/** A value with names in place of its markers. */
export function withNames(value: Json, nameOf: (marker: string) => string): Json {
  if (typeof value === 'string') return textWithNames(value, nameOf);
  if (isArray(value)) return value.map((item) => withNames(item, nameOf));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withNames(member, nameOf)]),
  );
}

function textWithNames(text: string, nameOf: (marker: string) => string): string {
  return text.replaceAll(MARKED, (_, marker: string) => `\${env:${nameOf(marker)}}`);
}

/** Characters of a made-up name, before the number that tells it from another. */
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
  return /^[A-Z]/.test(name) && !isForbiddenVariable(name) ? name : `SETPOINT_${name}`;
}

/** The edits of each file, and the new references of each target. */
export interface NamedEdits {
  readonly edits: ReadonlyMap<string, readonly Edit[]>;
  readonly references: ReadonlyMap<string, readonly NewReference[]>;
}

/**
 * Names the variables of all edits, none of them a name in `taken`. With `prefixed`, a variable in an environment's block starts
 * with the environment's name; otherwise it does so only if the plain name is taken.
 */
export function namedEdits(
  placed: readonly PlacedEdit[],
  taken: ReadonlySet<string>,
  prefixed: boolean,
): NamedEdits {
  const used = new Set(taken);
  const numbers = new Map<string, number>();
  const edits = new Map<string, Edit[]>();
  const references = new Map<string, NewReference[]>();
  for (const { layer, edit, targets } of placed) {
    const [, environment = null] = layer.prefix;
    const names = new Map<string, string>();
    for (const placeholder of edit.placeholders) {
      const name = freeName(candidates(placeholder, environment, prefixed), used, numbers);
      used.add(name);
      names.set(placeholder.marker, name);
    }
    const nameOf = (marker: string): string => names.get(marker) ?? marker;
    const named = { path: [...layer.prefix, ...edit.path], value: withNames(edit.value, nameOf) };
    edits.set(layer.file, [...(edits.get(layer.file) ?? []), named]);
    const added = edit.placeholders.map(({ marker, path, at, written }) => ({
      name: nameOf(marker),
      path,
      at,
      written: textWithNames(written, nameOf),
    }));
    for (const target of targets)
      references.set(target, [...(references.get(target) ?? []), ...added]);
  }
  return { edits, references };
}

function candidates(
  { names }: Placeholder,
  environment: string | null,
  prefixed: boolean,
): string[] {
  const own = environment === null ? [] : names.map((name) => variableName(environment, name));
  return prefixed ? [...own, ...names] : [...names, ...own];
}

/** `numbers` holds the last number given to each name, so that none is tried twice. */
function freeName(
  names: readonly string[],
  used: ReadonlySet<string>,
  numbers: Map<string, number>,
): string {
  const free = names.find((name) => !used.has(name));
  if (free !== undefined) return free;
  const [first = ''] = names;
  let number = (numbers.get(first) ?? 1) + 1;
  while (used.has(`${first}_${number}`)) number += 1;
  numbers.set(first, number);
  return `${first}_${number}`;
}

/** The names of the variables that a text reads. */
export function variablesIn(text: string): Set<string> {
  return new Set([...text.matchAll(/\$\{env:([A-Za-z_]\w*)/g)].map(([, name = '']) => name));
}
