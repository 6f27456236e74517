import type { SandboxObserver } from '../model/ports.ts';
import type { Conversation } from '../model/sandbox.ts';
import { isList, type Value } from '../model/value.ts';
import type { Connection } from './connect.ts';
import { conversationIn, sandboxIn, specIn } from './decode-v1.ts';
import { itemsIn, listPages, pageIn } from './list-pages.ts';
import { getV1, listLimits } from './v1-request.ts';

const SANDBOXES = '/api/v1/sandboxes/search';
const SPECS = '/api/v1/sandbox-specs/search';
const CONVERSATIONS = '/api/v1/app-conversations';

/**
 * Reads the sandboxes of a service, their specs and the conversations in them, every list to its end. Throws the errors of
 * settingsObserver. Source: specification 4.1; behaviour 3.2.
 */
export function sandboxObserver(connection: Connection): SandboxObserver {
  return {
    sandboxes: async (signal, within) => {
      const limits = listLimits(connection, within);
      const { items, at } = await listPages(connection, SANDBOXES, sandboxIn, limits, signal);
      return { sandboxes: items, at };
    },
    specs: async (signal) =>
      (await listPages(connection, SPECS, specIn, listLimits(connection), signal)).items,
    conversations: (signal) => conversations(connection, signal),
  };
}

/**
 * GET /app-conversations lists, by the specification. The server that was observed wants ids there (422) and lists under
 * /search; others answer a whole list, or a first page.
 */
async function conversations(
  connection: Connection,
  signal: AbortSignal | undefined,
): Promise<readonly Conversation[]> {
  const limits = listLimits(connection);
  const { status, json } = await getV1(connection, CONVERSATIONS, limits, signal, 422);
  if (status === 200) {
    const whole = wholeListIn(connection.place('GET', CONVERSATIONS), json);
    if (whole !== null) return whole;
  }
  const path = status === 422 ? `${CONVERSATIONS}/search` : CONVERSATIONS;
  return (await listPages(connection, path, conversationIn, limits, signal)).items;
}

/** Null where there is more of it. */
function wholeListIn(place: string, json: Value): readonly Conversation[] | null {
  const { items, next } = isList(json) ? { items: json, next: null } : pageIn(place, json);
  return next === null ? itemsIn(place, items, conversationIn) : null;
}
