import type { SetpointError } from '../model/error.ts';
import type { ErrorReport } from '../model/plan.ts';

export function errorReport({ code, message, hint }: SetpointError): ErrorReport {
  return { code, message, hint };
}
