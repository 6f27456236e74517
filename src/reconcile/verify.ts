import type { Remainder } from '../model/outcome.ts';
import { formatPath } from '../model/path.ts';
import type { Change, Unknown } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { masked } from '../model/value.ts';
import { NOTHING_KNOWN, planSettings } from '../plan/plan-settings.ts';
import { fallenFlags, touchedBetween } from '../plan/untouched.ts';
import { managesField } from '../plan/managed.ts';
import { interruption, unlessAbandoned } from './interruption.ts';
import type { ReconcileInput } from './reconciled.ts';
import { sameLook } from './send.ts';

/** What a look after the write shows: `remaining` is empty where the service holds what was asked for and nothing else moved. */
export interface Verification {
  readonly look: ObservedState;
  readonly remaining: readonly Remainder[];
  readonly unknown: readonly Unknown[];
}

/** A look that still shows the old record may be a stale one: it is taken again after these pauses, in milliseconds. */
const PAUSES = [500, 1000, 2000, 4000];

/** Looks until the service shows the write, or shows something else than before. A look that was asked to stop is the last. */
export async function verify(input: ReconcileInput, before: ObservedState): Promise<Verification> {
  for (let attempt = 0; ; attempt++) {
    const look = await unlessAbandoned(input.observer.observe(), input.abandon);
    const verification = compare(input, before, look);
    const pause = PAUSES[attempt];
    const stale = verification.remaining.length > 0 && sameLook(before, look);
    if (!stale || pause === undefined || interruption(input.signal) !== null) return verification;
    await input.clock.sleep(pause);
  }
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
  const fallen = fallenFlags(before, look)
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
      hint: `Let go of it: unmanaged: [${JSON.stringify(formatPath(change.path).replace(/#\d+\]$/, ']'))}]`,
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
