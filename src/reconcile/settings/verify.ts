import type { Remainder } from '../../model/outcome.ts';
import { formatPath, type Path } from '../../model/path.ts';
import type { Change, Unknown } from '../../model/plan.ts';
import type { ObservedState } from '../../model/state.ts';
import { masked } from '../../model/value.ts';
import { NOTHING_KNOWN, planSettings } from '../../plan/plan-settings.ts';
import { lostSecrets, touchedBetween } from '../../plan/side-effects.ts';
import { managesField } from '../../plan/managed.ts';
import { observePastLag } from './observe.ts';
import type { ReconcileInput } from '../contract.ts';

/** What an observation after the write shows: `remaining` is empty if the service has what was declared and nothing else changed. */
export interface Verification {
  readonly observed: ObservedState;
  readonly remaining: readonly Remainder[];
  readonly unknown: readonly Unknown[];
}

/**
 * Observes until the service shows the write, or another state than the earlier ones: that before the write, and those between
 * two writes. An observation after a request to stop is the last. `expected` is what the write makes of what the file does not manage.
 */
export async function verify(
  input: ReconcileInput,
  before: ObservedState,
  expected: ObservedState,
  between: readonly ObservedState[] = [],
): Promise<Verification> {
  const observed = await observePastLag(
    input,
    [before, ...between],
    (shown) => compare(input, expected, shown).remaining.length === 0,
  );
  return compare(input, expected, observed);
}

function compare(
  { desired }: ReconcileInput,
  before: ObservedState,
  observed: ObservedState,
): Verification {
  const plan = planSettings(desired, observed, NOTHING_KNOWN);
  const touched = touchedBetween(before, observed, desired).map(
    ({ path, before: was, after }): Remainder => ({
      resource: 'settings',
      path,
      expected: masked(was),
      actual: masked(after),
      reason: 'changed by the write though the file does not manage it',
      hint: 'Check the service: something else writes these settings, or it does not keep what it is sent.',
    }),
  );
  const fallen = lostSecrets(before, observed)
    .filter(
      (path) => !managesField(desired, path[0] ?? '') && !managesField(desired, formatPath(path)),
    )
    .map((path): Remainder => ({
      resource: 'settings',
      path,
      expected: '(sensitive)',
      actual: null,
      reason: 'was set before the write, and is not set any more',
      hint: `Declare ${formatPath(path)} as a reference, so that every write sends it.`,
    }));
  return {
    observed,
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
    ...causeOf(change),
  };
}

export const CAME_BACK = 'came back after its removal: the server adds it by itself';

/** The line of a settings file that leaves entries alone, each once, whichever of its copies is named. */
export function unmanagedLine(entries: readonly Path[]): string {
  const names = entries.map((path) => formatPath(path).replace(/#\d+\]$/, ']'));
  return `unmanaged: ${JSON.stringify([...new Set(names)])}`;
}

function causeOf(change: Change): { reason: string; hint: string } {
  if (change.action === 'remove') {
    return {
      reason: CAME_BACK,
      hint: `Leave it to the server: ${unmanagedLine([change.path])}`,
    };
  }
  return {
    reason: 'the service does not keep what it is sent',
    hint: 'Run setpoint plan to see what is left; the service may rewrite or refuse this value.',
  };
}
