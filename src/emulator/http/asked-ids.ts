import type { Answer } from './answer.ts';
import { unprocessable } from './unprocessable.ts';
import type { Problem } from '../validation/verdict.ts';

/** The ids that a query asks for, as 32 small hex digits, or the answer to a query that asks wrongly. */
export type AskedIds =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'refused'; readonly answer: Answer };

const tooMany = 100;

/** Every `ids` of a query. A hundred of them crash the real server. Source: behaviour 3.1, the batch endpoints. */
export function askedIds(query: URLSearchParams): AskedIds {
  const texts = query.getAll('ids');
  if (texts.length === 0) return refused([missing]);
  const problems = texts.flatMap((text, index) => (isUuid(text) ? [] : [noUuid(text, index)]));
  if (problems.length > 0) return refused(problems);
  if (texts.length >= tooMany) return { kind: 'refused', answer: { kind: 'crash' } };
  return { kind: 'ids', ids: texts.map((text) => text.replaceAll('-', '').toLowerCase()) };
}

const missing: Problem = {
  type: 'missing',
  loc: ['query', 'ids'],
  msg: 'Field required',
  input: null,
};

function refused(problems: readonly Problem[]): AskedIds {
  return { kind: 'refused', answer: unprocessable(problems) };
}

function isUuid(text: string): boolean {
  return /^(?:[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i.test(text);
}

function noUuid(input: string, index: number): Problem {
  const loc = ['query', 'ids', BigInt(index)];
  return { type: 'uuid_parsing', loc, msg: 'Input should be a valid UUID', input };
}
