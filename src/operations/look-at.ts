import { asSetpointError, SetpointError } from '../model/error.ts';
import type { ErrorReport } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { interruption } from '../reconcile/interruption.ts';
import { settingsObserver } from '../service/observe.ts';
import { errorReport } from './error-report.ts';
import { openTarget } from './open-target.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';

/** What may be shown of where a target is; null where that is not known. */
export function originOf({ server }: Prepared): string | null {
  return server instanceof SetpointError ? null : server.origin;
}

/** One look at a target's settings, reading only; an error is what the target's part of a document says. */
export async function lookAt<T>(
  prepared: Prepared,
  options: Options,
  on: { readonly seen: (observed: ObservedState) => T; readonly failed: (error: ErrorReport) => T },
): Promise<T> {
  try {
    const open = await openTarget(prepared, options);
    try {
      const observer = settingsObserver(open.connection, open.limits);
      return on.seen(await observer.observe(options.signal));
    } finally {
      await open.close();
    }
  } catch (thrown) {
    return on.failed(errorReport(interruption(options.signal) ?? asSetpointError(thrown)));
  }
}
