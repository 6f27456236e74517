import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import type { Dialect, DialectField } from '../../../src/model/dialect.ts';
import { fieldNamed } from '../../../src/model/field.ts';
import { Secret } from '../../../src/model/secret.ts';
import type { DesiredField, DesiredState, ObservedState } from '../../../src/model/state.ts';
import type { Value } from '../../../src/model/value.ts';
import { NOTHING_KNOWN, planSettings } from '../../../src/plan/plan-settings.ts';
import { DIALECTS } from '../../../src/service/dialects.ts';
import { bodyOf, observedOf } from '../../fixture/observed.ts';

const SRC = join(import.meta.dirname, '../../../src');

/** Another dialect than the specification's: it keeps what a write leaves out, and null does other things. */
function merging(changed: Readonly<Record<string, Partial<DialectField>>> = {}): Dialect {
  const { dialect } = DIALECTS['settings-v0'];
  const fields = [...dialect.fields].map(
    ([name, field]) => [name, { ...field, ...changed[name] }] as const,
  );
  return { ...dialect, writes: 'fields', fields: new Map(fields) };
}

function desired(values: Readonly<Record<string, Value>>): DesiredState {
  const source = () => ({ file: 'settings.yaml', line: 1, column: 1 });
  const fields = Object.entries(values).map(([name, value]): DesiredField => {
    const field = fieldNamed(name);
    if (field === undefined) throw new Error(`no field ${name}`);
    return { field, value, source };
  });
  const guards = { on: new Set<never>(), maxChanges: null, frozen: null };
  return { fields, missing: [], unmanaged: [], sandboxes: [], guards };
}

const STORED = {
  language: 'en',
  agent: 'CodeActAgent',
  llm_api_key_set: true,
  confirmation_mode: true,
};

describe('planning reads from the dialect', () => {
  it('what a write may lose: nothing if it keeps what is left out', () => {
    const declared = desired({ language: 'fr' });
    const whole = planSettings(declared, observedOf(STORED), NOTHING_KNOWN);
    expect(whole.unpreservable.map(({ path }) => path)).toEqual([['sandbox_api_key']]);
    const state = { ...observedOf(STORED), dialect: merging() };
    const partial = planSettings(declared, state, NOTHING_KNOWN);
    expect(partial.unpreservable).toEqual([]);
    expect(partial.changes).toEqual(whole.changes);
    expect(partial.write?.fields).toEqual({ language: 'fr' });
  });

  it('what clears a field', () => {
    const declared = desired({ agent: null });
    const written = (state: ObservedState) =>
      planSettings(declared, state, NOTHING_KNOWN).write?.fields['agent'];
    expect(written(observedOf(STORED))).toBeNull();
    const dialect = merging({ agent: { onNull: 'keeps', clearWith: '' } });
    expect(written({ ...observedOf(STORED), dialect })).toBe('');
  });

  it('what a field is that the answer leaves out', () => {
    const declared = desired({ agent: 'CodeActAgent' });
    const changes = (state: ObservedState) => planSettings(declared, state, NOTHING_KNOWN).changes;
    const { agent: _, ...without } = STORED;
    expect(changes(observedOf(without))).toMatchObject([{ action: 'set', before: null }]);
    const dialect = merging({ agent: { absent: 'CodeActAgent' } });
    expect(changes({ ...observedOf(without), dialect })).toEqual([]);
  });

  it('which secrets no service reports', () => {
    const key = new Secret('value', '${env:KEY}');
    const plan = (state: ObservedState) =>
      planSettings(desired({ search_api_key: key }), state, NOTHING_KNOWN).unknown;
    expect(plan(observedOf(STORED))).toMatchObject([{ reason: 'cannot be read back' }]);
    const dialect = merging({ search_api_key: { reads: 'nothing' } });
    expect(plan({ ...observedOf(STORED), dialect })).toEqual([]);
  });
});

it('a record is written back whole, with the declared fields over it and no flag', () => {
  const plan = planSettings(
    desired({ language: 'fr', sandbox_api_key: null }),
    observedOf({ ...STORED, later_field: 7, later_key_set: true }),
    NOTHING_KNOWN,
  );
  expect(bodyOf(plan)).toEqual({
    language: 'fr',
    agent: 'CodeActAgent',
    confirmation_mode: true,
    later_field: 7,
    sandbox_api_key: null,
  });
  expect(plan.unpreservable.map(({ path }) => path)).toEqual([['later_key']]);
});

describe('the names of the wire', () => {
  const files = ['plan', 'reconcile'].flatMap((room) => filesIn(join(SRC, room)));
  const wire = /\w_set\b|\bsetFlag\b|\.answer\b|\/api\//;

  it('are not known to planning and reconciling', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((path) => wire.test(readFileSync(path, 'utf8')))).toEqual([]);
  });

  it.each(["record['llm_api_key_set']", 'field.setFlag', 'observed.answer', "'/api/settings'"])(
    'would be found: %s',
    (text) => expect(wire.test(text)).toBe(true),
  );
});

function filesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
}
