import { json, type Answer } from './answer.ts';
import { askedPage } from './asked-page.ts';
import type { Call } from '../call.ts';
import type { Json } from '../json/json.ts';

/**
 * The page of a list that a call asks for. Its `next_page_id` is an offset, so that what comes and goes between two calls
 * shifts the pages, as it does on a real server.
 */
export async function answerPage(
  { service, query }: Call,
  list: () => Promise<readonly Json[]>,
): Promise<Answer> {
  const asked = askedPage(query);
  if (asked.kind === 'refused') return asked.answer;
  const items = await list();
  const end = asked.offset + Math.min(asked.limit, service.knobs.pageSize);
  return json(200, {
    items: items.slice(asked.offset, end),
    next_page_id: end < items.length ? String(end) : null,
  });
}
