import { samePath } from '../model/path.ts';
import type { SettingsPlan } from '../model/plan.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import type { Value, ValueRecord } from '../model/value.ts';
import { managesField } from '../plan/managed.ts';
import { withoutDoubled } from '../plan/mend-doubled.ts';
import { NOTHING_KNOWN, planSettings } from '../plan/plan-settings.ts';
import { fallenFlags } from '../plan/untouched.ts';

/**
 * The body of the one write that may follow the first, or null when none is needed: declared secrets whose flag fell come
 * along once more, and entries that the server adds by itself are left out as often as they doubled. It is made from the
 * latest observation, so that what somebody else has written since the first write stays.
 *
 * Null, too, when it would do more than the approved plan: what moved meanwhile has passed no guard and nobody has seen it.
 * The verification reports it, and the next run plans it.
 */
export function mendingRecord(
  desired: DesiredState,
  plan: SettingsPlan,
  before: ObservedState,
  look: ObservedState,
): ValueRecord | null {
  const sent = plan.record ?? {};
  const fallen = new Set(fallenFlags(before, look).map(([name = '']) => name));
  const secrets = desired.fields.filter(
    ({ field, value }) =>
      fallen.has(field.name) && value !== null && managesField(desired, field.name),
  );
  // What cannot be read back is in no observation: what the first write carried goes along again.
  const along = new Map<string, Value>([
    ...desired.fields.flatMap(({ field: { name, readable } }): [string, Value][] =>
      readable || !(name in sent) ? [] : [[name, sent[name] ?? null]],
    ),
    ...secrets.map(({ field, value }) => [field.name, value] as const),
  ]);
  const fresh = planSettings(desired, look, { ...NOTHING_KNOWN, along });
  const body = fresh.record ?? {};
  const undoubled = withoutDoubled(body, before, look, desired);
  if (undoubled === null && secrets.length === 0) return null;
  const isApproved = fresh.changes.every(
    ({ path }) =>
      plan.changes.some((change) => samePath(change.path, path)) || fallen.has(path[0] ?? ''),
  );
  const losesMore = fresh.unpreservable.some(
    ({ path, stops }) =>
      stops === 'always' && !plan.unpreservable.some((one) => samePath(one.path, path)),
  );
  return isApproved && !losesMore ? (undoubled ?? body) : null;
}
