import { describe, expect, it } from 'vitest';
import { createUnnamedField } from '../../../src/reconciler/model/field.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import type { DesiredState } from '../../../src/reconciler/model/state.ts';
import { createRecord, type Value } from '../../../src/reconciler/model/value.ts';
import { NOTHING_KNOWN, planSettings } from '../../../src/reconciler/plan/plan-settings.ts';
import { observeAgentServer } from '../../../src/reconciler/service/agent-server/read.ts';

const PATH = ['agent_settings', 'llm', 'timeout'];

/** The changes of a file that declares the timeout, on a server that answers it so; its default is 300. */
function changes(declared: Value, llm: Readonly<Record<string, Value>>) {
  const answer = { llm_api_key_is_set: false, agent_settings: { agent_kind: 'openhands', llm } };
  const source = () => ({ file: 'settings.yaml', line: 1, column: 1 });
  const desired: DesiredState = {
    fields: [{ field: createUnnamedField(PATH, false), value: declared, source }],
    items: new Map(),
    missing: [],
    unmanaged: [],
    guards: { on: new Set(), maxChanges: null, frozen: null },
  };
  const observed = observeAgentServer(createRecord(Object.entries(answer)));
  return planSettings(desired, observed, NOTHING_KNOWN).changes.map(
    ({ action, before, after }) => ({
      action,
      before,
      after,
    }),
  );
}

describe('a null that a server stores where its default is another value', () => {
  it('is not the default', () => {
    expect(changes(300, { timeout: null })).toEqual([{ action: 'set', before: null, after: 300 }]);
    expect(changes(60, { timeout: null })).toEqual([{ action: 'set', before: null, after: 60 }]);
  });

  it('is as declared if the file declares null, as is the default', () => {
    for (const llm of [{ timeout: null }, { timeout: 300 }, {}])
      expect(changes(null, llm)).toEqual([]);
    expect(changes(300, {})).toEqual([]);
    expect(changes(null, { timeout: 60 })).toHaveLength(1);
  });
});

describe('a value at a place that the specification does not name', () => {
  const unseen = new UnseenSecret('https://${env:A}', null, {
    reason: 'the variable A is not set',
    missing: '${env:A}',
    literals: ['https://', ''],
  });

  it('surely differs if its text cannot be that of a reference without a value, as under a name', () => {
    expect(changes(unseen, { timeout: 'https://x' })).toEqual([]);
    expect(changes(unseen, { timeout: 'http://x' })).toMatchObject([{ action: 'change' }]);
  });

  it('is cleared by null although the service masks it', () => {
    const masked = new Secret('**********');
    expect(changes(null, { timeout: masked })).toMatchObject([{ action: 'clear', after: null }]);
    expect(changes(60, { timeout: masked })).toEqual([]);
  });
});
