import { timingSafeEqual } from 'node:crypto';
import { nameGiven } from '../watch/watching.ts';
import { refusalAnswer, type Call, type RouteContext } from './answers.ts';

/** Refuses an action to whom it is not allowed; null if it is. */
export function refuseForbiddenAction(served: RouteContext, call: Call): Response | null {
  const { kind, session } = call.get('visitor');
  const refuse = (status: 401 | 403, title: string, hint: string): Response =>
    refusalAnswer(served, call, status, title, hint);
  if (!served.access.canAct)
    return refuse(403, 'Actions are off.', 'Start setpoint watch with --allow-actions.');
  if (kind === 'anybody') return refuse(401, 'Log in first.', 'Actions need the token.');
  const form = call.get('form');
  if (session !== null && !hasSameBytes(form.get('form_token') ?? '', session.formToken))
    return refuse(403, 'The form is not of this session.', 'Load the page again.');
  return null;
}

/** Returns the actor for the journal: the name of the session, or the name that a tool sends. Throws a usage error. */
export function resolveRequestActor(call: Call): { readonly by?: string } {
  const { session } = call.get('visitor');
  const name = session === null ? nameGiven(call.get('form').get('by')) : session.who;
  return name === '' ? {} : { by: name };
}

function hasSameBytes(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
