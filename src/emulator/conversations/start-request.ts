import { isJsonObject, memberOf, type Json, type JsonObject } from '../json/json.ts';
import { checkObject, type Member } from '../validation/object-rule.ts';
import { flagRule, nullable, textRule } from '../validation/scalar-rules.ts';
import { bad, type Location, type Problem, type Verdict } from '../validation/verdict.ts';

/** What a body asks a new conversation to be; `body` is all of it, as it was sent. */
export interface StartRequest {
  readonly body: JsonObject;
  /** Null where a new sandbox is to be started. */
  readonly sandboxId: string | null;
  readonly title: string | null;
  readonly model: string | null;
  /** Whether the agent is to run on an initial message. */
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
 * The start request of a body, or all that is wrong with it. Only the members that make a difference here are judged; a
 * real server knows more of them. Source: specification 4.1; behaviour 3.4, AppConversationStartRequest.
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
      sandboxId: textOf(verdict.value, 'sandbox_id'),
      title: textOf(verdict.value, 'title'),
      model: textOf(verdict.value, 'llm_model'),
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

/** Nobody on the other side tells an empty text from none. */
function textOf(object: JsonObject, name: string): string | null {
  const value = memberOf(object, name);
  return typeof value === 'string' && value !== '' ? value : null;
}
