import { isJsonObject, memberOf, type Json, type JsonObject } from '../json.ts';
import {
  bad,
  checkObject,
  type Location,
  type Member,
  type Problem,
  type Verdict,
} from '../validation/rule.ts';
import { flagRule, nullable, textRule } from '../validation/scalar-rules.ts';

/** The request for a new conversation; `body` is all of it, as it was sent. */
export interface StartRequest {
  readonly body: JsonObject;
  /** Null to start a new sandbox. */
  readonly sandboxId: string | null;
  readonly title: string | null;
  readonly model: string | null;
  /** Whether the agent works on an initial message. */
  readonly runs: boolean;
}

export type StartRequestReading =
  | { readonly kind: 'request'; readonly request: StartRequest }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

const members: readonly Member[] = [
  { name: 'sandbox_id', rule: nullable(textRule), absent: null },
  { name: 'initial_message', rule: nullable(initialMessage), absent: null },
  { name: 'llm_model', rule: nullable(textRule), absent: null },
  { name: 'title', rule: nullable(textRule), absent: null },
];
const messageMembers: readonly Member[] = [{ name: 'run', rule: flagRule, absent: false }];

/**
 * The start request of a body, or every problem of it. Only the members that make a difference here are checked; a real
 * server knows more of them. Source: specification 4.1; behaviour 3.4, AppConversationStartRequest.
 */
export function readStartRequest(body: Json): StartRequestReading {
  const verdict = verdictOn(body);
  if (verdict.kind === 'bad') return verdict;
  if (verdict.kind === 'crash' || !isJsonObject(body)) return { kind: 'bad', problems: [] };
  const message = memberOf(verdict.value, 'initial_message') ?? null;
  return {
    kind: 'request',
    request: {
      body,
      sandboxId: textMember(verdict.value, 'sandbox_id'),
      title: textMember(verdict.value, 'title'),
      model: textMember(verdict.value, 'llm_model'),
      runs: isJsonObject(message) && memberOf(message, 'run') === true,
    },
  };
}

function verdictOn(body: Json): Verdict<JsonObject> {
  const at: Location = ['body'];
  if (body === null) return bad('missing', at, 'Field required', null);
  return checkObject(members, 'ignored', body, at);
}

function initialMessage(value: Json, at: Location): Verdict {
  return checkObject(messageMembers, 'ignored', value, at);
}

/** A real server treats an empty text like none. */
function textMember(object: JsonObject, name: string): string | null {
  const value = memberOf(object, name);
  return typeof value === 'string' && value !== '' ? value : null;
}
