import { json, type Answer } from './answer.ts';
import type { Json } from '../json/json.ts';
import type { Problem } from '../validation/verdict.ts';

/** The 422 that lists all that is wrong with a request. */
export function unprocessable(problems: readonly Problem[]): Answer {
  return json(422, { detail: problems.map(item) });
}

function item({ type, loc, msg, input, ctx }: Problem): Json {
  const shown = { type, loc, msg, input };
  if (ctx !== undefined) return { ...shown, ctx };
  return type === 'value_error' ? { ...shown, ctx: { error: {} } } : shown;
}
