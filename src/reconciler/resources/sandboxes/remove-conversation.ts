import { withoutStop } from '../../model/wording.ts';
import type { DialectName } from '../../model/dialect.ts';
import { asSetpointError } from '../../model/error.ts';
import type { Connection } from '../../service/connect.ts';
import { sendOnce } from '../../service/request.ts';
import { startTimeout } from '../../service/v1/request.ts';
import type { Conversation } from './wire.ts';

export interface RemovalInput {
  readonly conversation: string;
  readonly sandbox: string | null;
  /** The sandboxes that were there right before the conversation was started; null if they could not be listed. */
  readonly before: ReadonlySet<string> | null;
  /** The conversations of the service, each time as they are now. */
  readonly conversations: () => Promise<readonly Conversation[] | null>;
  /** Sends the request that removes it; resolves to why that had no effect, or null. */
  readonly remove: (conversation: string) => Promise<string | null>;
}

/**
 * Removes a conversation that was started here, together with the sandbox that was started for it. Resolves to why it remains,
 * as a sentence; null if the service does not list it any more. Never throws.
 *
 * Every server deletes the sandbox of a conversation along with it: 0.62.0 always, later ones if no other conversation uses
 * it. So nothing is sent if the sandbox was there before, or has another conversation. Source: behaviour 3.4.
 */
export async function removeConversation(input: RemovalInput): Promise<string | null> {
  const { conversation, sandbox, before } = input;
  if (before === null || sandbox === null)
    return remains(
      'nothing tells whether its sandbox was there before, and would be deleted with it',
    );
  if (before.has(sandbox))
    return remains('its sandbox was there before, and would be deleted with it');
  try {
    const listed = await input.conversations();
    if (listed === null) return remains('the service does not list its conversations');
    if (listed.some((one) => one.sandbox === sandbox && one.id !== conversation))
      return remains('its sandbox has another conversation by now, and might be deleted with it');
    const failure = await input.remove(conversation);
    const left = await input.conversations();
    if (left?.every(({ id }) => id !== conversation) === true) return null;
    return remains(failure ?? 'the service still lists it');
  } catch (thrown) {
    return remains(
      `it could not be removed for certain: ${withoutStop(asSetpointError(thrown).message)}`,
    );
  }
}

function remains(reason: string): string {
  return `The conversation was not removed: ${reason}. Delete it where its users see it, if its sandbox may go.`;
}

/** Where a conversation is deleted; null if a dialect starts none. */
const CONVERSATION: Readonly<Record<DialectName, string | null>> = {
  'settings-v0': '/api/conversations',
  'app-server': '/api/v1/app-conversations',
  'agent-server': null,
};

/** Deletes a conversation with one request. What the answer says is not all: one of these servers answers 200 for everything. */
export function conversationRemover(
  connection: Connection,
  dialect: DialectName,
): RemovalInput['remove'] {
  return async (id) => {
    const path = CONVERSATION[dialect];
    if (path === null) return `a service of ${dialect} has no request for that`;
    const timeout = startTimeout(connection);
    const answer = await sendOnce(connection, {
      method: 'DELETE',
      path: `${path}/${encodeURIComponent(id)}`,
      body: null,
      timeout,
      headersTimeout: timeout,
    });
    return answer.kind === 'done' ? null : withoutStop(answer.error.message);
  };
}
