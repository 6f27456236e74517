import type { Answer } from './answer.ts';
import { integerRule } from '../validation/scalar-rules.ts';
import { unprocessable } from './unprocessable.ts';
import type { Location } from '../validation/verdict.ts';

/** Which part of a list a query asks for, or the answer to a query that asks for none. */
export type AskedPage =
  | { readonly kind: 'page'; readonly offset: number; readonly limit: number }
  | { readonly kind: 'refused'; readonly answer: Answer };

const at: Location = ['query', 'limit'];
const most = 100n;

/**
 * The page of `page_id`, an offset, and `limit`. A page_id that is no number asks for the first page, a limit above 100
 * crashes the real server. Source: behaviour 3.1, the search endpoints.
 */
export function askedPage(query: URLSearchParams): AskedPage {
  const offset = query.getAll('page_id').at(-1) ?? '';
  const limit = query.getAll('limit').at(-1) ?? String(most);
  const verdict = integerRule(limit, at);
  if (verdict.kind === 'bad') return refused(unprocessable(verdict.problems));
  if (verdict.kind === 'crash' || typeof verdict.value !== 'bigint') return crash;
  if (verdict.value <= 0n) return refused(tooSmall(limit));
  if (verdict.value > most) return crash;
  return {
    kind: 'page',
    offset: /^\d+$/.test(offset) ? Number(offset) : 0,
    limit: Number(verdict.value),
  };
}

const crash: AskedPage = { kind: 'refused', answer: { kind: 'crash' } };

function refused(answer: Answer): AskedPage {
  return { kind: 'refused', answer };
}

function tooSmall(input: string): Answer {
  const msg = 'Input should be greater than 0';
  return unprocessable([{ type: 'greater_than', loc: at, msg, input, ctx: { gt: 0n } }]);
}
