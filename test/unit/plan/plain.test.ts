import { describe, expect, it } from 'vitest';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import { WireNumber, type Value } from '../../../src/reconciler/model/value.ts';
import { digestsUnder } from '../../../src/reconciler/host/digests.ts';
import { digestDeclaredChanges } from '../../../src/reconciler/plan/declared.ts';
import {
  createFailedEnvironment,
  planEnvironment,
} from '../../../src/reconciler/plan/plan-environment.ts';
import { NOTHING_KNOWN, planSettings } from '../../../src/reconciler/plan/plan-settings.ts';
import { listWrittenSecrets } from '../../../src/reconciler/plan/plan-secrets.ts';
import { sandboxPart } from '../../../src/reconciler/resources/sandboxes/resource.ts';
import { NO_SANDBOXES } from '../../../src/reconciler/resources/sandboxes/plan-sandboxes.ts';
import { observeV0Record } from '../../../src/reconciler/service/settings-v0/read.ts';
import { observedOf, writeOf } from '../../fixture/observed.ts';
import { declared, environmentPlanned, planned } from './declared.ts';
import { change, planOf, step } from './hand-made.ts';

const MASK = new Secret('**********');

describe('a plain field', () => {
  const plan = (text: string, value: Value, variables = {}) => {
    const [name = ''] = text.split(':');
    const record = observeV0Record({ [name]: value });
    return planSettings(declared(text, variables), record, NOTHING_KNOWN);
  };

  it.each<[string, Value, object[]]>([
    ['language: en', 'en', []],
    ['language: en', 'de', [{ action: 'change', before: 'de', after: 'en', reason: 'differs' }]],
    ['language: en', null, [{ action: 'set', before: null, after: 'en', reason: 'not set' }]],
    ['language: en', '', [{ action: 'set', after: 'en' }]],
    [
      'language: null',
      'en',
      [{ action: 'clear', before: 'en', after: null, reason: 'set, will be cleared' }],
    ],
    ['language: null', null, []],
    ['llm_model: null', '', []],
    ['llm_model: ""', null, []],
    ['llm_model: ""', 'm', [{ action: 'clear', before: 'm', after: null }]],
    ['llm_model: null', 'm', [{ action: 'clear', after: null }]],
    ['confirmation_mode: false', true, [{ action: 'change', before: true, after: false }]],
    ['max_iterations: 5', 5, []],
    ['max_iterations: 5', new WireNumber('5.0'), []],
  ])('%s, stored %j', (text, value, changes) => {
    const found = plan(text, value);
    expect(found.changes).toMatchObject(changes);
    expect(found.changes).toHaveLength(changes.length);
    expect(found.unknown).toEqual([]);
  });

  it('is masked before and after if it comes from a reference', () => {
    const values = { language: 'de', max_iterations: 5, confirmation_mode: true };
    for (const [name, value] of Object.entries(values)) {
      const text = { language: 'en', max_iterations: '6', confirmation_mode: 'false' }[name] ?? '';
      const [one] = plan(`${name}: \${env:A}`, value, { A: text }).changes;
      expect(one).toMatchObject({ sensitive: true, ref: '${env:A}', action: 'change' });
      expect(one?.before).toBeInstanceOf(Secret);
    }
  });

  it('is masked if it is a url with a secret in it', () => {
    const [one] = plan('llm_base_url: "https://a.example.com?key=k"', null).changes;
    expect(one).toMatchObject({ sensitive: true, before: null });
    expect(one?.after).toBeInstanceOf(Secret);
    const stored = plan('llm_base_url: https://a.example.com', new Secret('https://b?key=k'));
    expect(stored.changes).toMatchObject([{ sensitive: true, after: 'https://a.example.com' }]);
  });

  it('whose reference is missing differs if nothing is stored, or what does not fit', () => {
    const missing = [
      { path: ['llm_base_url'], reason: 'the variable A is not set', ref: 'https://${env:A}' },
    ];
    const text = 'llm_base_url: "https://${env:A}"';
    expect(plan(text, 'https://x')).toMatchObject({ changes: [], unknown: missing });
    expect(plan(text, 'http://x')).toMatchObject({
      changes: [{ action: 'change' }],
      unknown: missing,
    });
    expect(plan(text, null)).toMatchObject({ changes: [{ action: 'set' }], unknown: missing });
    expect(plan(text, '')).toMatchObject({ changes: [{ action: 'set' }], unknown: missing });
    expect(plan(text, MASK)).toMatchObject({ changes: [], unknown: missing });
    expect(plan('max_iterations: ${env:A}', 5)).toMatchObject({ changes: [] });
  });

  it('that the service masks cannot be compared, but is not empty', () => {
    const unknown = [{ path: ['language'], reason: 'masked, cannot be compared', ref: null }];
    expect(plan('language: en', MASK)).toMatchObject({ changes: [], unknown });
    expect(plan('language: null', MASK)).toMatchObject({ changes: [{ action: 'clear' }], unknown });
    expect(plan('language: ${env:A}', MASK, { A: 'en' }).unknown).toMatchObject([
      { ref: '${env:A}' },
    ]);
    expect(plan('language: null', new UnseenSecret())).toMatchObject({
      changes: [{ action: 'clear' }],
    });
  });

  it('that is unmanaged is not planned, and is listed with what else the file leaves alone', () => {
    const desired = declared('agent: A', {}, 'unmanaged: [language]');
    const record = {
      language: 'de',
      agent: 'A',
      max_iterations: null,
      enable_default_condenser: true,
      provider_tokens_set: { github: null },
      llm_api_key_set: true,
    };
    const found = planned(desired, record);
    expect(found).toMatchObject({ changes: [], write: null });
    expect(found.unmanaged).toEqual([
      ['language'],
      ['llm_api_key'],
      ['secrets_store'],
      ['language'],
    ]);
  });
});

it('what secrets_store declares is no part of the settings: it is planned by name', () => {
  const text =
    'secrets_store: { provider_tokens: { github: { token: "${env:A}" } } }\nlanguage: en';
  const desired = declared(text, { A: 'a' });
  const found = planned(desired, { language: 'fr', provider_tokens_set: { github: null } });
  expect(Object.keys(found.write?.fields ?? {})).toEqual(['language']);
  expect(found.unknown).toEqual([]);
  expect(found.unmanaged).not.toContainEqual(['secrets_store']);
  expect([...desired.items.keys()]).toEqual(['git_providers']);
});

it('a password whose reference is missing is set if nothing is stored, and else only listed', () => {
  const plan = (flag: boolean) =>
    planned(declared('llm_api_key: ${env:A}'), { llm_api_key_set: flag });
  expect(plan(false)).toMatchObject({
    changes: [{ action: 'set', before: null, reason: 'not set, will be set', ref: '${env:A}' }],
    unknown: [{ path: ['llm_api_key'], reason: 'the variable A is not set', ref: '${env:A}' }],
  });
  expect(plan(true)).toMatchObject({ changes: [], unknown: [{ path: ['llm_api_key'] }] });
});

it('a password that was stored has an empty secret before its change', () => {
  const [cleared] = planned(declared('llm_api_key: null'), { llm_api_key_set: true }).changes;
  expect(cleared?.before).toSatisfy((before: Secret) => before.isEmpty());
});

it('fingerprints are asked for the field of a password', () => {
  const asked: unknown[] = [];
  const compare = (path: readonly string[], value: string) => {
    asked.push([path, value]);
    return 'same' as const;
  };
  planned(
    declared('llm_api_key: ${env:A}', { A: 'a' }),
    { llm_api_key_set: true },
    { fingerprints: { compare } },
  );
  expect(asked).toEqual([[['llm_api_key'], 'a']]);
});

it('the secrets of a write are the passwords in it: what is declared, or null if it was cleared', () => {
  const desired = declared(
    'language: en\nllm_api_key: ${env:A}\nsearch_api_key: null\nsandbox_api_key: null',
    { A: 'a' },
  );
  const write = writeOf({ language: 'en', llm_api_key: 'a', search_api_key: '' });
  const written = listWrittenSecrets(desired, write);
  expect(written.map(({ path }) => path)).toEqual([['llm_api_key'], ['search_api_key']]);
  expect(written[0]?.value?.reveal()).toBe('a');
  expect(written[1]?.value).toBeNull();
});

describe('a snapshot of settings', () => {
  it('hides nothing of mcp that a write would lose: its masks are setpoint’s own', () => {
    const config = {
      sse_servers: [{ url: 'https://a.example.com', api_key: new UnseenSecret() }],
      shttp_servers: [],
    };
    const saved = observeV0Record({ language: 'en', mcp_config: config }, true);
    const text = 'language: fr\nmcp_config: { shttp_servers: [] }';
    const found = planSettings(declared(text), saved, NOTHING_KNOWN);
    expect(found.unpreservable.filter(({ path }) => path[0] === 'mcp_config')).toEqual([]);
  });
});

describe('an environment', () => {
  it('without settings is planned for its sandboxes alone', () => {
    const desired = declared('language: en');
    const terms = { ...NOTHING_KNOWN, desired, base: null, allowed: [] };
    const busy = { code: 'sandbox-busy', message: 'm', path: [] } as const;
    const parts = [sandboxPart({ ...NO_SANDBOXES, warnings: [busy] })];
    expect(planEnvironment(terms, null, parts)).toMatchObject({
      plan: parts,
      observed: null,
      warnings: [{ code: 'sandbox-busy' }],
      refusals: [],
    });
  });

  it('has a warning for what a write would lose, unless that is why it is refused', () => {
    const record = observedOf({ language: 'de', later_key_set: true, other_key_set: true });
    const desired = declared('language: en');
    const warned = (on: readonly 'lose-unreadable'[]) => {
      const guards = { ...desired.guards, on: new Set(on) };
      const terms = { ...NOTHING_KNOWN, desired: { ...desired, guards }, base: null, allowed: [] };
      const found = environmentPlanned(terms, record);
      const paths = (all: readonly { path: readonly string[] }[]) =>
        all.map(({ path }) => path.join('.'));
      return { warnings: paths(found.warnings), refusals: paths(found.refusals) };
    };
    const { warnings, refusals } = warned(['lose-unreadable']);
    expect(refusals.length).toBeGreaterThan(0);
    expect(warnings.filter((path) => refusals.includes(path))).toEqual([]);
  });

  it('that could not be planned is an error, and claims nothing', () => {
    const about = { name: 'prod', origin: 'https://a.example.com', observed_at: null };
    const error = { code: 'unreachable' as const, message: 'No.', hint: '' };
    const warning = { code: 'guard', message: 'm', path: [] } as const;
    expect(createFailedEnvironment(about, error as never, [warning])).toEqual({
      ...about,
      dialect: null,
      release: null,
      status: 'error',
      complete: false,
      changes: [],
      unknown: [],
      warnings: [warning],
      refusals: [],
      unmanaged: [],
      digests: null,
      error,
    });
  });
});

describe('the digests of what a file declares', () => {
  const digests = (text: string, path: readonly string[]) =>
    digestDeclaredChanges(
      planOf([change(path)]),
      declared(text, { A: 'a', B: 'a' }),
      digestsUnder('00'),
    );

  it('tell values, references and places apart, and not the order of keys', () => {
    const env = (members: string) =>
      digests(`mcp_config: { stdio_servers: [{ name: f, command: c, env: { ${members} } }] }`, [
        'mcp_config',
      ]);
    const one = env('A: "1", B: "2"');
    expect(env('B: "2", A: "1"')).toEqual(one);
    expect(env('A: "1", B: "3"')).not.toEqual(one);
    expect(env('A: "${env:A}"')).not.toEqual(env('A: "${env:B}"'));
    expect(digests('max_iterations: 5', ['max_iterations'])).not.toEqual(
      digests('max_iterations: 6', ['max_iterations']),
    );
  });

  it('tell what a step may do to a conversation', () => {
    const of = (
      whenBusy: 'skip' | 'pause',
      kind: 'settings' | 'sandbox' = 'sandbox',
      id = 'one',
    ) => {
      const one = step(id);
      const steps = [{ ...one, item: { ...one.item, whenBusy } }];
      const plan = kind === 'sandbox' ? planOf([], {}, steps) : planOf([change([id])]);
      return digestDeclaredChanges(plan, declared('language: en'), digestsUnder('00'));
    };
    expect(of('skip')).toEqual(of('skip'));
    expect(of('skip')).not.toEqual(of('pause'));
    expect(of('skip')).not.toEqual(of('skip', 'sandbox', 'two'));
  });
});
