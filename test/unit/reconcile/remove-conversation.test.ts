import { describe, expect, it } from 'vitest';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import {
  removeConversation,
  type RemovalInput,
} from '../../../src/reconciler/resources/sandboxes/conversation.ts';

const OURS = { id: 'c', sandbox: 's', status: null, createdAt: null };
const OTHER = { ...OURS, id: 'other' };

/** Removes `c` in the sandbox `s`; `listed` are the answers of the list of conversations, one after the other. */
async function removed(
  more: Partial<RemovalInput> = {},
  listed: readonly (readonly (typeof OURS)[] | null)[] = [[OURS], []],
) {
  const left = [...listed];
  const sent: string[] = [];
  const reason = await removeConversation({
    conversation: 'c',
    sandbox: 's',
    before: new Set(['managed']),
    conversations: async () => left.shift() ?? null,
    remove: async (id) => {
      sent.push(id);
      return null;
    },
    ...more,
  });
  return { reason, sent };
}

describe('a conversation that a smoke test started', () => {
  it('is removed if its sandbox is new and nobody else is in it', async () => {
    const managed = { ...OTHER, sandbox: 'managed' };
    expect(await removed({}, [[OURS, managed], [managed]])).toEqual({ reason: null, sent: ['c'] });
  });

  it.each([
    ['its sandbox was there before', { before: new Set(['s']) }, undefined],
    ['its sandbox may have been there before', { before: null }, undefined],
    ['its sandbox may have been there before', { sandbox: null }, undefined],
    ['its sandbox has another conversation by now', {}, [[OURS, OTHER]]],
    ['the service does not list its conversations', {}, [null]],
  ] as const)('is left alone where its sandbox might go with it: %s', async (why, more, listed) => {
    const { reason, sent } = await removed(more, listed);
    expect(reason).toContain(`The conversation was not removed: ${why}`);
    expect(reason).toContain('Delete it where its users see it');
    expect(sent).toEqual([]);
  });

  it('counts as removed only if the service does not list it any more', async () => {
    const refused = { remove: async () => 'DELETE was refused' };
    expect((await removed(refused, [[OURS], []])).reason).toBeNull();
    expect((await removed(refused, [[OURS], [OURS]])).reason).toContain('DELETE was refused');
    expect((await removed({}, [[OURS], [OURS]])).reason).toContain('the service still lists it');
    const failing = {
      conversations: () => Promise.reject(new SetpointError('timed-out', 'Late.')),
    };
    expect((await removed(failing)).reason).toContain('could not be removed for certain: Late. ');
  });
});
