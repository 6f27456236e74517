import { formatPath } from '../model/path.ts';
import { changesOf, type Plan } from '../model/plan.ts';
import type { GuardSettings } from '../model/state.ts';

/** The rules that `--allow` lifts, each for one run. */
export const RULES = ['max-changes', 'lose-unreadable'] as const;
export type Rule = (typeof RULES)[number];

export interface Refusal {
  readonly rule: Rule;
  readonly message: string;
  readonly hint: string;
}

/** The rules by which a plan refuses itself, those in `allowed` lifted. An empty plan is never refused. */
export function guardPlan(plan: Plan, guards: GuardSettings, allowed: readonly Rule[]): Refusal[] {
  if (changesOf(plan).length === 0) return [];
  return [...tooMany(plan, guards), ...losing(plan, guards)].filter(
    ({ rule }) => !allowed.includes(rule),
  );
}

function tooMany(plan: Plan, { maxChanges }: GuardSettings): Refusal[] {
  const count = changesOf(plan).length;
  if (maxChanges === null || count <= maxChanges) return [];
  const message = `The plan makes ${count} ${count === 1 ? 'change' : 'changes'}; guards.max_changes is ${maxChanges}.`;
  return [
    {
      rule: 'max-changes',
      message,
      hint: 'If they are all meant, apply with --allow max-changes.',
    },
  ];
}

function losing(plan: Plan, guards: GuardSettings): Refusal[] {
  const lost = plan.settings.unpreservable.filter(
    ({ stops }) => stops === 'always' || guards.protected,
  );
  return lost.map(({ path, remedy }) => ({
    rule: 'lose-unreadable',
    message: `A write would wipe ${formatPath(path)}: the service does not say what it holds.`,
    hint: `In settings.yaml, ${remedy}; or apply with --allow lose-unreadable and lose it.`,
  }));
}
