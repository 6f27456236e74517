import type { ObservedState } from '../model/state.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';
import { openTarget } from './open-target.ts';
import { asSetpointError } from '../model/error.ts';
import { interruption } from '../reconcile/interruption.ts';
import { settingsObserver } from '../service/observe.ts';

/** One look at a target's settings. Throws what stood in the way. */
export async function observedBy(prepared: Prepared, options: Options): Promise<ObservedState> {
  try {
    const open = await openTarget(prepared, options);
    try {
      return await settingsObserver(open.connection, open.limits).observe(options.signal);
    } finally {
      await open.close();
    }
  } catch (thrown) {
    throw interruption(options.signal) ?? asSetpointError(thrown);
  }
}
