import { isEmpty, isRecord, readPath, type ValueRecord } from '../model/value.ts';
import { withMembers } from './stored.ts';

/* What a change does to an automation besides what it sends, by the names of the file. */

/** The members of an event with their defaults. */
export const EVENT: Readonly<Record<string, null | boolean | string>> = {
  filter: null,
  destination: 'dispatch_run',
  subject_key_expr: null,
  turn_text_expr: null,
  wake_agent: true,
};

/**
 * An automation after a change of some members. A trigger is replaced whole, so that a schedule ends an event, and the other way round. An agent profile
 * brings its own model. Any change of one that continues conversations has it keep its sandbox.
 * Source: contract "model and agent profile exclude one another", "event: a continued conversation and keep_alive",
 * "patch: absent keeps, the trigger is replaced whole".
 */
export function automationAfter(stored: ValueRecord, sent: ValueRecord): ValueRecord {
  const merged = withMembers(stored, sent);
  const has = (name: string): boolean => !isEmpty(sent[name] ?? null);
  const trigger = has('event')
    ? { cron: null, timezone: null }
    : has('cron')
      ? { event: null, timezone: sent['timezone'] ?? stored['timezone'] ?? 'UTC' }
      : {};
  const model = has('agent_profile')
    ? { model: null }
    : has('model')
      ? { agent_profile: null }
      : {};
  const after = withMembers(merged, { ...trigger, ...model });
  return continuesConversation(after) ? withMembers(after, { keep_alive: true }) : after;
}

/** Reports whether events of an automation go on with a conversation, whose sandbox has to stay. */
export function continuesConversation({ event = null }: ValueRecord): boolean {
  return isRecord(event) && readPath(event, ['destination']) === 'continue_conversation';
}
