import { isNamedKey, settingsNodes } from '../desired/schema-lookup.ts';
import { isSecretNode } from '../model/native-schema.ts';
import { formatPath, type Path } from '../model/path.ts';
import { holdsSecretText, isSecretText } from '../model/secret-words.ts';
import { Secret } from '../model/secret.ts';
import { isList, isRecord, type Json, type Value } from '../model/value.ts';
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

/** A value in the form of a file, whatever is in it: a secret, or a possible one, as a reference. Null if a file cannot contain it. */
export function writeDeepValue(
  value: Value,
  place: WrittenPlace,
  before?: Value,
): WrittenValue | null {
  if (isList(value)) {
    const items = value.map((item, index) =>
      writeDeepValue(item, placeUnder(place, String(index)), value[index - 1] ?? ''),
    );
    return joinWrittenParts(items, (written) => written);
  }
  if (isRecord(value)) {
    const keys = Object.keys(value);
    const members = keys.map((key) => writeDeepValue(value[key] ?? null, placeUnder(place, key)));
    return joinWrittenParts(members, (written) =>
      Object.fromEntries(written.map((member, index) => [keys[index] ?? '', member])),
    );
  }
  return writeScalarValue(value, place, before);
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

/** The place of a member, or of an item of a list. */
export function placeUnder(place: WrittenPlace, key: string): WrittenPlace {
  return {
    ...place,
    schema: [...place.schema, key],
    path: [...place.path, key],
    at: [...place.at, key],
    names: (inner) => place.names([key, ...inner]),
  };
}

function joinWrittenParts(
  parts: readonly (WrittenValue | null)[],
  join: (values: readonly Json[]) => Json,
): WrittenValue | null {
  const known = parts.flatMap((part) => part ?? []);
  if (known.length < parts.length) return null;
  return {
    value: join(known.map(({ value }) => value)),
    placeholders: known.flatMap(({ placeholders }) => placeholders),
  };
}

function writeScalarValue(value: Value, place: WrittenPlace, before?: Value): WrittenValue | null {
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

/**
 * Reports whether a text that the service shows has the form of a secret. A text that a schema names may be prose or an id: there, only a
 * word of a well-known form counts.
 */
export function looksSecret(text: string, schema: Path): boolean {
  return holdsSecretText(text) || (!isNamedKey(schema) && isSecretText(text));
}
