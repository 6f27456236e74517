import type { Call } from '../call.ts';
import type { Json } from '../json.ts';
import type { Location, RuleProblem } from '../rules.ts';
import { integerRule } from '../rules.ts';
import { createJsonAnswer, unprocessable, type Answer } from './answer.ts';

interface QueryRefusal {
  readonly kind: 'refused';
  readonly answer: Answer;
}

/** The part of a list that a query selects. */
type AskedPage = { readonly kind: 'page'; readonly offset: number; readonly limit: number };

/** Ids as 32 lower-case hex digits. */
type Ids = { readonly kind: 'ids'; readonly ids: readonly string[] };

/**
 * Answers with the page of a list that the query selects. `next_page_id` is an offset, so items that come and go between two calls shift
 * the pages, as they do on a real server.
 */
export async function answerPage(
  { service, query }: Call,
  list: () => Promise<readonly Json[]>,
): Promise<Answer> {
  const page = readPage(query);
  if (page.kind === 'refused') return page.answer;
  const items = await list();
  const end = page.offset + Math.min(page.limit, service.knobs.pageSize);
  return createJsonAnswer(200, {
    items: items.slice(page.offset, end),
    next_page_id: end < items.length ? String(end) : null,
  });
}

const MAX_IDS = 99;

/** Every `ids` of a query. A hundred of them crash the real server. Source: behaviour 3.1, the batch endpoints. */
export function readIds(query: URLSearchParams): Ids | QueryRefusal {
  const texts = query.getAll('ids');
  if (texts.length === 0) return refuseQuery(unprocessable([IDS_MISSING]));
  const problems = texts.flatMap((text, index) => (isUuid(text) ? [] : [notUuid(text, index)]));
  if (problems.length > 0) return refuseQuery(unprocessable(problems));
  if (texts.length > MAX_IDS) return CRASH;
  return { kind: 'ids', ids: texts.map((text) => text.replaceAll('-', '').toLowerCase()) };
}

const IDS_MISSING: RuleProblem = {
  type: 'missing',
  loc: ['query', 'ids'],
  msg: 'Field required',
  input: null,
};

function isUuid(text: string): boolean {
  return /^(?:[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i.test(text);
}

function notUuid(input: string, index: number): RuleProblem {
  const loc = ['query', 'ids', BigInt(index)];
  return { type: 'uuid_parsing', loc, msg: 'Input should be a valid UUID', input };
}

const LIMIT_AT: Location = ['query', 'limit'];
const MAX_LIMIT = 100n;

/**
 * The page of `page_id`, an offset, and `limit`. A page_id that is not a number selects the first page; a limit above 100 crashes the real
 * server. Source: behaviour 3.1, the search endpoints.
 */
function readPage(query: URLSearchParams): AskedPage | QueryRefusal {
  const offset = query.getAll('page_id').at(-1) ?? '';
  const limit = query.getAll('limit').at(-1) ?? String(MAX_LIMIT);
  const verdict = integerRule(limit, LIMIT_AT);
  if (verdict.kind === 'bad') return refuseQuery(unprocessable(verdict.problems));
  if (verdict.kind === 'crash' || typeof verdict.value !== 'bigint') return CRASH;
  if (verdict.value <= 0n) return refuseQuery(tooSmall(limit));
  if (verdict.value > MAX_LIMIT) return CRASH;
  return {
    kind: 'page',
    offset: /^\d+$/.test(offset) ? Number(offset) : 0,
    limit: Number(verdict.value),
  };
}

const CRASH: QueryRefusal = { kind: 'refused', answer: { kind: 'crash' } };

function refuseQuery(answer: Answer): QueryRefusal {
  return { kind: 'refused', answer };
}

function tooSmall(input: string): Answer {
  const msg = 'Input should be greater than 0';
  return unprocessable([{ type: 'greater_than', loc: LIMIT_AT, msg, input, ctx: { gt: 0n } }]);
}
