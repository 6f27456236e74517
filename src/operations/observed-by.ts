import type { ObservedState } from '../model/state.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';
import { withTarget } from './open-target.ts';
import { asSetpointError } from '../model/error.ts';
import { interruption } from '../reconcile/interruption.ts';
import { settingsObserver } from '../service/settings.ts';

/** One look at a target's settings. Throws what stood in the way. */
export async function observedBy(prepared: Prepared, options: Options): Promise<ObservedState> {
  try {
    return await withTarget(prepared, options, ({ connection, limits }) =>
      settingsObserver(connection, limits).observe(options.signal),
    );
  } catch (thrown) {
    throw interruption(options.signal) ?? asSetpointError(thrown);
  }
}
