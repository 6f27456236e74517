import { describe, expect, it } from 'vitest';
import type { Change, SettingsPlan } from '../../../src/reconciler/model/plan.ts';
import { Identity, Secret } from '../../../src/reconciler/model/secret.ts';
import type { SecretState } from '../../../src/reconciler/model/state.ts';
import type { Value, ValueRecord } from '../../../src/reconciler/model/value.ts';
import {
  findClearedSecrets,
  listRemovedEntries,
} from '../../../src/reconciler/plan/plan-secrets.ts';
import { change, observed, settingsPlan } from './hand-made.ts';
import { writeOf } from '../../fixture/observed.ts';

const ENTRY = ['mcp_config', 'shttp_servers', 'https://a.example'];
const KEY = new Secret('stored-key');

function cleared(changes: readonly Change[], more: Partial<SettingsPlan> = {}) {
  return findClearedSecrets(settingsPlan(changes, more), observed({}));
}

/** The paths that a change of an entry clears. */
function lost(before: Value, after: Value, path: readonly string[] = ENTRY): string[] {
  return cleared([change(path, { before, after })]).map((one) =>
    one.path.slice(path.length).join('.'),
  );
}

describe('a secret field', () => {
  it('is cleared by a clear, and by nothing else', () => {
    expect(cleared([change(['llm_api_key'], { action: 'clear', before: KEY })])).toEqual([
      { message: 'The plan clears llm_api_key.', path: ['llm_api_key'] },
    ]);
    for (const action of ['set', 'change', 'rotate'] as const)
      expect(cleared([change(['llm_api_key'], { action, before: KEY })])).toEqual([]);
  });

  it('is not one that holds no secret', () => {
    expect(cleared([change(['agent'], { action: 'clear', before: 'A' })])).toEqual([]);
    expect(cleared([change([], { action: 'clear', before: 'A' })])).toEqual([]);
  });
});

describe('a secret of a native part', () => {
  const SECRETS = ['agent_settings', 'agent_context', 'secrets'];
  const AWS = ['agent_settings', 'llm', 'aws_secret_access_key'];
  const paths = (one: Change, stored: readonly (readonly [string, SecretState])[] = []) =>
    findClearedSecrets(settingsPlan([one]), { ...observed({}), secrets: new Map(stored) }).map(
      ({ path }) => path.join('.'),
    );

  it('is cleared by null, whether the service reports it or not', () => {
    for (const path of [AWS, [...SECRETS, 'TOKEN']]) {
      const cleared = change(path, { action: 'clear', before: new Secret('') });
      expect(paths(cleared)).toEqual([path.join('.')]);
      expect(paths(cleared, [[path.join('.'), 'stored']])).toEqual([path.join('.')]);
      expect(paths(change(path, { action: 'rotate', before: new Secret('') }))).toEqual([]);
    }
  });

  it('goes with what is around it, unless it is written with that', () => {
    const stored = [
      [`${SECRETS.join('.')}.A`, 'stored'],
      [`${SECRETS.join('.')}.B`, 'not-stored'],
      ['llm_api_key', 'stored'],
    ] as const;
    for (const path of [SECRETS, SECRETS.slice(0, -1)]) {
      expect(paths(change(path, { action: 'clear' }), stored)).toEqual([
        'agent_settings.agent_context.secrets.A',
      ]);
    }
    expect(paths(change(SECRETS, { after: { A: new Secret('new') } }), stored)).toEqual([]);
    expect(paths(change(SECRETS, { after: { A: '' } }), stored)).toHaveLength(1);
    expect(paths(change(SECRETS, { action: 'clear' }))).toEqual([SECRETS.join('.')]);
    expect(paths(change(['agent_settings', 'llm'], { action: 'clear' }), stored)).toEqual([
      'llm_api_key',
    ]);
    expect(paths(change(['misc_settings'], { action: 'clear' }), stored)).toEqual([]);
  });

  it('is what reads like one, stands at such a name, or is known to be one', () => {
    const isCleared = (name: string, before: Value) =>
      paths(change(['agent_settings', ...name.split('.')], { before })).length === 1;
    const note = new Secret('two words');
    expect(isCleared('note', note)).toBe(false);
    expect(isCleared('headers_note', note)).toBe(false);
    expect(isCleared('note', new Secret('sk-live-0123456789abcdef'))).toBe(true);
    expect(isCleared('note', new Secret('two words', null, new Identity('known')))).toBe(true);
    expect(isCleared('api_token', note)).toBe(true);
    expect(isCleared('api_token.note', note)).toBe(true);
    expect(isCleared('Headers.note', note)).toBe(true);
    expect(isCleared('own_header.note', note)).toBe(true);
    expect(isCleared('agent_context.secrets.note', note)).toBe(true);
  });

  it('that the service reports is judged by that report, and not by what is shown', () => {
    const gone = change(AWS, { before: KEY, after: null });
    expect(paths(gone)).toEqual([AWS.join('.')]);
    expect(paths(gone, [[AWS.join('.'), 'stored']])).toEqual([]);
  });

  it('is named once, also if it is shown', () => {
    const before = { A: new Secret('a-stored-one') };
    const stored = [[`${SECRETS.join('.')}.A`, 'stored']] as const;
    expect(paths(change(SECRETS, { action: 'clear', before }), stored)).toHaveLength(1);
  });
});

describe('an entry', () => {
  it('that is removed takes its secrets along', () => {
    const removed = (entry: Value) => cleared([change(ENTRY, { action: 'remove', before: entry })]);
    expect(removed({ api_key: KEY })).toEqual([
      {
        message:
          'The plan removes mcp_config.shttp_servers[https://a.example], which contains a secret.',
        path: ENTRY,
      },
    ]);
    expect(removed({ api_key: new Secret('') })).toEqual([]);
    expect(removed({ url: 'https://a.example' })).toEqual([]);
  });

  it('loses a secret if there is nothing afterwards', () => {
    expect(lost({ api_key: KEY }, { api_key: null })).toEqual(['api_key']);
    expect(lost({ api_key: KEY }, {})).toEqual(['api_key']);
    expect(lost({ api_key: KEY }, null)).toEqual(['api_key']);
    expect(lost({ api_key: KEY }, { api_key: '' })).toEqual(['api_key']);
    expect(lost({ env: { A: KEY, B: KEY } }, { env: { B: KEY } })).toEqual(['env.A']);
  });

  it('loses none that another takes the place of, and none if there was none', () => {
    expect(lost({ api_key: KEY }, { api_key: new Secret('new') })).toEqual([]);
    expect(lost({ api_key: KEY }, { api_key: 'new' })).toEqual([]);
    expect(lost({ api_key: new Secret('') }, {})).toEqual([]);
    expect(lost({ timeout: 60, note: 'x' }, {})).toEqual([]);
  });

  it('loses what is in a list if more secrets leave it than values come', () => {
    const [one, other] = [new Secret('one'), new Secret('other')];
    expect(lost({ args: [one] }, { args: [] })).toEqual(['args']);
    expect(lost({ args: [one] }, {})).toEqual(['args']);
    expect(lost({ args: [one, other] }, { args: [other] })).toEqual(['args']);
    expect(lost({ args: [one] }, { args: [new Secret('one')] })).toEqual([]);
    expect(lost({ args: [one] }, { args: ['one'] })).toEqual([]);
    expect(lost({ args: ['one'] }, { args: [one] })).toEqual([]);
    expect(lost({ args: [one] }, { args: ['two'] })).toEqual([]);
    expect(lost({ args: [one, one] }, { args: ['one'] })).toEqual(['args']);
    expect(lost({ args: ['a', one] }, { args: ['a'] })).toEqual(['args']);
    expect(lost({ args: ['a', 'b'] }, { args: [] })).toEqual([]);
    expect(lost({ args: [one, 'a'] }, { args: ['a', 'b'] })).toEqual([]);
    expect(lost({ args: [{ deep: one }] }, { args: [] })).toEqual(['args']);
    expect(lost({ args: [{ deep: one }, other] }, { args: [{ deep: 'one' }] })).toEqual(['args']);
    expect(lost({ args: [new Secret('')] }, { args: [] })).toEqual([]);
  });

  it('of a whole config is not judged by its members, nor is one that is removed', () => {
    expect(lost({ sse_servers: [KEY] }, {}, ['mcp_config'])).toEqual([]);
    expect(
      cleared([change([...ENTRY, 'api_key'], { action: 'remove', before: new Secret('') })]),
    ).toEqual([]);
  });
});

describe('a url', () => {
  const url = (text: string) => new Secret(text, null, new Identity('https://a.example'));
  const loses = (before: string, after: Value) => lost({ url: url(before) }, { url: after }).length;

  it('loses what may be a secret in it: userinfo, a parameter, a fragment', () => {
    expect(loses('https://me:pw@a.example', 'https://a.example')).toBe(1);
    expect(loses('https://a.example?k=1', 'https://a.example')).toBe(1);
    expect(loses('https://a.example?k=1&l=2', 'https://a.example?l=2')).toBe(1);
    expect(loses('https://a.example#part', 'https://a.example')).toBe(1);
    expect(loses('https://a.example?k=1', null)).toBe(1);
    expect(loses('https://a.example?k=1', '')).toBe(1);
    expect(loses('https://a.example?k=1', 7)).toBe(1);
    expect(loses(' https://me:pw@a.example', 'https://a.example')).toBe(1);
    expect(loses('https://a.example?k=1#part', 'https://a.example?k=2')).toBe(1);
    expect(loses('https://a.example?k=1', 'https://a.example/?#k=1')).toBe(1);
    expect(loses('https://a.example?#part', 'https://a.example')).toBe(1);
    expect(loses('https://a.example/a-token', '')).toBe(1);
  });

  it('loses nothing while each part has one in its place', () => {
    expect(loses('https://me:pw@a.example', 'https://you:other@b.example')).toBe(0);
    expect(loses('https://a.example?k=1', 'https://a.example/x?k=2&m=3')).toBe(0);
    expect(loses('https://a.example?k=1', ' https://a.example?k ')).toBe(0);
    expect(loses('https://a.example#one', 'https://a.example#other')).toBe(0);
    expect(loses('https://a.example?a=1&&b=2', 'https://a.example?b=3&a=4')).toBe(0);
    expect(loses('https://a.example/x@y?', 'https://a.example')).toBe(0);
    expect(loses('https://a.example?k=1', 'https://me:pw@a.example?k=1#part')).toBe(0);
    expect(loses('https://a.example/https://me@b.example', 'https://a.example')).toBe(0);
    expect(loses('https://a.example/x?k=me@y', 'https://a.example?k=1')).toBe(0);
    expect(loses('https://a.example/#?k=1', 'https://a.example#?l=1')).toBe(0);
    expect(loses('https://a.example?k=1', new Secret('https://a.example?k=2'))).toBe(0);
    expect(loses('https://a.example?k=1', new Secret('https://a.example'))).toBe(1);
    expect(loses('https://a.example?x#y\nz', 'https://a.example?x#u')).toBe(0);
  });

  it('that is masked is kept by any that may hold a secret, and a mask keeps any', () => {
    const hidden = 'https://a.example?k=**********';
    expect(loses(hidden, 'https://a.example?other=1')).toBe(0);
    expect(loses(hidden, 'https://a.example')).toBe(1);
    expect(loses('https://a.example?k=1', new Secret(hidden))).toBe(0);
    expect(loses('https://a.example?k=1', new Secret('**********'))).toBe(0);
  });

  it('of another kind is a secret like any other', () => {
    const name = new Secret('https://a.example?k=1', null, new Identity('a name'));
    expect(lost({ url: name }, { url: 'anything' })).toEqual([]);
    expect(lost({ url: name }, {})).toEqual(['url']);
  });
});

it('what a write cannot preserve is left to lose-unreadable', () => {
  const gone = [change(ENTRY, { before: { api_key: KEY, other: KEY } })];
  const stops = { stops: 'always', remedy: 'Declare it' } as const;
  const left = (path: readonly string[]) =>
    cleared(gone, { unpreservable: [{ path, ...stops }] }).map((one) => one.path.at(-1));
  expect(left([...ENTRY, 'api_key'])).toEqual(['other']);
  expect(left(ENTRY)).toEqual([]);
  expect(left(['mcp_config'])).toEqual([]);
  expect(left(['mcp_config', 'other'])).toEqual(['api_key', 'other']);
  expect(
    cleared([change(['llm_api_key'], { action: 'clear' })], {
      unpreservable: [{ path: ['llm_api_key'], ...stops }],
    }),
  ).toHaveLength(1);
});

describe('removed entries', () => {
  const config = (...urls: string[]): Value => ({
    sse_servers: urls.map((url) => ({ url })),
    stdio_servers: [{ name: 'files' }],
    shttp_servers: 'none',
  });
  const removed = (one: Change, record: ValueRecord | null = null) =>
    listRemovedEntries(
      settingsPlan([one], { write: record === null ? null : writeOf(record) }),
    ).map(({ path }) => path.slice(1).join(' '));
  const clear = (before: Value) => change(['mcp_config'], { action: 'clear', before });

  it('are those that a change names, or all of a config that is cleared', () => {
    expect(removed(change(ENTRY, { action: 'remove' }))).toEqual([
      'shttp_servers https://a.example',
    ]);
    expect(removed(clear(config('https://a', 'https://a')))).toEqual([
      'sse_servers https://a',
      'sse_servers https://a#2',
      'stdio_servers files',
    ]);
    expect(removed(clear(null))).toEqual([]);
  });

  it('but for those that the write keeps', () => {
    expect(
      removed(clear(config('https://a', 'https://b')), { mcp_config: config('https://b') }),
    ).toEqual(['sse_servers https://a']);
  });

  it('are called by their whole path', () => {
    expect(listRemovedEntries(settingsPlan([clear(config('https://a'))]))[0]?.path).toEqual([
      'mcp_config',
      'sse_servers',
      'https://a',
    ]);
  });

  it('are none if a config is changed, or another field cleared', () => {
    expect(removed(change(['mcp_config'], { before: config('https://a') }))).toEqual([]);
    expect(removed(change(['agent'], { action: 'clear', before: config('https://a') }))).toEqual(
      [],
    );
  });

  it('carry what was stored', () => {
    expect(listRemovedEntries(settingsPlan([clear(config('https://a'))]))[0]?.entry).toEqual({
      url: 'https://a',
    });
  });
});
