import type { Call, Routes } from '../call.ts';
import { type Answer, detail, unauthorized, unprocessable } from '../http/answer.ts';
import { isJsonList, isJsonObject, type Json } from '../json.ts';
import { mergeVerdicts, good, type Rule, type RuleProblem } from '../rules.ts';
import { failure, readSentBody } from './body.ts';
import { type ServerContent, openHeld, sealHeld } from './held.ts';
import type { Knobs } from '../options.ts';
import type { AgentServerKind, Exposure } from './record.ts';

/** The result of a request on the server's content. An answer alone stores nothing. */
export type ContentResult = Answer | { readonly held: ServerContent; readonly answer: Answer };

export interface HeldRequest {
  /** The rule for the name in the path. */
  readonly names?: Rule;
  /** The rule for the body. A request without this has none. */
  readonly takes?: Rule;
  /** True if the body may be left out, which then counts as an empty object. */
  readonly isOptional?: boolean;
  /** The answer to a body at which the server's own code fails. */
  readonly crashes?: (body: Json) => Answer;
  readonly does: (held: ServerContent, asked: ContentRequest) => ContentResult;
}

export interface ContentRequest {
  /** The name in the path, as it was sent. */
  readonly sent: string;
  /** The name under which the thing is stored. */
  readonly name: string;
  readonly query: URLSearchParams;
  /** The body as `takes` has it. */
  readonly body: Json;
  readonly expose: string | string[] | undefined;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
  readonly knobs: Knobs;
}

/** The route of a path with its methods; a 405 names the first. */
export function createHeldRoute(
  kind: AgentServerKind,
  path: string,
  requests: Readonly<Record<string, HeldRequest>>,
): Routes[number] {
  const methods = Object.entries(requests).map(
    ([method, request]) => [method, (call: Call) => answerHeld(kind, request, call)] as const,
  );
  return [path, Object.fromEntries(methods)];
}

async function answerHeld(
  kind: AgentServerKind,
  request: HeldRequest,
  call: Call,
): Promise<Answer> {
  const body = checkRequestBody(request, call);
  if (body.kind === 'refused') return body.answer;
  const { names, takes, crashes } = request;
  const verdicts = [
    names?.(call.id, ['path', 'name']) ?? good(null),
    takes?.(body.value, ['body']) ?? good(null),
  ];
  const whole = mergeVerdicts(verdicts);
  if (whole.kind === 'bad') return refuseAgentBody(whole.problems);
  if (whole.kind === 'crash') return crashes?.(body.value) ?? failure('');
  const asked = {
    sent: call.id,
    name: stripJsonSuffix(call.id),
    query: call.query,
    body: whole.value[1] ?? null,
    expose: call.headers['x-expose-secrets'],
    knobs: call.service.knobs,
  };
  return call.service.store.update((before) => {
    const now = call.service.now();
    const opened = openHeld(kind, before, now);
    const made = request.does(opened, { ...asked, now });
    if (!('held' in made)) return { contents: before, answer: made };
    if (made.held === opened) return { contents: before, answer: made.answer };
    return { contents: sealHeld(kind, before, opened, made.held), answer: made.answer };
  });
}

function checkRequestBody(
  { takes, isOptional }: HeldRequest,
  call: Call,
): ReturnType<typeof readSentBody> {
  if (takes !== undefined && !(isOptional === true && call.body.length === 0))
    return readSentBody(call);
  return call.authorized ? { kind: 'body', value: {} } : { kind: 'refused', answer: unauthorized };
}

/** The answer to a change of settings that are stored and cannot be read. */
export const unreadable = detail(
  409,
  'Settings file is corrupted or encrypted with a different key: restore that key as OH_SECRET_KEY or add it to OH_PREVIOUS_SECRET_KEYS',
);

/** The folder in which the service claims to store its things. Nothing is there. */
export const FOLDER = '/home/openhands/.openhands';

/** The answer of the server where it did not expect that. */
export const unreadableFailure = failure(
  `Cannot load settings from ${FOLDER}/settings.json. File may be corrupted or encrypted with a different key (restore the key it was saved under as OH_SECRET_KEY, or add it to OH_PREVIOUS_SECRET_KEYS). Refusing to overwrite with defaults to prevent data loss.`,
);

/** The name under which a thing is stored: `x.json` is a file of the name `x`. */
export function stripJsonSuffix(sent: string): string {
  return sent.replace(/\.json$/, '');
}

/** A 422 of this dialect repeats the input except possible secrets, and gives the reason why a value was refused. */
export function refuseAgentBody(problems: readonly RuleProblem[]): Answer {
  return unprocessable(
    problems.map((problem) => {
      const message =
        problem.type === 'value_error' ? problem.msg.replace(/^Value error, /, '') : '';
      const ctx = problem.ctx ?? (message === '' ? undefined : { error: message });
      return {
        ...problem,
        input: redactInput(problem.input),
        ...(ctx === undefined ? {} : { ctx }),
      };
    }),
  );
}

/** Names under which nothing that was sent is repeated, and those under which no value of a map is. */
const SECRET_NAME = /authorization|cookie|credential|key|password|secret|session|token/i;
const SECRET_MAP = /^(?:environment|env|headers)$/i;
const REDACTED = '<redacted>';

function redactInput(input: Json): Json {
  if (isJsonList(input)) return input.map(redactInput);
  if (!isJsonObject(input)) return input;
  const members = Object.entries(input).map(([name, one]) => {
    if (SECRET_MAP.test(name)) return [name, withoutValues(one)] as const;
    return [name, SECRET_NAME.test(name) ? REDACTED : redactInput(one)] as const;
  });
  return Object.fromEntries(members);
}

function withoutValues(value: Json): Json {
  if (isJsonList(value)) return value.map(withoutValues);
  if (!isJsonObject(value)) return REDACTED;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutValues(one)]));
}

/** Source: contract `X-Expose-Secrets: "PlainText"`, `"true"`, `"false"`. */
export function parseExposure({ expose }: Pick<ContentRequest, 'expose'>): Exposure | Answer {
  const sent = String(expose ?? '');
  const asked = sent.trim().toLowerCase();
  if (asked === '') return 'masked';
  if (asked === 'plaintext') return 'plaintext';
  if (asked === 'encrypted' || asked === 'true') return 'encrypted';
  return detail(
    400,
    `Invalid X-Expose-Secrets header value: '${sent}'. Valid values are: 'encrypted', 'plaintext'.`,
  );
}
