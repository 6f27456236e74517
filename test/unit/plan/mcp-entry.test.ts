import { describe, expect, it } from 'vitest';
import type { Path } from '../../../src/reconciler/model/path.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import { createRecord, type Value } from '../../../src/reconciler/model/value.ts';
import { EMPTY_STORE } from '../../../src/reconciler/service/settings-v0/read.ts';
import {
  compareEntry,
  hiddenSecrets,
  resolveMcpHiding,
  listUnpreservableMembers,
  mergeUnmaskedEntry,
  nameDifferences,
  PLAIN_ANSWER,
  type Hiding,
} from '../../../src/reconciler/plan/mcp-entry.ts';
import { listMissingReferences } from '../../../src/reconciler/plan/decision.ts';

const MASK = new Secret('**********');
const KEY = new Secret('sk-one', '${env:KEY}');
const reason = 'the service does not show it';

/** How an answer hides secrets that has these mcp servers. */
function hidingOf(servers: Value, saved: boolean): Hiding {
  return resolveMcpHiding({
    ...EMPTY_STORE,
    values: createRecord([['mcp_config', servers]]),
    saved,
  });
}

/** A reference of the file that has no value here, with this text around it. */
function missing(...literals: string[]): UnseenSecret {
  const unseen = { reason: 'the variable A is not set', missing: '${env:A}', literals };
  return new UnseenSecret(
    '${env:A}',
    null,
    literals.length === 0 ? { ...unseen, literals: null } : unseen,
  );
}

function compared(declared: Value, actual: Value, nulls = false, member = 'command') {
  const hiding = { ...PLAIN_ANSWER, nulls };
  return compareEntry('stdio_servers', { [member]: declared }, { [member]: actual }, hiding);
}

const SAME = { differing: [], unknown: [] };
const DIFFERS = { differing: ['command'], unknown: [] };
const KINDS = [
  [reason, { kind: 'stored' }],
  ['the variable', { kind: 'missing' }],
] as const;
const notKnown = (path: string[], ref: string | null = null, why = reason) => ({
  differing: [],
  unknown: [{ path, reason: why, ref, ...KINDS.find(([words]) => why.includes(words))?.[1] }],
});

describe('a member of an mcp entry', () => {
  it.each<[string, Value, Value, object]>([
    ['a text and itself', 'a', 'a', SAME],
    ['a text and another', 'a', 'b', DIFFERS],
    ['a text and a list', 'a', ['a'], DIFFERS],
    ['a list and a text', ['a'], 'a', DIFFERS],
    ['a map and a list', { a: 'a' }, ['a'], DIFFERS],
    ['null and an empty text', null, '', SAME],
    ['null and an empty list', null, [], SAME],
    ['null and a list', null, ['a'], DIFFERS],
    ['null and an empty map', null, {}, SAME],
    ['null and a map', null, { a: 'a' }, DIFFERS],
    ['null and a text', null, 'a', DIFFERS],
    ['an empty text and an empty list', '', [], DIFFERS],
    ['an empty list and null', [], null, SAME],
    ['an empty map and null', {}, null, SAME],
    ['a shorter list', ['a'], ['a', 'b'], DIFFERS],
    ['a longer list', ['a', 'b'], ['a'], DIFFERS],
    ['a list and itself', ['a', 'b'], ['a', 'b'], SAME],
    ['a list of other texts', ['a', 'b'], ['a', 'c'], DIFFERS],
    ['a map and itself in another order', { a: '1', b: '2' }, { b: '2', a: '1' }, SAME],
    ['a map with one more', { a: '1' }, { a: '1', b: '2' }, DIFFERS],
    ['a map with another name', { a: MASK }, { b: MASK }, DIFFERS],
    ['a secret and its value', KEY, new Secret('sk-one'), SAME],
    ['a secret and another', KEY, new Secret('sk-two'), DIFFERS],
  ])('%s', (_, declared, actual, verdict) => {
    expect(compared(declared, actual)).toEqual(verdict);
  });

  it.each<[string, Value, Value, object]>([
    ['a text', 'a', MASK, notKnown(['command'])],
    ['a reference, which is named', KEY, MASK, notKnown(['command'], '${env:KEY}')],
    ['null: a mask is a value', null, MASK, DIFFERS],
    ['an empty text', '', MASK, DIFFERS],
    ['one item of a list', ['a', 'b'], ['a', MASK], notKnown(['command', '1'])],
    ['one item of a list beside another that differs', ['a', 'b'], [MASK, 'c'], DIFFERS],
    ['a whole list, by one mask', ['a', 'b', 'c'], [MASK], notKnown(['command'])],
    ['a list that is declared empty', [], [MASK], DIFFERS],
    ['a list by as many masks and one more', ['a'], [MASK, MASK], DIFFERS],
    [
      'a list of two by two',
      ['a', 'b'],
      [MASK, MASK],
      {
        differing: [],
        unknown: [
          { path: ['command', '0'], reason, ref: null, kind: 'stored' },
          { path: ['command', '1'], reason, ref: null, kind: 'stored' },
        ],
      },
    ],
    [
      'one variable',
      { A: 'a', B: KEY },
      { A: 'a', B: MASK },
      notKnown(['command', 'B'], '${env:KEY}'),
    ],
    ['one variable beside another that differs', { A: 'a', B: 'b' }, { A: MASK, B: 'c' }, DIFFERS],
  ])('masked, declared as %s', (_, declared, actual, verdict) => {
    expect(compared(declared, actual)).toEqual(verdict);
  });

  it('of which a snapshot shows a mask is not known', () => {
    const hiding = hidingOf(null, true);
    expect(
      compareEntry('sse_servers', { api_key: KEY }, { api_key: new UnseenSecret() }, hiding),
    ).toEqual(notKnown(['api_key'], '${env:KEY}', 'masked, cannot be compared'));
    expect(
      compareEntry('sse_servers', { api_key: null }, { api_key: new UnseenSecret() }, hiding),
    ).toEqual({ differing: ['api_key'], unknown: [] });
  });

  it('that the service leaves out has its default', () => {
    const entry = { url: 'https://a.example.com' };
    expect(compareEntry('shttp_servers', { ...entry, timeout: 60 }, entry)).toEqual(SAME);
    expect(compareEntry('shttp_servers', { ...entry, timeout: 30 }, entry).differing).toEqual([
      'timeout',
    ]);
    expect(compareEntry('sse_servers', { ...entry, api_key: null }, entry)).toEqual(SAME);
    expect(compareEntry('sse_servers', { later: null }, {})).toEqual(SAME);
  });
});

describe('the names of what differs', () => {
  it.each<[string, Value, Value, readonly string[]]>([
    ['one header of two', { A: 'a', B: 'b' }, { A: 'a', B: 'c' }, ['headers.B']],
    ['a header that the service lacks', { A: 'a', B: 'b' }, { A: 'a' }, ['headers.B']],
    ['a header that the file lacks', { A: 'a' }, { A: 'a', B: 'b' }, ['headers.B']],
    [
      'a mask, which is not known to differ',
      { A: KEY, B: 'b' },
      { A: MASK, B: 'c' },
      ['headers.B'],
    ],
    ['no map on the service', { A: 'a' }, null, ['headers']],
    ['more than five', {}, { a: '1', b: '1', c: '1', d: '1', e: '1', f: '1' }, ['headers']],
  ])('are those of %s', (_, declared, actual, names) => {
    expect(nameDifferences('headers', declared, actual)).toEqual(names);
  });
});

describe('a null, if the service masks other secrets', () => {
  const NULLS = hidingOf([MASK], false);

  it('hides only if something is masked, and never in a snapshot', () => {
    expect(NULLS.nulls).toBe(true);
    expect(hidingOf(['a'], false)).toEqual(PLAIN_ANSWER);
    expect(hidingOf([MASK], true).nulls).toBe(false);
  });

  it.each<[string, object, object, object]>([
    [
      'may be the declared key',
      { api_key: KEY },
      { api_key: null },
      notKnown(['api_key'], '${env:KEY}'),
    ],
    [
      'may be another than the declared null',
      { api_key: null },
      { api_key: null },
      notKnown(['api_key']),
    ],
    [
      'that is left out may be a key, too',
      { api_key: KEY },
      {},
      notKnown(['api_key'], '${env:KEY}'),
    ],
    ['may be a variable', { env: { A: 'a' } }, { env: { A: null } }, notKnown(['env', 'A'])],
    [
      'is none of a program',
      { command: 'a' },
      { command: null },
      { differing: ['command'], unknown: [] },
    ],
    [
      'is no whole environment',
      { env: { A: 'a' } },
      { env: null },
      { differing: ['env'], unknown: [] },
    ],
    ['is no argument', { args: ['a'] }, { args: [''] }, { differing: ['args'], unknown: [] }],
  ])('%s', (_, declared, actual, verdict) => {
    expect(compareEntry('sse_servers', declared as {}, actual as {}, NULLS)).toEqual(verdict);
  });

  it('may be a key whose reference is missing', () => {
    expect(compareEntry('sse_servers', { api_key: missing() }, { api_key: null }, NULLS)).toEqual(
      notKnown(['api_key'], '${env:A}', 'the variable A is not set'),
    );
  });
});

describe('a reference without a value', () => {
  const unknown = [
    {
      path: ['command'],
      reason: 'the variable A is not set',
      ref: '${env:A}',
      kind: 'missing',
    },
  ];

  it.each<[string, Value, boolean]>([
    ['a text that fits', 'https://host/path', false],
    ['a text that does not', 'http://host/path', true],
    ['a secret that fits', new Secret('https://host/path'), false],
    ['a secret that does not', new Secret('http://host/path'), true],
    ['a mask', MASK, false],
    ['a mask of a snapshot', new UnseenSecret(), false],
    ['nothing', null, true],
    ['an empty text', '', true],
    ['a number, which nobody can tell', 4, false],
  ])('beside %s', (_, actual, differs) => {
    const verdict = compared(missing('https://', '/path'), actual);
    expect(verdict).toEqual({ differing: differs ? ['command'] : [], unknown });
  });

  it('is listed if its member surely differs', () => {
    const listed = [{ ...unknown[0], path: ['command', '1'] }];
    expect(compared(['a', missing()], ['b', 'c'])).toEqual({
      differing: ['command'],
      unknown: listed,
    });
    expect(compared(['a', missing()], ['a', 'c'])).toEqual({ differing: [], unknown: listed });
  });

  it('is found in lists and maps, by its own path; what a snapshot masks is none', () => {
    const found = listMissingReferences(['x'], {
      args: ['a', missing()],
      env: { A: missing(), B: KEY, C: new UnseenSecret() },
      name: 'n',
    });
    expect(found.map(({ path }) => path)).toEqual([
      ['x', 'args', '1'],
      ['x', 'env', 'A'],
    ]);
    expect(found[0]).toMatchObject({ reason: 'the variable A is not set', ref: '${env:A}' });
    expect(listMissingReferences(['x'], null)).toEqual([]);
  });
});

describe('what a write would lose of an entry', () => {
  const hides = (list: 'sse_servers' | 'stdio_servers', entry: object, nulls = false) =>
    hiddenSecrets(list, entry as {}, { ...PLAIN_ANSWER, nulls });

  it.each<['sse_servers' | 'stdio_servers', object, boolean, Path[]]>([
    ['sse_servers', { url: 'u', api_key: MASK }, false, [['api_key']]],
    ['sse_servers', { url: 'u', api_key: MASK }, true, [['api_key']]],
    ['sse_servers', { url: 'u', api_key: null }, false, []],
    ['sse_servers', { url: 'u', api_key: null }, true, [['api_key']]],
    ['sse_servers', { url: 'u' }, true, [['api_key']]],
    ['sse_servers', { url: 'u', api_key: new Secret('sk-read') }, true, []],
    ['stdio_servers', { name: 'n', args: ['a', MASK] }, false, [['args']]],
    ['stdio_servers', { name: 'n', api_key: null }, true, []],
    ['stdio_servers', { env: { A: MASK, B: 'b', C: null } }, false, [['env', 'A']]],
    [
      'stdio_servers',
      { env: { A: MASK, B: 'b', C: null } },
      true,
      [
        ['env', 'A'],
        ['env', 'C'],
      ],
    ],
    ['stdio_servers', { env: MASK }, false, [['env']]],
    ['stdio_servers', { headers: { A: MASK } }, false, [['headers']]],
  ])('%s %j, nulls %s: %j', (list, entry, nulls, members) => {
    expect(hides(list, entry, nulls)).toEqual(members);
  });

  it('is named by its path, a variable with dots in its name by one segment', () => {
    const remedy = 'Declare the entry with it (a reference, or null for none)';
    const stops = 'always';
    expect(
      listUnpreservableMembers(
        ['mcp_config', 'stdio_servers', 'files'],
        [['env', 'A.B'], ['args'], ['environment']],
      ),
    ).toEqual([
      { path: ['mcp_config', 'stdio_servers', 'files', 'env', 'A.B'], stops, remedy },
      { path: ['mcp_config', 'stdio_servers', 'files', 'args'], stops, remedy },
      { path: ['mcp_config', 'stdio_servers', 'files', 'environment'], stops, remedy },
    ]);
  });

  it('is not sent back as a mask, and what is declared is laid over the rest', () => {
    const actual = { name: 'n', command: 'old', args: [MASK], later: 'kept' };
    expect({ ...mergeUnmaskedEntry({ name: 'n', command: 'new' }, actual) }).toEqual({
      name: 'n',
      command: 'new',
      later: 'kept',
    });
  });
});
