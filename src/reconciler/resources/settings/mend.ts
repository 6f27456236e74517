import { fieldNamed } from '../../model/field.ts';
import { formatPath, samePath, type Path } from '../../model/path.ts';
import type { SettingsPlan, SettingsWrite } from '../../model/plan.ts';
import type { DesiredState, ObservedState } from '../../model/state.ts';
import type { Value } from '../../model/value.ts';
import { managesField } from '../../plan/managed.ts';
import { NOTHING_KNOWN, planSettings } from '../../plan/plan-settings.ts';
import { lostSecrets, removesCopy, serverOwned, withoutDoubled } from '../../plan/side-effects.ts';

/**
 * The one write that may follow the first, or null if none is needed: it sends declared secrets that were lost once more, and leaves out entries that the server adds by itself as often as they doubled. It is made from the latest
 * observation, so that what somebody else has written since the first write stays.
 *
 * Null, too, if it would do more than the approved plan: what changed meanwhile has passed no guard, and nobody has approved
 * it. The verification reports it, and the next run plans it.
 */
export function mendingWrite(
  desired: DesiredState,
  plan: SettingsPlan,
  before: ObservedState,
  latest: ObservedState,
): SettingsWrite | null {
  const sent = plan.write?.fields ?? {};
  const lost = new Set(lostSecrets(before, latest).map(fieldOf));
  const secrets = desired.fields.filter(
    ({ field, value }) =>
      lost.has(field.name) && value !== null && managesField(desired, field.name),
  );
  // What cannot be read back is in no observation: it is sent again as the first write sent it.
  const along = new Map<string, Value>([
    ...desired.fields.flatMap(({ field: { name } }): [string, Value][] => {
      const isShown = latest.dialect.fields.get(name)?.reads === 'value';
      return isShown || !(name in sent) ? [] : [[name, sent[name] ?? null]];
    }),
    ...secrets.map(({ field, value }) => [field.name, value] as const),
  ]);
  const fresh = planSettings(desired, latest, { ...NOTHING_KNOWN, along });
  const { write } = fresh;
  const undoubled =
    write === null ? null : withoutDoubled(write, before, latest, desired, plan.changes);
  const owned = serverOwned(before, latest, desired);
  if (undoubled === null && secrets.length === 0) return null;
  const isApproved = fresh.changes.every(
    (change) =>
      plan.changes.some(({ path }) => samePath(path, change.path)) ||
      lost.has(fieldOf(change.path)) ||
      removesCopy(change, owned),
  );
  const losesMore = fresh.unpreservable.some(
    ({ path, stops }) =>
      stops === 'always' && !plan.unpreservable.some((one) => samePath(one.path, path)),
  );
  return isApproved && !losesMore ? (undoubled ?? write) : null;
}

/** The field that a path of a secret is in, by the name that plans have for it. */
function fieldOf(path: Path): string {
  const [name = ''] = path;
  return fieldNamed(name) === undefined ? formatPath(path) : name;
}
