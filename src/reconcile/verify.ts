import type { Remainder } from '../model/outcome.ts';
import { formatPath } from '../model/path.ts';
import type { Change, Unknown } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { masked } from '../model/value.ts';
import { NOTHING_KNOWN, planSettings } from '../plan/plan-settings.ts';
import { lostSecrets, touchedBetween } from '../plan/side-effects.ts';
import { managesField } from '../plan/managed.ts';
import { observePastLag } from './observe-past-lag.ts';
import type { ReconcileInput } from './reconciled.ts';

/** What a look after the write shows: `remaining` is empty where the service holds what was asked for and nothing else moved. */
export interface Verification {
  readonly look: ObservedState;
  readonly remaining: readonly Remainder[];
  readonly unknown: readonly Unknown[];
}

/**
 * Observes until the service shows the write, or something else than an earlier state: the one before the write, and those
 * between two writes. An observation after a request to stop is the last.
 */
export async function verify(
  input: ReconcileInput,
  before: ObservedState,
  between: readonly ObservedState[] = [],
): Promise<Verification> {
  const look = await observePastLag(
    input,
    [before, ...between],
    (shown) => compare(input, before, shown).remaining.length === 0,
  );
  return compare(input, before, look);
}

function compare(
  { desired }: ReconcileInput,
  before: ObservedState,
  look: ObservedState,
): Verification {
  const plan = planSettings(desired, look, NOTHING_KNOWN);
  const touched = touchedBetween(before, look, desired).map(
    ({ path, before: was, after }): Remainder => ({
      resource: 'settings',
      path,
      expected: masked(was),
      actual: masked(after),
      reason: 'changed by the write though the file does not manage it',
      hint: 'Look at the service: something else writes these settings, or it does not keep what it is sent.',
    }),
  );
  const fallen = lostSecrets(before, look)
    .filter(([name]) => !managesField(desired, name ?? ''))
    .map((path): Remainder => ({
      resource: 'settings',
      path,
      expected: '(sensitive)',
      actual: null,
      reason: 'was set before the write, and is not any more',
      hint: `Declare ${formatPath(path)} as a reference, so that it goes along with the write.`,
    }));
  return {
    look,
    remaining: [...plan.changes.map(remainder), ...touched, ...fallen],
    unknown: plan.unknown,
  };
}

function remainder(change: Change): Remainder {
  return {
    resource: 'settings',
    path: change.path,
    expected: masked(change.after),
    actual: masked(change.before),
    ...why(change),
  };
}

function why(change: Change): { reason: string; hint: string } {
  if (change.action === 'remove') {
    return {
      reason: 'came back after its removal: the server adds it by itself',
      hint: `Leave it to the server: unmanaged: [${JSON.stringify(formatPath(change.path).replace(/#\d+\]$/, ']'))}]`,
    };
  }
  if (change.path[0] === 'secrets_store') {
    return {
      reason: 'the service drops what it is sent here',
      hint: 'Set these secrets by other means; remove secrets_store from the file.',
    };
  }
  return {
    reason: 'the service does not keep what it is sent',
    hint: 'Run setpoint plan to see what is left; the service may rewrite or refuse this value.',
  };
}
