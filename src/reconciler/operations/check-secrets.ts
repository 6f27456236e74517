import { warnedCheck, type Check } from '../model/doctor.ts';
import { SetpointError } from '../model/error.ts';
import type { DesiredState } from '../model/state.ts';
import { changesOf, unknownOf } from '../model/plan.ts';
import { secretsIn } from '../model/value.ts';
import { waysOf, waysSentences } from '../model/ways.ts';
import { counted } from '../model/wording.ts';
import { observeAndPlan } from '../reconcile/observe-and-plan.ts';
import type { Probe } from '../service/settings.ts';
import type { OpenTarget } from './open-target.ts';
import type { Options } from './options.ts';
import { planInput } from './plan-target.ts';
import { shownOrigin, type Prepared } from './prepare.ts';
import type { Running } from './redacting.ts';

/** That a new value of a stored secret would not be noticed; nothing if it would, or if that does not show: a plan says why. */
export async function secretsCheck(
  prepared: Prepared,
  open: OpenTarget & Pick<Probe, 'outcome'>,
  options: Running<Options>,
): Promise<Check<'secrets'>[]> {
  const { server, desired } = prepared;
  const { outcome } = open;
  if (outcome instanceof SetpointError || server instanceof SetpointError) return [];
  if (!declaresSecrets(desired)) return [];
  const comparing = server.compareSecrets ? open.comparing : { observe: async () => outcome };
  const none = { rotation: [], allowed: [], baseOf: () => null };
  try {
    const { plan } = await observeAndPlan(
      await planInput(prepared, { ...open, comparing }, options, none),
    );
    const found = { dialect: outcome.dialect.name, origin: shownOrigin(prepared) };
    const ways = waysOf({ ...found, unknown: unknownOf(plan), changes: changesOf(plan) });
    if (ways.stored.length === 0) return [];
    const count = unknownOf(plan).filter(({ kind }) => kind === 'stored').length;
    const told = `${counted(count, 'stored secret')} cannot be compared`;
    return [warnedCheck('secrets', told, waysSentences(ways, 'drift').join(' '))];
  } catch {
    return [];
  }
}

function declaresSecrets({ fields, items }: DesiredState): boolean {
  const inItems = [...items.values()].flat().flatMap(({ values = [] }) => values);
  return [...fields, ...inItems].some(({ value }) => secretsIn(value).length > 0);
}
