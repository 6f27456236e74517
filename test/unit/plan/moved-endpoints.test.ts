import { describe, expect, it } from 'vitest';
import type { Change } from '../../../src/reconciler/model/plan.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import type { Value, ValueRecord } from '../../../src/reconciler/model/value.ts';
import { findMovedEndpoints } from '../../../src/reconciler/plan/moved.ts';
import { change, observed, settingsPlan } from './hand-made.ts';

const STORED = observed({ llm_api_key_set: true });

describe('llm_model', () => {
  const INFERRING = { llm_api_key_set: true, user_version: null, v1_enabled: true };
  const moves = (
    before: Value,
    after: Value,
    record: ValueRecord = INFERRING,
    more: Change[] = [],
  ) =>
    findMovedEndpoints(
      settingsPlan([change(['llm_model'], { before, after }), ...more]),
      observed(record),
    ).map(({ path }) => path);
  const model = (text: string) => new Secret(text, '${env:MODEL}');

  it.each<[Value, Value]>([
    ['anthropic/a', 'openai/b'],
    ['claude-a', 'gpt-b'],
    ['gpt-a', 'bedrock/b'],
    ['bedrock/a', 'azure/b'],
    ['anthropic/a', model('openai/b')],
    [model('anthropic/a'), model('bedrock/b')],
    [model('bedrock/a'), model('azure/b')],
    ['bedrock/a', 'b'],
  ])('of another provider takes the stored key there: %s to %s', (before, after) => {
    expect(moves(before, after)).toEqual([['llm_model']]);
  });

  it.each<[string, Value, Value]>([
    ['the same provider', 'anthropic/a', 'claude-b'],
    ['another name of no known provider', 'a', 'b'],
    ['none before', null, 'openai/b'],
    ['what is no name before', 7, 'openai/b'],
    ['a reference without a value', 'anthropic/a', new UnseenSecret('${env:MODEL}')],
    ['a reference to the same provider', 'bedrock/a', model('bedrock/b')],
    ['a reference to the address of the same provider', 'claude-a', model('anthropic/b')],
    ['names of no known provider that begin with a slash', '/a/x', '/b/x'],
  ])('takes none along with %s', (_, before, after) => {
    expect(moves(before, after)).toEqual([]);
  });

  it('takes none to an address of its own, with another key, or from a service that infers nothing', () => {
    const [a, b] = ['anthropic/a', 'openai/b'];
    expect(moves(a, b, { ...INFERRING, llm_base_url: 'https://own.example' })).toEqual([]);
    expect(moves(a, b, INFERRING, [change(['llm_api_key'])])).toEqual([]);
    expect(moves(a, b, { ...INFERRING, llm_api_key_set: false })).toEqual([]);
    expect(moves(a, b, { llm_api_key_set: true })).toEqual([]);
    const own = change(['llm_base_url'], { before: null, after: 'https://own.example' });
    expect(moves(a, b, INFERRING, [own])).toEqual([['llm_base_url']]);
    const state = observed(INFERRING);
    const without = { ...state, dialect: { ...state.dialect, fields: new Map() } };
    const plan = settingsPlan([change(['llm_model'], { before: a, after: b })]);
    expect(findMovedEndpoints(plan, without)).toEqual([]);
  });
});

describe('llm_base_url', () => {
  const found = (before: Value, after: Value, state = STORED, ...more: Change[]) =>
    findMovedEndpoints(settingsPlan([change(['llm_base_url'], { before, after }), ...more]), state);
  const [HERE, THERE] = ['https://a.example/v1', 'https://b.example/v1'];

  it('that moves to another host takes the stored key along', () => {
    expect(found(HERE, THERE)).toEqual([
      {
        message:
          'The plan moves llm_base_url to another host, and the stored llm_api_key would go there.',
        path: ['llm_base_url'],
      },
    ]);
  });

  it('takes none along if none is stored, or another is written with it', () => {
    expect(found(HERE, THERE, observed({}))).toEqual([]);
    expect(found(HERE, THERE, observed({ llm_api_key_set: false }))).toEqual([]);
    expect(found(HERE, THERE, STORED, change(['llm_api_key']))).toEqual([]);
    expect(found(HERE, THERE, STORED, change(['search_api_key']))).toHaveLength(1);
  });

  it.each([
    ['another path', HERE, 'https://a.example/v2'],
    ['another case of the host, and a dot at its end', HERE, 'https://A.Example./v1'],
    ['blanks around it', HERE, ` ${HERE} `],
    ['the port that is the scheme’s own', HERE, 'https://a.example:443/v1'],
    ['a scheme that protects', 'http://a.example:8080', 'https://a.example:8080'],
    ['no scheme, then one', 'a.example', 'https://a.example'],
    ['a socket instead', 'https://a.example', 'wss://a.example'],
    ['a socket that was not protected', 'ws://a.example:81', 'http://a.example:81'],
    ['slashes in front, and no scheme', '//a.example', 'a.example'],
    ['three of them', '///a.example', 'a.example'],
    ['the same text behind blanks that is no address', ' a b', 'a b '],
    ['the same text that is no address', 'not an address', 'not an address'],
    ['nothing', '', null],
    ['blanks instead of nothing', null, '  '],
  ])('stays where it is with %s', (_, before, after) => {
    expect(found(before, after)).toEqual([]);
  });

  it.each([
    ['another port', HERE, 'https://a.example:8443/v1'],
    ['a scheme that protects less', 'https://a.example:8080', 'http://a.example:8080'],
    ['a socket that protects less', 'wss://a.example:8080', 'ws://a.example:8080'],
    ['another host', HERE, 'https://a.example.evil.example/v1'],
    ['another host, scheme left out', 'a.example', 'b.example'],
    ['a host with a dot less', HERE, 'https://aexample/v1'],
    ['an address in its path', 'a.example', 'b.example/https://a.example'],
    ['a host behind two slashes', 'a.example', '//b.example'],
    ['a host of its own for none', null, HERE],
    ['none for a host of its own', HERE, null],
    ['what programs read in two ways: a backslash', HERE, 'https://a.example\\@b.example'],
    ['a blank', HERE, 'https://a.example/ @b.example'],
    ['a control character', HERE, 'https://a.example\u0000.b.example'],
    ['what is no address', HERE, 'https://'],
    ['one that is no address for another', 'a b', 'c d'],
    ['something other than text', HERE, 7],
  ])('moves with %s', (_, before, after) => {
    expect(found(before, after)).toHaveLength(1);
  });

  it('is compared behind references too', () => {
    expect(found(new Secret(HERE), new Secret(`${HERE}/x`, '${env:URL}'))).toEqual([]);
    expect(found(HERE, new Secret(THERE, '${env:URL}'))).toHaveLength(1);
    expect(found(new Secret(THERE), HERE)).toHaveLength(1);
  });

  it('is what is judged, and no other field', () => {
    const other = change(['agent'], { before: HERE, after: THERE });
    expect(findMovedEndpoints(settingsPlan([other]), STORED)).toEqual([]);
  });
});

describe('an entry of mcp_config', () => {
  const KEY = 'stored-key-7';
  const [MINE, THEIRS] = ['https://mine.example/mcp', 'https://theirs.example/mcp'];

  function stored(...entries: ValueRecord[]) {
    return observed({ mcp_config: { sse_servers: entries, stdio_servers: [], shttp_servers: [] } });
  }

  const added = (after: Value, more: Partial<Change> = {}, list = 'shttp_servers') =>
    change(['mcp_config', list, 'x'], { action: 'set', after, ...more });
  const judged = (one: Change, state = stored({ url: THEIRS, api_key: new Secret(KEY) })) =>
    findMovedEndpoints(settingsPlan([one]), state);

  it('may not take the key of another host', () => {
    expect(judged(added({ url: MINE, api_key: new Secret(KEY, '${env:KEY}') }))).toEqual([
      {
        message: 'The plan gives mcp_config.shttp_servers[x] the key of an entry at another host.',
        path: ['mcp_config', 'shttp_servers', 'x'],
      },
    ]);
    expect(judged(added({ url: MINE, api_key: KEY }, {}, 'sse_servers'))).toHaveLength(1);
  });

  it.each<[string, ValueRecord]>([
    ['inside a header', { url: MINE, headers: { Authorization: `Bearer ${KEY}` } }],
    ['in a list', { url: MINE, headers: ['a', `x ${KEY}`] }],
    ['inside its url', { url: new Secret(`${MINE}?k=${KEY}`) }],
  ])('%s', (_, entry) => {
    expect(judged(added(entry))).toHaveLength(1);
  });

  it.each<[string, Value]>([
    ['with a key of its own', { url: MINE, api_key: new Secret('own-key-77') }],
    ['at the same host', { url: 'https://theirs.example/other', api_key: new Secret(KEY) }],
    ['that is none', null],
    ['without any text', { url: MINE, timeout: 60 }],
  ])('may be one %s', (_, entry) => {
    expect(judged(added(entry))).toEqual([]);
  });

  it('is not judged when it goes, or if it is a program', () => {
    const entry = { url: MINE, api_key: KEY };
    expect(judged(added(entry, { action: 'remove' }))).toEqual([]);
    expect(judged(added(entry, {}, 'stdio_servers'))).toEqual([]);
    const elsewhere = change(['other', 'shttp_servers', 'x'], { action: 'set', after: entry });
    expect(judged(elsewhere)).toEqual([]);
  });

  it('may have a key that one of its own host has too', () => {
    const state = stored(
      { url: THEIRS, api_key: new Secret(KEY) },
      { url: 'https://mine.example/sse', api_key: new Secret(KEY) },
    );
    expect(judged(added({ url: MINE, api_key: KEY }), state)).toEqual([]);
  });

  it('without a url is at no host', () => {
    expect(judged(added({ api_key: KEY }))).toHaveLength(1);
    expect(judged(added({ api_key: KEY }), stored({ api_key: new Secret(KEY) }))).toEqual([]);
  });

  it.each<[string, ValueRecord]>([
    ['a mask', { url: THEIRS, api_key: new Secret('**********') }],
    ['empty', { url: THEIRS, api_key: new Secret('') }],
    ['no secret', { url: THEIRS, note: 'note-note' }],
    ['a short parameter', { url: `${THEIRS}?page=note-note` }],
    ['a plain address', { url: THEIRS }],
  ])('what is stored is no key if it is %s', (_, entry) => {
    const after = { url: MINE, api_key: '**********', note: 'note-note', empty: '' };
    expect(judged(added(after), stored(entry))).toEqual([]);
  });

  it.each<[string, string]>([
    ['a parameter called a key', `${THEIRS}?api_key=k1`],
    ['a parameter of 16 characters', `${THEIRS}?x=0123456789abcdef`],
    ['a password', 'https://u:pa%3Ass@theirs.example/mcp'],
    ['a name', 'https://na%3Ame@theirs.example/mcp'],
    ['a name that is no text in percent', 'https://%E0%A4%A@theirs.example/mcp'],
  ])('what is stored is a key as %s of its url', (_, url) => {
    const keys = ['k1', '0123456789abcdef', 'pa:ss', 'na:me', '%E0%A4%A'];
    const found = keys.filter(
      (key) => judged(added({ url: MINE, api_key: key }), stored({ url })).length > 0,
    );
    expect(found).toHaveLength(1);
    const [key = ''] = found;
    expect(url).toContain(encodeURIComponent(key).replaceAll('%25', '%'));
    expect(
      judged(added({ url: MINE, api_key: key }), stored({ url: new Secret(url) })),
    ).toHaveLength(1);
  });

  it('a parameter of 15 characters is not, and neither is what is in no url', () => {
    const text = '0123456789abcde';
    expect(judged(added({ url: MINE, a: text }), stored({ url: `${THEIRS}?x=${text}` }))).toEqual(
      [],
    );
    expect(judged(added({ url: MINE, a: text }), stored({ url: 'a b' }))).toEqual([]);
  });

  it('a key of five characters is one as a whole, of six also inside of another text', () => {
    const judge = (key: string, text: string) =>
      judged(added({ url: MINE, note: text }), stored({ url: THEIRS, api_key: new Secret(key) }))
        .length;
    expect([judge('12345', '12345'), judge('12345', 'x12345')]).toEqual([1, 0]);
    expect([judge('123456', '123456'), judge('123456', 'x123456')]).toEqual([1, 1]);
  });

  it('is compared with those of both lists, if there is a config', () => {
    const both = observed({
      mcp_config: { sse_servers: [], shttp_servers: [{ url: THEIRS, api_key: new Secret(KEY) }] },
    });
    expect(judged(added({ url: MINE, api_key: KEY }), both)).toHaveLength(1);
    expect(judged(added({ url: MINE, api_key: KEY }), observed({ mcp_config: null }))).toEqual([]);
    const program = observed({
      mcp_config: { stdio_servers: [{ name: 'x', env: { A: new Secret(KEY) } }] },
    });
    expect(judged(added({ url: MINE, api_key: KEY }), program)).toEqual([]);
  });

  describe('that moves, known by its name,', () => {
    const OTHER = new Secret('own-key-77', '${env:KEY}');
    const HIDDEN = new Secret('**********');
    const was = { name: 'search', url: THEIRS, api_key: new Secret(KEY) };
    const moves = (more: ValueRecord, before: ValueRecord = was) =>
      judged(added({ name: 'search', url: MINE, ...more }), stored(before)).map(
        ({ message }) => message,
      );
    const sentence = (what: string) =>
      `The plan moves mcp_config.shttp_servers[x] to another host, and the service has ${what} stored for it.`;

    it('takes along each stored credential that is not declared', () => {
      expect(moves({})).toEqual([sentence('api_key')]);
      const headers = { Authorization: new Secret('Bearer 0123456789') };
      expect(moves({}, { ...was, headers, timeout: 60 })).toEqual([sentence('api_key, headers')]);
      expect(moves({ api_key: OTHER }, { ...was, headers })).toEqual([sentence('headers')]);
    });

    it('takes none along that is declared as nothing, or as another one', () => {
      for (const api_key of [null, '', new Secret(''), OTHER])
        expect(moves({ api_key })).toEqual([]);
    });

    it('may take along what the service masks, unless it is declared as nothing', () => {
      const masked = { ...was, api_key: HIDDEN };
      expect(moves({ api_key: OTHER }, masked)).toEqual([sentence('api_key')]);
      expect(moves({ api_key: null }, masked)).toEqual([]);
      expect(moves({ api_key: new Secret('') }, masked)).toEqual([]);
    });

    it('from a program takes along what its environment has', () => {
      const env = { A: new Secret(KEY) };
      const program = observed({ mcp_config: { stdio_servers: [{ name: 'search', env }] } });
      const after = { name: 'search', url: MINE };
      for (const more of [{}, { env }])
        expect(judged(added({ ...after, ...more }), program).map(({ message }) => message)).toEqual(
          [sentence('env')],
        );
    });

    it.each<[string, ValueRecord, ValueRecord]>([
      ['it stays at its host', { url: `${THEIRS}/other` }, was],
      ['nothing is stored for it', {}, { name: 'search', url: THEIRS, timeout: 60 }],
      ['its address is not known', { url: new UnseenSecret('${env:URL}') }, was],
      ['the stored one has another name', {}, { ...was, name: 'other' }],
      ['the stored one has no name', {}, { url: THEIRS, api_key: new Secret(KEY) }],
      ['neither has more than an empty name', { name: '' }, { ...was, name: '' }],
    ])('takes none along if %s', (_, more, before) => {
      expect(moves(more, before)).toEqual([]);
    });

    it('takes none along from an entry without a name if it has none', () => {
      const state = stored({ url: THEIRS, api_key: new Secret(KEY) });
      expect(judged(added({ url: MINE }), state)).toEqual([]);
    });
  });
});
