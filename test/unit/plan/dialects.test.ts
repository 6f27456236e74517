import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import type { Dialect, DialectField } from '../../../src/reconciler/model/dialect.ts';
import { fieldNamed } from '../../../src/reconciler/model/field.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import type {
  DesiredField,
  DesiredState,
  ObservedState,
} from '../../../src/reconciler/model/state.ts';
import type { Value } from '../../../src/reconciler/model/value.ts';
import { findUnsupported } from '../../../src/reconciler/plan/fit.ts';
import { environmentPlanned } from './declared.ts';
import { NOTHING_KNOWN, planSettings } from '../../../src/reconciler/plan/plan-settings.ts';
import { DIALECTS } from '../../../src/reconciler/service/dialects.ts';
import { bodyOf, observedOf } from '../../fixture/observed.ts';

const SRC = join(import.meta.dirname, '../../../src/reconciler');

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
  return { fields, missing: [], unmanaged: [], items: new Map(), guards };
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
    expect(plan(observedOf(STORED))).toMatchObject([{ reason: 'the service does not show it' }]);
    const dialect = merging({ search_api_key: { reads: 'nothing' } });
    expect(plan({ ...observedOf(STORED), dialect })).toEqual([]);
  });
});

describe('a field that null does not clear, nor anything else', () => {
  const plan = (
    record: Readonly<Record<string, Value>>,
    of = observedOf({ ...STORED, ...record }),
  ) => planSettings(desired({ user_consents_to_analytics: null }), of, NOTHING_KNOWN);

  it('is no change, and said, whatever the dialect does with what is left out', () => {
    const stored = { user_consents_to_analytics: true };
    const merged = { ...observedOf({ ...STORED, ...stored }), dialect: merging() };
    for (const found of [plan(stored), plan(stored, merged)]) {
      expect(found).toMatchObject({ changes: [], write: null });
      expect(found.warnings).toEqual([
        {
          code: 'not-cleared',
          message:
            'user_consents_to_analytics cannot be cleared: these services keep what is stored. Declare a value, or list it as unmanaged.',
          path: ['user_consents_to_analytics'],
        },
      ]);
    }
  });

  it('is as declared if nothing is stored', () => {
    expect(plan({ user_consents_to_analytics: null })).toMatchObject({ changes: [], warnings: [] });
  });
});

describe('a service of a later release than setpoint knows', () => {
  const terms = { ...NOTHING_KNOWN, base: null, allowed: [] };
  const planned = (observed: ObservedState) =>
    environmentPlanned({ ...terms, desired: desired({ language: 'en' }) }, observed).warnings;

  it('is said in every plan, also if nothing differs', () => {
    const observed = observedOf(STORED);
    expect(planned(observed)).toEqual([]);
    expect(planned({ ...observed, newer: 'It is newer.' })).toEqual([
      { code: 'later-release', message: 'It is newer.', path: [] },
    ]);
  });
});

describe('a dialect that keeps what a write leaves out', () => {
  const inferring = merging({
    llm_model: { renews: ['llm_base_url'], onNull: 'refuses', accepts: { filled: true } },
    llm_base_url: {
      onNull: 'clears',
      clearWith: null,
      shownAsNull: { field: 'llm_model', values: new Map([['a/', 'https://a.example.com']]) },
    },
    max_iterations: { onNull: 'resets', absent: 500, accepts: { least: 1 } },
    security_analyzer: { onNull: 'resets', clearWith: 'none', absent: 'llm' },
  });
  const seen = (record: Readonly<Record<string, Value>>): ObservedState => ({
    ...observedOf({ ...STORED, ...record }),
    dialect: inferring,
  });
  const writeOf = (values: Readonly<Record<string, Value>>, record: Record<string, Value>) =>
    planSettings(desired(values), seen(record), NOTHING_KNOWN).write?.fields ?? null;

  it('is sent no field that does not change, declared or not', () => {
    const key = new Secret('value', '${env:KEY}');
    expect(writeOf({ language: 'fr', sandbox_api_key: key, agent: 'CodeActAgent' }, {})).toEqual({
      language: 'fr',
    });
  });

  it('infers anew what was inferred from a field that changes', () => {
    const before = { llm_model: 'a/one', llm_base_url: null };
    expect(writeOf({ llm_model: 'b/two' }, before)).toEqual({
      llm_model: 'b/two',
      llm_base_url: null,
    });
    expect(
      writeOf({ llm_model: 'b/two' }, { ...before, llm_base_url: 'https://own.example.com' }),
    ).toEqual({
      llm_model: 'b/two',
    });
    expect(writeOf({ llm_model: 'a/one' }, before)).toBeNull();
  });

  it('shows a value as null by what another field begins with, once that is written', () => {
    const url = 'https://a.example.com';
    const a = { llm_model: 'a/one', llm_base_url: null };
    const b = { llm_model: 'b/two', llm_base_url: null };
    expect(writeOf({ llm_base_url: url }, a)).toBeNull();
    expect(writeOf({ llm_base_url: url }, b)).toEqual({ llm_base_url: url });
    expect(writeOf({ llm_base_url: url, llm_model: 'a/one' }, b)).toEqual({
      llm_model: 'a/one',
      llm_base_url: url,
    });
    const model = new Secret('a/one', '${env:MODEL}');
    expect(writeOf({ llm_base_url: url, llm_model: model }, a)).toBeNull();
    expect(writeOf({ llm_base_url: url, llm_model: new UnseenSecret('${env:MODEL}') }, a)).toEqual({
      llm_base_url: url,
    });
  });

  it('has a default in place of null, or a word for none', () => {
    expect(writeOf({ max_iterations: null }, { max_iterations: 500 })).toBeNull();
    expect(writeOf({ max_iterations: null }, { max_iterations: 7 })).toEqual({
      max_iterations: null,
    });
    expect(writeOf({ security_analyzer: null }, { security_analyzer: 'none' })).toBeNull();
    expect(writeOf({ security_analyzer: 'none' }, { security_analyzer: 'none' })).toBeNull();
    expect(writeOf({ security_analyzer: null }, { security_analyzer: 'llm' })).toEqual({
      security_analyzer: 'none',
    });
    const empty: ObservedState = { ...observedOf({}), stored: false, dialect: inferring };
    const first = planSettings(desired({ security_analyzer: null }), empty, NOTHING_KNOWN);
    expect(first.write?.fields).toEqual({ security_analyzer: 'none' });
  });

  it.each<[Value, string | null]>([
    [0, 'max_iterations must be at least 1 there.'],
    [new Secret(0, '${env:N}'), 'max_iterations must be at least 1 there.'],
    [1, null],
    [null, null],
    [new UnseenSecret('${env:N}'), null],
  ])('refuses a value that it does not accept: %o', (value, words) => {
    const wanted = desired({ max_iterations: value });
    expect(findUnsupported(wanted, inferring)?.message ?? null).toBe(
      words === null ? null : `The file does not fit this service (settings-v0 API). ${words}`,
    );
  });

  it.each<[Value, boolean]>([
    [1, true],
    [3600, true],
    [null, true],
    [new Secret(60, '${env:N}'), true],
    [new UnseenSecret('${env:N}'), true],
    [0, false],
    [3601, false],
    [12.5, false],
    [new Secret(12.5, '${env:N}'), false],
  ])('takes a timeout of an mcp entry as each dialect does: %o', (timeout, isWhole) => {
    const url = 'https://b.example.com';
    const wanted = desired({ mcp_config: { shttp_servers: [{ url, timeout }] } });
    const found = Object.values(DIALECTS).map(
      ({ dialect }) => findUnsupported(wanted, dialect)?.message,
    );
    const refusal = `The file does not fit this service (settings-v0 API). mcp_config.shttp_servers[${url}].timeout must be a whole number from 1 to 3600 there.`;
    expect(found).toEqual([isWhole ? undefined : refusal, undefined, undefined]);
  });

  it.each<[string, Value, string | null]>([
    [
      'stdio_servers',
      { name: 'k8s tools', command: 'npx' },
      '["k8s tools"].name must be made of letters, digits, _ and -',
    ],
    [
      'stdio_servers',
      { name: new Secret('a.b', '${env:N}'), command: 'npx' },
      '.name must be made of letters, digits, _ and -',
    ],
    ['stdio_servers', { name: 'k8s_tools-2', command: 'npx' }, null],
    ['sse_servers', { name: 'k8s tools', url: 'wss://b.example.com' }, null],
    [
      'shttp_servers',
      { url: 'ftp://b.example.com' },
      '.url must be an address with http, https, ws or wss, and a host',
    ],
    [
      'sse_servers',
      { url: new Secret('b', '${env:N}') },
      '.url must be an address with http, https, ws or wss, and a host',
    ],
    ['sse_servers', { url: new UnseenSecret('${env:N}') }, null],
  ])(
    'knows the names and addresses that lists take, and maps need not: %s %o',
    (list, entry, words) => {
      const wanted = desired({ mcp_config: { [list]: [entry] } });
      const found = Object.values(DIALECTS).map(
        ({ dialect }) => findUnsupported(wanted, dialect)?.message,
      );
      const refusal = words === null ? undefined : expect.stringContaining(`${words} there.`);
      expect(found).toEqual([refusal, undefined, undefined]);
    },
  );

  it.each(Object.values(DIALECTS))(
    'takes every member of the three lists: $dialect.name',
    ({ dialect }) => {
      const mcp_config = {
        sse_servers: [{ url: 'https://a.example.com/sse', api_key: 'k', name: 'a' }],
        shttp_servers: [{ url: 'https://b.example.com', api_key: 'k', name: 'b', timeout: 30 }],
        stdio_servers: [{ name: 'fs', command: 'npx', args: ['-y'], env: { TOKEN: 't' } }],
      };
      expect(findUnsupported(desired({ mcp_config }), dialect)).toBeNull();
    },
  );

  it.each<[Value, string | null]>([
    [null, 'llm_model cannot be null there: it is always set.'],
    ['', 'llm_model cannot be empty there: it is always set.'],
    ['m', null],
  ])('refuses to be without what is always set: %o', (value, words) => {
    const error = findUnsupported(desired({ llm_model: value }), inferring);
    if (words === null) expect(error).toBeNull();
    else
      expect(error).toMatchObject({
        code: 'unfit-for-service',
        exitCode: 3,
        message: expect.stringContaining(words),
      });
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
    later_field: new Secret(7),
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
