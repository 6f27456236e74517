import { resolveSettings } from '../../../src/reconciler/desired/resolve.ts';
import { readTargets } from '../../../src/reconciler/desired/target.ts';
import type { Plan, SettingsPlan } from '../../../src/reconciler/model/plan.ts';
import type { DesiredState, ObservedState } from '../../../src/reconciler/model/state.ts';
import { planEnvironment, type PlanResult } from '../../../src/reconciler/plan/plan-environment.ts';
import { type PlanTerms, planSettingsPart } from '../../../src/reconciler/plan/settings-part.ts';
import {
  NOTHING_KNOWN,
  planSettings,
  type PlanOptions,
} from '../../../src/reconciler/plan/plan-settings.ts';
import { observedOf } from '../../fixture/observed.ts';

/** What a file declares whose settings block has these lines; references are variables, and those not given are missing. */
export function declared(
  settings: string,
  variables: Readonly<Record<string, string>> = {},
  blocks = '',
): DesiredState {
  const text = `version: 1
server: { url: "https://agents.example.com" }
${blocks}
settings:
${settings.replaceAll(/^/gm, '  ')}
`;
  const { targets, diagnostics } = readTargets(
    { path: 'settings.yaml', text, bases: [] },
    { serverGiven: false, several: false },
  );
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [target] = targets;
  if (target === undefined || errors.length > 0) throw new Error(JSON.stringify(errors));
  return resolveSettings(target, {
    variable: (name) => variables[name],
    file: () => ({ problem: 'none' }),
  });
}

/** The plan of such a file against a service that answers a record. */
export function planned(
  desired: DesiredState,
  record: Readonly<Record<string, unknown>>,
  more: Partial<PlanOptions> = {},
): SettingsPlan {
  return planSettings(desired, observedOf(record), { ...NOTHING_KNOWN, ...more });
}

/** The plan of an environment that declares its settings and, at most, these other parts. */
export function environmentPlanned(
  terms: PlanTerms,
  observed: ObservedState,
  others: Plan = [],
): PlanResult {
  return planEnvironment(terms, observed, [planSettingsPart(terms, observed), ...others]);
}
