import { describe, expect, it } from 'vitest';
import type { JournalRecord } from '../../../src/reconciler/model/watch.ts';
import { TOOL } from '../../../src/reconciler/model/version.ts';
import { historyText } from '../../../src/reconciler/render/history-text.ts';
import { historyRows } from '../../../src/reconciler/render/history-rows.ts';
import { change, outcome } from '../../fixture/documents.ts';

type Notice = JournalRecord & { readonly kind: 'notice' };

function notice(receiver: string, more: Partial<Notice> = {}): Notice {
  return {
    v: 1,
    at: '2026-03-01T12:00:00.000Z',
    kind: 'notice',
    environment: 'eu',
    event: 'opened',
    receiver,
    digest: 'd',
    result: 'sent',
    ...more,
  };
}

function shown(...records: readonly JournalRecord[]): unknown[] {
  return historyRows(records).map((row) =>
    row.kind === 'record'
      ? row.record.kind
      : [row.notices[0]?.result, ...row.notices.map(({ receiver }) => receiver)],
  );
}

const resumed: JournalRecord = { v: 1, at: '', kind: 'resumed', environment: 'eu' };
const writing: JournalRecord = {
  v: 1,
  at: '',
  kind: 'writing',
  environment: 'eu',
  paths: ['language'],
  commit: null,
};
const written: JournalRecord = {
  v: 1,
  at: '',
  kind: 'write',
  environment: 'eu',
  by: 'watch',
  commit: null,
  actor: null,
  url: null,
  outcome: outcome(),
};

describe('the rows of a history', () => {
  it('have the notices of one state once, with everybody who was sent one', () => {
    const other = { environment: 'us' };
    expect(
      shown(notice('chat'), notice('pager', other), notice('hook'), notice('chat', other)),
    ).toEqual([
      ['sent', 'chat', 'hook'],
      ['sent', 'pager', 'chat'],
    ]);
  });

  it('keep apart what differs in state, event or result, and what is told to the same receiver again', () => {
    expect(
      shown(
        notice('chat', { event: 'reminder' }),
        notice('chat', { event: 'reminder' }),
        notice('chat'),
        notice('hook', { result: 'failed' }),
        notice('hook', { digest: 'e' }),
        resumed,
        notice('office', { digest: 'e' }),
      ),
    ).toEqual([
      ['sent', 'chat'],
      ['sent', 'chat'],
      ['sent', 'chat'],
      ['failed', 'hook'],
      ['sent', 'hook'],
      'resumed',
      ['sent', 'office'],
    ]);
  });

  it('leave out what has begun if it is known how it ended', () => {
    const begun = notice('chat', { result: 'begun' });
    expect(shown(notice('chat'), begun)).toEqual([['sent', 'chat']]);
    expect(shown(notice('chat', { environment: 'us' }), begun)).toEqual([
      ['sent', 'chat'],
      ['begun', 'chat'],
    ]);
    expect(shown(written, writing, writing)).toEqual(['write', 'writing']);
  });
});

it('a rename is told by both names, and found by either', () => {
  const renamed = change({
    resource: 'LLM profile',
    path: ['llm_profiles', 'prod'],
    action: 'rename',
    before: 'main',
    after: 'prod',
  });
  const records: JournalRecord[] = [
    { ...written, outcome: outcome({ changes: [{ ...renamed, result: 'verified' }] }) },
  ];
  for (const name of ['main', 'prod'])
    expect(
      historyText(
        {
          format_version: '1.0',
          kind: 'history',
          tool: TOOL,
          path: ['llm_profiles', name],
          records,
        },
        { color: false, width: null, verbose: false },
      ),
    ).toContain('llm_profiles.prod: called main → called prod (verified)');
});
