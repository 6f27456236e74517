import { type Change, type PartPlan, type Plan } from '../model/plan.ts';
import { findActionEffect, isRename } from '../model/action.ts';
import {
  ACTIVE_FORM,
  AGENT_PROFILES_FORM,
  CONNECTIONS_FORM,
  LLM_PROFILES_FORM,
} from '../model/collection-forms.ts';
import { MODEL_PART, NATIVE_SERVERS } from '../model/field.ts';
import { normalPath } from '../model/path-facts.ts';
import { formatPath, isWithin, formatPathKey, type Path } from '../model/path.ts';
import type { Proof, ProofKind } from '../model/proof.ts';
import { SETTINGS } from './settings-part.ts';
import type { GuardFinding } from '../model/guard.ts';

/** A planned change that may not work, and that a service may be able to try. */
export interface Provable {
  readonly kind: ProofKind;
  /** The model of the settings, an mcp server as plans call it, or an item of a collection. */
  readonly path: Path;
}

/** Everything in a plan that may not work once it is applied, each once. What is removed or renamed needs no proof. */
export function listProvable(plan: Plan): readonly Provable[] {
  const found = plan.flatMap((part) =>
    part.changes
      .filter((change) => findActionEffect(change.action) !== 'drop' && !isRename(change))
      .flatMap((change) => ofChange(part, change)),
  );
  return [...new Map(found.map((one) => [formatPathKey(one.path), one])).values()];
}

/** A finding, and whether it refuses a plan even if the rule is off: the user asked, and the answer is no. */
export interface Unproven extends GuardFinding {
  readonly always: boolean;
}

/** The models, keys and mcp servers that a plan changes and that were never seen to work. Without `proofs` nothing was tried. */
export function listUnproven(plan: Plan, proofs: readonly Proof[] | undefined): Unproven[] {
  if (proofs === undefined)
    return listProvable(plan)
      .filter(({ kind }) => kind !== 'agent')
      .map(({ path }) => ({
        message: `Whether ${formatPath(path)} works has not been checked.`,
        path,
        always: false,
      }));
  return proofs.flatMap(({ kind, path, status, found }): Unproven[] => {
    if (status === 'works' || (status === 'not-checked' && kind === 'agent')) return [];
    const isFailed = status === 'fails';
    const what = isFailed ? 'does not work' : 'could not be checked';
    return [{ message: `${formatPath(path)} ${what}: ${found}.`, path, always: isFailed }];
  });
}

const KINDS: Readonly<Record<string, ProofKind>> = {
  [LLM_PROFILES_FORM.block]: 'model',
  [CONNECTIONS_FORM.block]: 'key',
  [AGENT_PROFILES_FORM.block]: 'agent',
};

function ofChange({ resource }: PartPlan, { path }: Change): Provable[] {
  const [block = '', name = ''] = path;
  if (resource.name === SETTINGS.name) return listSettingsProvable(path);
  if (resource.block === ACTIVE_FORM.block && name === 'llm_profile')
    return [{ kind: 'model', path: [block, name] }];
  const kind = KINDS[resource.block];
  return kind === undefined ? [] : [{ kind, path: [block, name] }];
}

function listSettingsProvable(path: Path): Provable[] {
  const place = normalPath(path);
  const inside = place.length - NATIVE_SERVERS.length - 1;
  if (isWithin(place, NATIVE_SERVERS))
    return [{ kind: 'server', path: path.slice(0, path.length - Math.max(0, inside)) }];
  const model: Provable = { kind: 'model', path: MODEL_PART };
  if (isWithin(place, MODEL_PART)) return [model];
  if (!isWithin(MODEL_PART, place)) return [];
  return [model, { kind: 'server', path: NATIVE_SERVERS }];
}
