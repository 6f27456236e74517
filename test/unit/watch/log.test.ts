import { describe, expect, it } from 'vitest';
import type { JournalEvent, JournalRecord } from '../../../src/reconciler/model/watch.ts';
import { logLine } from '../../../src/controller/watch/telemetry/log.ts';
import { change, environment, outcome } from '../../fixture/documents.ts';

const at = '2026-03-01T12:00:00.000Z';

function record(event: JournalEvent): JournalRecord {
  return { v: 1, at, ...event };
}

const DRIFT = record({
  kind: 'state',
  environment: 'eu',
  status: 'drift',
  before: 'in-sync',
  digest: 'd',
  after: at,
  commit: 'abc',
  plan: environment({ name: 'eu', changes: [change({ before: 'was-here', after: 'to-be' })] }),
});

it('in sync, with what could not be compared beside it, is no warning', () => {
  const unknown = [{ path: ['llm_api_key'], reason: 'set, origin unknown', ref: null }];
  const state = { ...DRIFT, status: 'in-sync', before: 'drift', plan: environment({ unknown }) };
  expect(logLine(state as JournalRecord, 'text')).toBe(
    `${at} info  eu: in sync, was drift: 1 value could not be compared\n`,
  );
  expect(JSON.parse(logLine(state as JournalRecord, 'json') ?? '')).toMatchObject({
    level: 'info',
    unknown: 1,
  });
});

describe('a line of the log', () => {
  it.each([
    [
      DRIFT,
      `${at} warn  eu: drift, was in sync: language\n`,
      {
        level: 'warn',
        environment: 'eu',
        status: 'drift',
        before: 'in-sync',
        commit: 'abc',
        changes: { change: 1 },
      },
    ],
    [
      record({ kind: 'files', commit: 'abc', environments: 3, problem: 'line 3 is not valid' }),
      `${at} warn  the settings files cannot be used; the last good ones remain in effect: line 3 is not valid\n`,
      { level: 'warn', commit: 'abc', environments: 3, problem: 'line 3 is not valid' },
    ],
    [
      record({
        kind: 'write',
        environment: 'eu',
        by: 'watch',
        commit: 'abc',
        actor: null,
        url: null,
        outcome: outcome({ name: 'eu', changes: [{ ...change(), result: 'verified' }] }),
      }),
      `${at} info  eu: healed: language\n`,
      { level: 'info', by: 'watch', status: 'applied', changes: 1, error: null },
    ],
    [
      record({ kind: 'suspended', environment: 'eu', reason: 'maintenance', until: null }),
      `${at} info  eu: suspended until it is resumed: maintenance\n`,
      { level: 'info', reason: 'maintenance', until: null },
    ],
    [
      record({ kind: 'healing-stopped', environment: 'eu', path: 'language', reason: 'why' }),
      `${at} error eu: healing stopped at language: why\n`,
      { level: 'error', path: 'language' },
    ],
    [
      record({
        kind: 'notice',
        environment: 'eu',
        event: 'opened',
        receiver: 'team',
        digest: 'd',
        result: 'failed',
      }),
      `${at} warn  eu: could not notify team: opened\n`,
      { level: 'warn', receiver: 'team', event: 'opened' },
    ],
  ])('is one of text or of JSON: $0.kind', (given, text, details) => {
    expect(logLine(given, 'text')).toBe(text);
    const json = logLine(given, 'json') ?? '';
    expect(json).toMatch(/^\{[^\n]*\}\n$/);
    expect(JSON.parse(json)).toMatchObject({ at, kind: given.kind, ...details });
  });

  it('says what could not be read, and which rules refuse', () => {
    const failed = environment({
      error: { code: 'timed-out', message: 'The service did not answer.', hint: '' },
    });
    const state = { ...DRIFT, status: 'error', plan: failed } as JournalRecord;
    expect(logLine(state, 'text')).toBe(
      `${at} error eu: failed, was in sync: The service did not answer.\n`,
    );
    expect(JSON.parse(logLine(state, 'json') ?? '')).toMatchObject({ error: 'timed-out' });
  });

  it('holds no value of a setting', () => {
    for (const format of ['text', 'json'] as const)
      expect(logLine(DRIFT, format)).not.toMatch(/was-here|to-be/);
  });

  it('is one line without control characters, whatever the record holds', () => {
    const reason = 'a\nb\u001B[31m\u202E::error::x';
    const given = record({ kind: 'suspended', environment: 'eu', reason, until: null });
    for (const format of ['text', 'json'] as const) {
      const line = logLine(given, format) ?? '';
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001F\u202E]/);
    }
    expect(JSON.parse(logLine(given, 'json') ?? '')).toMatchObject({ reason });
  });

  it('is not written for a notice that is about to be sent', () => {
    const begun = record({
      kind: 'notice',
      environment: 'eu',
      event: 'opened',
      receiver: 'team',
      digest: 'd',
      result: 'begun',
    });
    expect(logLine(begun, 'text')).toBeNull();
  });
});
