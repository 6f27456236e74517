import { asSetpointError, SetpointError } from '../model/error.ts';
import type { ErrorReport } from '../model/plan.ts';
import { interruption } from '../reconcile/interruption.ts';
import { errorReport } from './error-report.ts';
import { withTarget, type OpenTarget } from './open-target.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';

/** What may be shown of where a target is; null where that is not known. */
export function originOf({ server }: Prepared): string | null {
  return server instanceof SetpointError ? null : server.origin;
}

/** Looks at a target, reading only; an error is what the target's part of a document says. */
export async function lookAt<T>(
  prepared: Prepared,
  options: Options,
  on: {
    readonly open: (target: OpenTarget) => Promise<T>;
    readonly failed: (error: ErrorReport) => T;
  },
): Promise<T> {
  try {
    return await withTarget(prepared, options, on.open);
  } catch (thrown) {
    return on.failed(errorReport(interruption(options.signal) ?? asSetpointError(thrown)));
  }
}
