import { isRename } from '../model/action.ts';
import {
  ACTIVE_FORM,
  AGENT_PROFILES_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
} from '../model/collection-forms.ts';
import type { DesiredState } from '../model/state.ts';
import { isList, isRecord, type Value } from '../model/value.ts';
import type { ReadCollection } from './listed.ts';

/** Names of the service that are others in the file, which is not applied yet. */
export type FormerNames = ReadonlySet<Value>;

export function formerNamesIn(read: readonly ReadCollection[], desired: DesiredState): FormerNames {
  const planned = read.flatMap((one) => one.plan(desired).changes);
  return new Set(planned.filter(isRename).map(({ before }) => before));
}

/** Blocks whose items name items of others. */
const REFERRING: ReadonlySet<string> = new Set(
  [LLM_PROFILES_FORM, META_PROFILES_FORM, AGENT_PROFILES_FORM, ACTIVE_FORM].map(
    ({ block }) => block,
  ),
);

/** Whether a value of a block names an item by its former name: in the file it would name nothing once that is applied. */
export function namesFormer(value: Value, block: string, formerNames: FormerNames): boolean {
  if (formerNames.size === 0 || !REFERRING.has(block)) return false;
  const isIn = (some: Value): boolean =>
    formerNames.has(some) ||
    (isList(some) && some.some(isIn)) ||
    (isRecord(some) && Object.values(some).some(isIn));
  return isIn(value);
}
