import { SetpointError } from '../model/error.ts';
import { RULES, type Rule } from '../model/guard.ts';
import { didYouMean } from '../model/suggest.ts';
import type { PlanRequest } from './options.ts';

/** The guards that `--allow` lifts for this run. Throws a usage error if one is no rule. */
export function allowedRules({ allow = [] }: PlanRequest): readonly Rule[] {
  return allow.map((text) => {
    const rule = RULES.find((known) => known === text.replaceAll('_', '-'));
    if (rule !== undefined) return rule;
    const hint = didYouMean(text, RULES) || `The rules are ${RULES.join(', ')}.`;
    throw new SetpointError('usage', '--allow takes the name of a rule.', { hint });
  });
}
