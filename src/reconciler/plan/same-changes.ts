import { samePath } from '../model/path.ts';
import type { SettingsPlan } from '../model/plan.ts';
import { sameValue } from '../model/value.ts';

/** Whether two plans make the same changes: paths, actions, and values before and after, secrets compared by value. */
export function sameChanges(a: SettingsPlan, b: SettingsPlan): boolean {
  return (
    a.changes.length === b.changes.length &&
    a.changes.every((change, index) => {
      const other = b.changes[index];
      return (
        other !== undefined &&
        change.action === other.action &&
        samePath(change.path, other.path) &&
        sameValue(change.before, other.before) &&
        sameValue(change.after, other.after)
      );
    })
  );
}
