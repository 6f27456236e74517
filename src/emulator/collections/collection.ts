import type { Call } from '../call.ts';
import { type Answer, unauthorized, unprocessable } from '../http/answer.ts';
import type { DecodedBody } from '../http/body.ts';
import type { Routes } from '../call.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { GitProvider } from './git-check.ts';
import type { StoreContents } from '../store/store-document.ts';
import type { StoreUpdate } from '../store/store.ts';
import type { Rule } from '../rules.ts';

/** The answers of a dialect about one kind of named things: each path with its methods. A 405 names the first method. */
export type Collection = readonly (readonly [
  path: string,
  requests: Readonly<Record<string, CollectionRequest>>,
])[];

export interface CollectionRequest {
  /** The rule for the body, an object. A request without this has none. */
  readonly takes?: Rule;
  /** Returns the changed store, and its answer. */
  readonly does: (before: StoreContents, asked: AskedByPath) => StoreUpdate<Answer>;
  /** The answer if the store cannot be read or written. Default: a crash. */
  readonly failed?: Answer;
}

export interface AskedByPath {
  /** The name in the path. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** The body as `takes` has it. */
  readonly body: JsonObject;
  /** The most items on a page. */
  readonly pageSize: number;
  /** The providers that confirm tokens. */
  readonly gitProviders: readonly GitProvider[];
}

/** The routes of a collection. `readBody` refuses anything other than JSON, and a request without the key. */
export function collectionRoutes(
  collection: Collection,
  readBody: (call: Call) => DecodedBody,
): Routes {
  return collection.map(([path, requests]) => {
    const methods = Object.entries(requests).map(
      ([method, request]) => [method, (call: Call) => answerTo(request, readBody, call)] as const,
    );
    return [path, Object.fromEntries(methods)] as const;
  });
}

async function answerTo(
  { takes, does, failed = { kind: 'crash' } }: CollectionRequest,
  readBody: (call: Call) => DecodedBody,
  call: Call,
): Promise<Answer> {
  const body = takes === undefined ? none(call) : checkCollectionBody(readBody(call), takes);
  if (body.kind === 'refused') return body.answer;
  const { id, query, service } = call;
  const { pageSize, gitProviders } = service.knobs;
  const asked = { id, query, body: body.value, pageSize, gitProviders };
  try {
    return await service.store.update((before) => does(before, asked));
  } catch {
    return failed;
  }
}

type CheckedBody =
  | { readonly kind: 'body'; readonly value: JsonObject }
  | { readonly kind: 'refused'; readonly answer: Answer };

function none({ authorized }: Call): CheckedBody {
  return authorized ? { kind: 'body', value: {} } : { kind: 'refused', answer: unauthorized };
}

function checkCollectionBody(body: DecodedBody, takes: Rule): CheckedBody {
  if (body.kind === 'refused') return body;
  const verdict = takes(body.value, ['body']);
  if (verdict.kind === 'bad') return { kind: 'refused', answer: unprocessable(verdict.problems) };
  if (verdict.kind === 'crash' || !isJsonObject(verdict.value))
    return { kind: 'refused', answer: { kind: 'crash' } };
  return { kind: 'body', value: verdict.value };
}
