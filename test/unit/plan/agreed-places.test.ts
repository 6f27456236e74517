import { describe, expect, it } from 'vitest';
import { formatPath, parsePath, formatPathKey } from '../../../src/reconciler/model/path.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { createRecord, type Value } from '../../../src/reconciler/model/value.ts';
import {
  createPlaceFinder,
  formOfShown,
  listAgreementPlaces,
  collectPlainPaths,
  createValueReader,
} from '../../../src/reconciler/plan/agreement.ts';
import { declared } from './declared.ts';
import { observed } from './hand-made.ts';

const URL = 'https://a.example/mcp';
const SECRET = new Secret('sk-one', '${env:KEY}');

const key = (text: string) => formatPathKey(parsePath(text) ?? []);

/** A file with these entries of shttp_servers, each the members of a map, and its blocks beside settings. */
function listed(entries: readonly string[], blocks = '') {
  const lists = entries.map((entry) => `{ ${entry} }`).join(', ');
  return declared(`mcp_config: { shttp_servers: [${lists}] }`, {}, blocks);
}

function showing(...entries: readonly Readonly<Record<string, Value>>[]) {
  return observed(
    createRecord([
      ['mcp_config', { sse_servers: [], stdio_servers: [], shttp_servers: entries }],
      ['language', 'en'],
    ]),
  );
}

const at = (identity: string) => ['mcp_config', 'shttp_servers', identity];

describe('the places that a file declares', () => {
  const paths = (...from: Parameters<typeof listAgreementPlaces>) =>
    listAgreementPlaces(...from).map(({ path }) => formatPath(path));

  it('are its fields, native ones among them, and every entry by its name or else its address', () => {
    const file = declared(`language: en
llm_model: null
agent_settings: { llm: { reasoning_effort: high } }
mcp_config:
  stdio_servers: [{ name: files, command: npx }]
  shttp_servers: [{ url: "${URL}" }, { name: one, url: "https://b.example/mcp" }]`);
    expect(paths(file, []).toSorted()).toEqual([
      'agent_settings.llm.reasoning_effort',
      'language',
      'llm_model',
      'mcp_config',
      `mcp_config.shttp_servers[${URL}]`,
      'mcp_config.shttp_servers[one]',
      'mcp_config.stdio_servers[files]',
    ]);
    expect(paths(declared('mcp_config: null'), [])).toEqual(['mcp_config']);
  });

  it.each([
    ['its address', `mcp_config.shttp_servers[${URL}]`],
    ['its name', 'mcp_config.shttp_servers[one]'],
    ['its list', 'mcp_config.shttp_servers'],
  ])('are none of an entry that is unmanaged by %s', (_, path) => {
    const others = [`name: one, url: "${URL}"`, 'name: two, url: "https://b.example/mcp"'];
    const all = paths(listed(others, `unmanaged: [${JSON.stringify(path)}]`), []);
    expect(all).not.toContain('mcp_config.shttp_servers[one]');
    expect(all).toContain('mcp_config');
  });

  it('are compared unless nothing of them is known, which does not touch others', () => {
    const file = declared('language: en\ngit_user_name: me\nllm_api_key: "${env:KEY}"', {
      KEY: 'k',
    });
    const unknown = ['git_user_name', 'llm_api_key'].map((name) => ({
      path: [name],
      reason: 'x',
      ref: null,
    }));
    const compared = listAgreementPlaces(file, unknown).map(({ path, isCompared }) => [
      path[0],
      isCompared,
    ]);
    expect(Object.fromEntries(compared)).toEqual({
      language: true,
      git_user_name: false,
      // Whether a secret is stored has been compared.
      llm_api_key: true,
    });
  });
});

describe('the places that a change may be agreed at', () => {
  const candidates = (...from: Parameters<typeof createPlaceFinder>) => {
    const of = createPlaceFinder(...from);
    return (identity: string) => of(at(identity)).map(({ path }) => path.at(-1));
  };

  it('are that of the entry as it is declared, and that of the entry as it is shown', () => {
    const named = { name: 'one', url: URL };
    expect(candidates(listed([`url: "${URL}"`]), showing(named))(URL)).toEqual([URL, 'one']);
    expect(candidates(listed([`name: one, url: "${URL}"`]), showing({ url: URL }))(URL)).toEqual([
      'one',
      URL,
    ]);
  });

  it('are those of the one that a number means', () => {
    const of = candidates(listed([`url: "${URL}"`]), showing({ url: URL }, { url: URL }));
    expect([of(URL), of(`${URL}#2`)]).toEqual([[URL, URL], [`${URL}#2`]]);
  });

  it('are the path itself of all else', () => {
    const of = createPlaceFinder(declared('language: en'), showing());
    expect(of(['language'])).toEqual([{ path: ['language'], called: [['language']] }]);
  });
});

describe('what a service shows at a place', () => {
  const place = (...identities: readonly string[]) => ({
    path: at(identities[0] ?? ''),
    called: identities.map(at),
  });

  it('is the entry of its name, and only without it one at its address', () => {
    const [one, two] = [
      { name: 'one', url: URL },
      { name: 'two', url: URL },
    ];
    expect(createValueReader(showing(two, one))(place('one', URL))).toEqual(one);
    expect(createValueReader(showing({ url: URL }))(place('one', URL))).toEqual({ url: URL });
    expect(createValueReader(showing(two))(place('one'))).toBeUndefined();
  });

  it('is the first of those alike, and the second behind its number', () => {
    const [one, two] = [
      { url: URL, timeout: 1 },
      { url: URL, timeout: 2 },
    ];
    const shown = createValueReader(showing(one, two));
    expect([shown(place(URL)), shown(place(`${URL}#2`))]).toEqual([one, two]);
  });

  it('is an address before a name that reads like it', () => {
    const [named, meant] = [{ name: URL, url: 'https://b.example/mcp' }, { url: URL }];
    expect(createValueReader(showing(named, meant))(place(URL))).toEqual(meant);
  });

  it('is the value of a field, or nothing', () => {
    const shown = createValueReader(showing());
    expect(shown({ path: ['language'], called: [['language']] })).toBe('en');
    expect(shown({ path: ['agent'], called: [['agent']] })).toBeUndefined();
  });
});

describe('what is shown beside a secret', () => {
  const entry: Value = {
    command: 'npx',
    args: ['-y', SECRET, 'x'],
    env: { TOKEN: SECRET, LEVEL: 'high' },
  };

  it('counts at the places of what is none, the widest ones', () => {
    expect(collectPlainPaths(entry)).toEqual([
      key('command'),
      formatPathKey(['args', '0']),
      formatPathKey(['args', '2']),
      key('env.LEVEL'),
    ]);
    expect(collectPlainPaths(SECRET)).toEqual([]);
    expect(collectPlainPaths({ a: ['b'] })).toEqual([formatPathKey([])]);
  });

  const form = (shown: Value, plain: readonly string[] = collectPlainPaths(entry)) =>
    JSON.stringify(formOfShown(shown, plain));
  const entryWith = (more: Readonly<Record<string, Value>>): Value => ({
    ...(entry as Readonly<Record<string, Value>>),
    ...more,
  });

  it.each<[string, Value]>([
    ['another text', entryWith({ command: 'node' })],
    ['another item', entryWith({ args: ['-n', SECRET, 'x'] })],
    ['an item more', entryWith({ args: ['-y', SECRET, 'x', 'y'] })],
    ['another member', entryWith({ env: { TOKEN: SECRET, LEVEL: 'low' } })],
    ['a secret that is gone', entryWith({ env: { TOKEN: null, LEVEL: 'high' } })],
    ['a secret that is empty', entryWith({ env: { TOKEN: new Secret(''), LEVEL: 'high' } })],
    ['a member more', entryWith({ env: { TOKEN: SECRET, LEVEL: 'high', MORE: 'x' } })],
  ])('%s is something else', (_, other) => {
    expect(form(other)).not.toBe(form(entry));
  });

  it.each<[string, Value]>([
    ['another secret', entryWith({ env: { TOKEN: new Secret('sk-two'), LEVEL: 'high' } })],
    ['text in the place of a secret', entryWith({ args: ['-y', 'sk-two', 'x'] })],
    ['the order of members', entryWith({ env: { LEVEL: 'high', TOKEN: SECRET } })],
  ])('%s is the same', (_, other) => {
    expect(form(other)).toBe(form(entry));
  });

  it('holds no secret, and all else if none was declared', () => {
    expect(form(entry)).not.toContain('sk-');
    expect(form({ a: [SECRET, 'b'] }, [formatPathKey([])])).toBe('[["a",[[false],"b"]]]');
    expect(formOfShown({ a: 'b' })).toEqual([['a', 'b']]);
    expect(formOfShown(undefined)).toBeUndefined();
  });
});
