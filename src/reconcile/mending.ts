import type { DesiredState, ObservedState } from '../model/state.ts';
import { recordOf, type Value, type ValueRecord } from '../model/value.ts';
import { withoutDoubled } from '../plan/mend-doubled.ts';
import { fallenFlags } from '../plan/untouched.ts';
import { managesField } from '../plan/managed.ts';

/**
 * The body of the one write that may follow the first, or null where none is needed: declared secrets whose flag fell come
 * along once more, and entries that the server adds by itself are left out as often as they doubled.
 */
export function mendingRecord(
  desired: DesiredState,
  sent: ValueRecord,
  before: ObservedState,
  look: ObservedState,
): ValueRecord | null {
  const undoubled = withoutDoubled(sent, before, look, desired);
  const fallen = new Set(fallenFlags(before, look).map(([name]) => name));
  const secrets: [string, Value][] = desired.fields
    .filter(
      ({ field, value }) =>
        fallen.has(field.name) && value !== null && managesField(desired, field.name),
    )
    .map(({ field, value }) => [field.name, value]);
  if (undoubled === null && secrets.length === 0) return null;
  return recordOf([...Object.entries(undoubled ?? sent), ...secrets]);
}
