import { isNamedKey, settingsNodes } from '../desired/schema-lookup.ts';
import { isSecretNode } from '../model/native-schema.ts';
import { formatPath, type Path } from '../model/path.ts';
import { holdsSecretText, isSecretText } from '../model/secret-words.ts';
import { Secret } from '../model/secret.ts';
import type { Json, Value } from '../model/value.ts';
import { createVariableMarker, markerReference, type Placeholder } from './placeholder.ts';

import { isHeaderPlace, openText, type TextPlace } from './program-text.ts';
import type { WrittenValue } from './program.ts';
import { toWritableScalar, escapeReferences, hasHiddenSecret } from './writable.ts';

/** A place of the service's record whose value goes into a file. */
export interface WrittenPlace {
  /** The path in a settings file, under `settings`. For an entry, a position replaces its identity. */
  readonly schema: Path;
  /** Its path in plans. */
  readonly path: Path;
  /** Its path among the observed values. */
  readonly at: Path;
  /** The names for the variable of a reference at this place or under it, the preferred one first. */
  readonly names: (inner: Path) => readonly string[];
  /** Resolved values of references. None of them is written literally. */
  readonly hidden: readonly Secret[];
}

type Nested<Scalar> =
  | Scalar
  | readonly Nested<Scalar>[]
  | { readonly [key: string]: Nested<Scalar> };

/** A value with each scalar in it written, with the keys that lead to it and the item before it; undefined if one cannot be written, or a name not be shown. */
export function writeNested<Scalar>(
  value: Nested<Scalar>,
  write: (scalar: Scalar, path: Path, before?: Nested<Scalar>) => Json | undefined,
  isOpenKey: (key: string) => boolean = () => true,
  path: Path = [],
  before?: Nested<Scalar>,
): Json | undefined {
  const isArray = Array.isArray(value);
  if (!isArray && !isNestedRecord(value)) return write(value, path, before);
  const written = Object.entries<Nested<Scalar>>(value).map(([key, one], index) => {
    const former = isArray ? (value[index - 1] ?? '') : undefined;
    return [
      key,
      writeNested(one, write, isOpenKey, [...path, key], former as Nested<Scalar>),
    ] as const;
  });
  const known = written.flatMap(([key, one]) =>
    one === undefined || (!isArray && !isOpenKey(key)) ? [] : [[key, one] as const],
  );
  if (known.length < written.length) return undefined;
  return isArray ? known.map(([, one]) => one) : Object.fromEntries(known);
}

/** A value in the form of a file, whatever is in it: a secret, or a possible one, as a reference. Null if a file cannot contain it. */
export function writeDeepValue(value: Value, place: WrittenPlace): WrittenValue | null {
  return collectWritten(value, place, writeScalarValue);
}

/** A value with each scalar written by a function, and the placeholders of all. Null if one cannot be written. */
export function collectWritten(
  value: Value,
  place: WrittenPlace,
  write: (scalar: Value, place: WrittenPlace, before?: Value) => WrittenValue | null,
): WrittenValue | null {
  const placeholders: Placeholder[] = [];
  const written = writeNested<Value>(value, (scalar, path, before) => {
    const one = write(scalar, path.reduce(placeUnder, place), before);
    placeholders.push(...(one?.placeholders ?? []));
    return one?.value;
  });
  return written === undefined ? null : { value: written, placeholders };
}

/** A value as a file writes it at a place of the settings; null if a reference would be in it. */
export function openValue(
  value: Value,
  path: Path,
  hidden: readonly Secret[],
): WrittenValue | null {
  const written = writeDeepValue(value, { schema: path, path, at: path, names: () => [], hidden });
  return written !== null && written.placeholders.length === 0 ? written : null;
}

function placeUnder(place: WrittenPlace, key: string): WrittenPlace {
  return {
    ...place,
    schema: [...place.schema, key],
    path: [...place.path, key],
    at: [...place.at, key],
    names: (inner) => place.names([key, ...inner]),
  };
}

export function writeScalarValue(
  value: Value,
  place: WrittenPlace,
  before?: Value,
): WrittenValue | null {
  const isSecret = isSecretNode(settingsNodes(place.schema));
  if (value instanceof Secret) {
    if (value.isEmpty()) return isSecret ? null : createPlainWritten('');
    const at = textPlace(place, before);
    const text = openText(value, at, place.hidden);
    if (text === null) return null;
    const { open, rest } = text;
    if (rest || isSecret)
      return createSecretReference(
        value,
        place,
        isSecret && !isHeaderPlace(at.names) ? '' : String(open),
      );
    return createPlainWritten(typeof open === 'string' ? escapeReferences(open) : open);
  }
  if (typeof value === 'string' && value !== '') {
    const mustHide =
      isSecret || hasHiddenSecret(value, place.hidden) || looksSecret(value, place.schema);
    if (mustHide) return createSecretReference(value, place);
  }
  const written = hasHiddenSecret(value, place.hidden) ? null : toWritableScalar(value);
  return written === null ? null : createPlainWritten(written.written);
}

function textPlace({ schema }: WrittenPlace, before: Value | undefined): TextPlace {
  const isPosition = (key: string) => /^\d+$/.test(key);
  const last = schema.findLastIndex((key) => !isPosition(key));
  // The schema's own names do not describe their content, except for headers.
  const names = schema.filter(
    (key, index) =>
      !isPosition(key) &&
      (index === last || /headers?$/i.test(key) || !isNamedKey(schema.slice(0, index + 1))),
  );
  return { names, item: before === undefined ? null : { list: schema[last] ?? '', before } };
}

function createPlainWritten(value: Json): WrittenValue {
  return { value, placeholders: [] };
}

/** The reference for a secret at a place, behind the part of it that the file may hold. */
export function createSecretReference(
  secret: Value,
  { path, at, names }: WrittenPlace,
  open = '',
): WrittenValue {
  const marker = createVariableMarker('place', formatPath(path));
  const written = escapeReferences(open) + markerReference(marker);
  const placeholder: Placeholder = { marker, path, at, secret, written, names: names([]) };
  return { value: written, placeholders: [placeholder] };
}

/** Records are objects without a class; scalars may be of one. */
function isNestedRecord(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/**
 * Reports whether a text that the service shows has the form of a secret. A text that a schema names may be prose or an id: there, only a
 * word of a well-known form counts.
 */
export function looksSecret(text: string, schema: Path): boolean {
  return holdsSecretText(text) || (!isNamedKey(schema) && isSecretText(text));
}
