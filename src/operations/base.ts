import { SetpointError } from '../model/error.ts';
import type { Plan } from '../model/plan.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { readingProblem, travelPolicyIn } from '../desired/key-travel.ts';
import { resolveSettings } from '../desired/resolve.ts';
import type { PlanOptions } from '../plan/plan-settings.ts';
import { classified } from '../plan/three-way.ts';
import { InvalidSettings, loadTargets } from './load.ts';
import type { Options } from './options.ts';
import { travelError, type Prepared } from './prepare.ts';
import { sourceFor, type Running } from './redacting.ts';

/** Adds to a plan what has moved since the file was last applied. */
export type Classify = (plan: Plan, observed: ObservedState) => Plan;

/**
 * How the changes of each target are told apart by `--base`; without it they are left as they are. A target that the earlier
 * file does not have declared nothing then. `source` looks its references up. `reached` are the targets whose references are
 * looked up: the earlier file may read the variables and files that the settings file may, and no others. Throws if it reads
 * others, or is not right.
 */
export function classifierFor(
  options: Running<Options>,
  reached: readonly Pick<Prepared, 'target' | 'server'>[],
  source?: ReferenceSource,
): (prepared: Pick<Prepared, 'target' | 'desired'>, planning: PlanOptions) => Classify {
  if (options.base === undefined) return () => (plan) => plan;
  if ([options.file ?? []].flat().length > 1) {
    throw new SetpointError('usage', '--base is about one settings file, and there are several.', {
      hint: 'Choose one with -f.',
    });
  }
  const base = { ...options, file: options.base, text: undefined };
  const { targets, diagnostics } = loadTargets(base);
  if (diagnostics.some(({ severity }) => severity === 'error'))
    throw new InvalidSettings(diagnostics);
  const byName = new Map(targets.map((target) => [target.name, target]));
  const policy = travelPolicyIn(options.env);
  for (const { target, server } of reached) {
    if (server instanceof SetpointError) continue;
    const problem = readingProblem([byName.get(target.name)?.settings], server, policy);
    if (problem !== null)
      throw travelError({ ...problem, message: `${options.base}: ${problem.message}` });
  }
  return ({ target, desired }, planning) => {
    const earlier = byName.get(target.name);
    const state: DesiredState =
      earlier === undefined
        ? { ...desired, fields: [], missing: [], unmanaged: [], sandboxes: [] }
        : resolveSettings(earlier, source ?? sourceFor([target.name], options));
    return (plan, observed) => classified(plan, desired, state, observed, planning);
  };
}
