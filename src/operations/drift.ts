import type { PlanDocument } from '../model/plan.ts';
import { plan } from './plan.ts';
import type { PlanRequest } from './options.ts';

/** Looks whether somebody changed a service behind its file's back: a plan that is not empty is drift. Reads only. */
export async function drift(
  options: Omit<PlanRequest, 'snapshot' | 'rotate' | 'allow'>,
): Promise<PlanDocument> {
  return plan(options);
}
