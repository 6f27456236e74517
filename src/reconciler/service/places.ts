import { fieldNamed, type FieldName } from '../model/field.ts';
import type { Path } from '../model/path.ts';
import {
  isRecord,
  recordOf,
  valueAt,
  WireNumber,
  type Value,
  type ValueRecord,
} from '../model/value.ts';

/** Where an answer has each field: for the dialects that nest them. */
export type Places = ReadonlyMap<FieldName, Path>;

/**
 * A record under setpoint's own names, and what it has no name for behind them, in the nesting of the server. `named` makes
 * the value of a field from what the record has at its place.
 */
export function flatRecord(
  record: ValueRecord,
  places: Places,
  named: (name: FieldName, value: Value) => Value,
): ValueRecord {
  const fields = [...places].map(
    ([name, path]) => [name, named(name, valueAt(record, path) ?? null)] as const,
  );
  const taken = new Set([...places.values()].map((path) => path.join(BETWEEN)));
  return recordOf([...fields, ...Object.entries(without(record, taken, ''))]);
}

/** Between the names of a path: free maps may have keys with dots. */
const BETWEEN = '\u0000';

function without(record: ValueRecord, taken: ReadonlySet<string>, path: string): ValueRecord {
  return recordOf(
    Object.entries(record)
      .filter(([name]) => !taken.has(path + name))
      .map(([name, value]) => [
        name,
        isRecord(value) ? without(value, taken, path + name + BETWEEN) : value,
      ]),
  );
}

/** The first place whose value has not the type of its field. A value that is not there is as good as null, unless it is required. */
export function unlikePlace(
  record: ValueRecord,
  places: Places,
  isRequired: (path: Path) => boolean,
): Path | null {
  const unlike = [...places].find(([name, path]) => {
    const value = valueAt(record, path);
    return !fits(name, value) || (value === undefined && isRequired(path));
  });
  return unlike === undefined ? null : unlike[1];
}

function fits(name: FieldName, value: Value | undefined): boolean {
  if (value === undefined || value === null) return true;
  const type = fieldNamed(name)?.type;
  if (type === 'object') return isRecord(value);
  if (type === 'integer' || type === 'number')
    return typeof value === 'number' || value instanceof WireNumber;
  return typeof value === type;
}
