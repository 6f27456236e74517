import type { Call, Methods } from '../call.ts';
import { type Answer, createJsonAnswer, detail, unprocessable } from '../http/answer.ts';
import { decodeBody } from '../http/body.ts';
import { isJsonObject, type Json, type JsonObject, readObjectMember } from '../json.ts';
import { fitScalar } from '../native/fit-scalar.ts';
import { integerRule, type Rule, type RuleProblem } from '../rules.ts';

/* What an automation service keeps: things by ids that it makes, in the order of creation. */

/** The one organisation and user of a service on one machine. */
export const ORGANIZATION = '00000000-0000-4000-8000-000000000001';
export const USER = '00000000-0000-4000-8000-000000000002';

export type Kind = 'automations' | 'webhooks' | 'uploads';
export type Things = Readonly<Record<string, JsonObject>>;

/** A request, with the stored things of its kind. */
export interface Asked {
  readonly things: Things;
  readonly uploads: Things;
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: JsonObject;
  readonly host: string;
  readonly now: string;
}

/** An answer, and what is stored afterwards if that is something else. */
export type Result =
  | Answer
  | { readonly answer: Answer; readonly things: Things; readonly uploads?: Things };

interface Request {
  /** The rule for the body; a request without one has none. */
  readonly takes?: Rule;
  readonly does: (asked: Asked) => Result;
}

const NO_KEY = detail(
  401,
  'Authentication required: provide Bearer token, X-Session-API-Key header, or session cookie',
);
const WRONG_KEY = detail(401, 'Invalid API key');

/** Source: contract "automations: no key, another key, both headers". */
export function refuseKey({ headers }: Call): Answer {
  const isNamed = ['x-session-api-key', 'authorization'].some(
    (name) => headers[name] !== undefined,
  );
  return isNamed ? WRONG_KEY : NO_KEY;
}

/** The handlers of a path about one kind of things. */
export function handlersOf(kind: Kind, requests: Readonly<Record<string, Request>>): Methods {
  return Object.fromEntries(
    Object.entries(requests).map(([method, request]) => [
      method,
      (call: Call) => answerOf(kind, request, call),
    ]),
  );
}

async function answerOf(kind: Kind, { takes, does }: Request, call: Call): Promise<Answer> {
  const decoded = takes === undefined ? null : decodeBody(call.body, call.contentType);
  if (decoded?.kind === 'refused') return decoded.answer;
  if (!call.authorized) return refuseKey(call);
  const sent = decoded === null ? null : decoded.value;
  if (takes !== undefined && call.body.length === 0)
    return unprocessable([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }]);
  const verdict = takes?.(sent, ['body']);
  if (verdict?.kind === 'bad') return unprocessable(verdict.problems);
  if (verdict?.kind === 'crash') return { kind: 'crash' };
  const value = verdict?.value ?? null;
  const { service, id, query, headers } = call;
  return service.store.update((before) => {
    const things = thingsOf(before.collections, kind);
    const uploads = thingsOf(before.collections, 'uploads');
    const now = new Date(service.now()).toISOString();
    const body = isJsonObject(value) ? value : {};
    const made = does({ things, uploads, id, query, body, host: headers.host ?? '', now });
    if (!('things' in made)) return { contents: before, answer: made };
    const kept = made.uploads === undefined ? {} : { uploads: made.uploads };
    const collections = { ...before.collections, ...kept, [kind]: made.things };
    return { contents: { ...before, collections }, answer: made.answer };
  });
}

function thingsOf(collections: JsonObject, kind: Kind): Things {
  const found = Object.entries(readObjectMember(collections, kind));
  return Object.fromEntries(
    found.filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])),
  );
}

/** A page of a list, newest first. Source: contract "list: pages". */
export function listPage(key: string, all: readonly Json[], query: URLSearchParams): Answer {
  const limit = readBound(query, 'limit', 50, LIMITS);
  const offset = readBound(query, 'offset', 0, { minimum: 0 });
  const problems = [limit, offset].flatMap((one) => (typeof one === 'number' ? [] : one));
  if (typeof limit !== 'number' || typeof offset !== 'number') return unprocessable(problems);
  const page = all.toReversed().slice(offset, offset + limit);
  return createJsonAnswer(200, { [key]: page, total: BigInt(all.length) });
}

const LIMITS = { minimum: 1, maximum: 100 };

function readBound(
  query: URLSearchParams,
  name: string,
  byDefault: number,
  limits: { readonly minimum: number; readonly maximum?: number },
): number | readonly RuleProblem[] {
  const text = query.get(name);
  if (text === null) return byDefault;
  const at = ['query', name];
  const verdict = fitScalar({ type: 'integer', ...limits }, { isNamed: false }, text, at);
  if (verdict.kind === 'bad') return verdict.problems;
  const number = integerRule(text, at);
  return number.kind === 'good' ? Number(number.value) : byDefault;
}

/** The refusal of an id that is none; null if it may be one. Source: contract "ids: none". */
export function refuseId(name: string, id: string): Answer | null {
  if (/^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i.test(id)) return null;
  const found = /[^\da-f-]/i.exec(id);
  const why =
    found === null
      ? `invalid group count: expected 5, found ${id.split('-').length}`
      : `invalid character: found \`${found[0]}\` at ${found.index}`;
  const msg = `Input should be a valid UUID, ${why}`;
  const problem = { type: 'uuid_parsing', loc: ['path', name], msg, input: id };
  return unprocessable([{ ...problem, ctx: { error: why } }]);
}
