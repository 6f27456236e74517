/** A text that cannot work where the service uses it is refused, at every place that the types have, written out or from a reference. */
import { describe, expect, it } from 'vitest';
import { findFlaw, withUsable } from '../../../src/reconciler/desired/text-use.ts';
import { findPathFacts, type TextUse } from '../../../src/reconciler/model/path-facts.ts';
import { formatPath, type Path } from '../../../src/reconciler/model/path.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import type { MemberFacts } from '../../../src/reconciler/model/type-facts.ts';
import { TYPES } from '../../../src/reconciler/model/types.gen.ts';
import { read } from './reading.ts';

/** Every place that a type hangs at, one key in each map. */
function placesIn(type: string, above: Path, seen: readonly string[] = []): readonly Path[] {
  if (seen.includes(type)) return [];
  return Object.entries(TYPES[type] ?? {}).flatMap(([name, member]: [string, MemberFacts]) => {
    const path = [...above, name, ...(member.many === true ? ['any'] : [])];
    const inner = member.type === undefined ? [] : placesIn(member.type, path, [...seen, type]);
    return member.served === true ? [] : [path, ...inner];
  });
}

const PLACES = [...placesIn('Settings', []), ...placesIn('File', [])];
const USES = new Set(PLACES.map((path) => findPathFacts(path).use));

const OF_TEXTS = ['a\n', 'a\nb', ' a', 'a ', ' ', '\u00A0a', 'a\u200B', 'a\u0007b', '\uFEFFa'];
const PLACEHOLDERS = [
  '${{ secrets.X }}',
  "${{ vars.LLM_MODEL || 'openai/gpt-5' }}",
  '{{ .Values.model }}',
  '{{ llm_model }}',
  '%LLM_MODEL%',
  '$LLM_MODEL',
  '$env:LLM_MODEL',
  '${LLM_MODEL}',
  '${A:-${B}}',
  '$(LLM_MODEL)',
  '{env:LLM_MODEL}',
  '{file:~/.key}',
  'env(LLM_MODEL)',
  '!env LLM_MODEL',
  '<your-model>',
  'your-api-key',
  'changeme',
  'op://vault/item/field',
  'vault:secret/llm#key',
  'ssm:/llm/key',
  '#{LLM_MODEL}#',
  '__LLM_MODEL__',
  '@@LLM_MODEL@@',
  '[% llm_model %]',
  '`cat key`',
];
const ADDRESSES = [
  'localhost:11434',
  'llm.example.com/v1',
  'http//x',
  'ftp://x',
  'https://',
  '//x',
  'https://a b/',
  'https://x:99999999',
];

const WRONG: Readonly<Record<TextUse, readonly string[]>> = {
  name: [...OF_TEXTS, ...PLACEHOLDERS],
  key: [...OF_TEXTS, ...PLACEHOLDERS],
  header: [...OF_TEXTS, ...PLACEHOLDERS, 'snow\u2603'],
  url: [
    ...OF_TEXTS,
    ...PLACEHOLDERS,
    ...ADDRESSES,
    'https://me:pw@x/v1',
    'https://<host>/v1',
    'wss://x',
  ],
  endpoint: [...PLACEHOLDERS, ...ADDRESSES, 'https://$HOST/mcp', ' '],
  host: [...OF_TEXTS, ...PLACEHOLDERS, 'me:pw@x', 'a b'],
  prose: [],
  free: [],
};
const RIGHT: Readonly<Record<TextUse, readonly string[]>> = {
  name: [
    'openai/gpt-5',
    'A name of words',
    'R2-D2 \u{1F469}\u200D\u{1F4BB}',
    'a$b',
    '100%',
    'x <me@example.com>',
    '',
  ],
  key: ['sk-1', 'p@ss"w\\ö', '$ecret', 'a {{b}} c', 'correct horse', ''],
  header: ['Bearer x.y', 'a=1; b=2', ''],
  url: ['https://llm.example.com/v1?api-version=1', 'http://[::1]:11434', 'HTTP://x', ''],
  endpoint: ['https://me:pw@x/mcp?k=1', 'wss://x', ' https://x ', ''],
  host: ['gitlab.example.com', 'gitlab.example.com:8443', 'https://gitlab.example.com', ''],
  prose: ['{{ x }} is', ' a\n'],
  free: ['a\n', ' ', '<your-model>', '${A}'],
};

describe('each use of a text', () => {
  for (const [use, texts] of Object.entries(WRONG) as [TextUse, readonly string[]][]) {
    it.each(texts.map((text) => [JSON.stringify(text), text]))(
      `${use}: %s cannot work`,
      (_, text) => {
        expect(findFlaw(text, use)?.what).toEqual(expect.any(String));
      },
    );
    it.each(RIGHT[use].map((text) => [JSON.stringify(text), text]))(`${use}: %s can`, (_, text) => {
      expect(findFlaw(text, use)).toBe(null);
    });
  }

  it('has places', () => {
    expect(USES).toEqual(new Set(Object.keys(WRONG)));
    const at = (path: string): TextUse => findPathFacts(path.split('.')).use;
    expect(at('llm_api_key')).toBe('key');
    expect(at('llm_profiles.x.base_url')).toBe('url');
    expect(at('mcp_servers.x.env.TOKEN')).toBe('free');
    expect(at('secrets.x.value')).toBe('free');
  });
});

describe('at each place of each type', () => {
  const used = PLACES.filter((path) => WRONG[findPathFacts(path).use].length > 0);
  it.each(used.map((path) => [formatPath(path), path]))('%s: from a reference', (_, path) => {
    const { use } = findPathFacts(path);
    const values = (texts: readonly string[]) =>
      texts.map((text) => withUsable(new Secret(text, '${env:A}'), path));
    for (const value of values(WRONG[use])) {
      expect(value).toBeInstanceOf(UnseenSecret);
      expect((value as UnseenSecret).unseen.reason).toMatch(/^the variable A (?:is|has) /);
    }
    for (const value of values(RIGHT[use])) expect(value).not.toBeInstanceOf(UnseenSecret);
  });

  // The first place of each use has every text, the others one after the other.
  const everyText = new Set(
    [...USES].map((use) => used.find((path) => findPathFacts(path).use === use)),
  );
  it.each(used.map((path, index) => [formatPath(path), path, index] as const))(
    '%s: written out',
    (_, path, index) => {
      const { use } = findPathFacts(path);
      const isOfSettings = Object.hasOwn(TYPES['Settings'] ?? {}, path[0] ?? '');
      const at = isOfSettings ? ['settings', ...path] : path;
      const found = (text: string) => {
        const value = at.reduceRight<unknown>((inner, key) => ({ [key]: inner }), text);
        const { diagnostics } = read(
          JSON.stringify({ version: 1, ...(value as object) }),
          undefined,
          {
            serverGiven: true,
          },
        );
        return diagnostics.filter(
          ({ code, path: own }) =>
            formatPath(own ?? []) === formatPath(at) ||
            // A list or a place of a server alone.
            ['unknown-key', 'wrong-type'].includes(code),
        ).length;
      };
      if (use === 'key' || use === 'header') return;
      const texts = WRONG[use].filter((one) => !one.includes('${'));
      const [next = ''] = texts.slice(index % texts.length);
      for (const text of everyText.has(path) ? texts : [next])
        expect([text, found(text)]).not.toEqual([text, 0]);
    },
  );
});

describe('a reference to a word of a closed list', () => {
  const closed = PLACES.filter((path) => findPathFacts(path).words.length > 0);

  it('is known for what decides about other members', () => {
    const names = closed.map((path) => path.at(-1));
    for (const name of ['agent_kind', 'strategy', 'transport']) expect(names).toContain(name);
  });

  it.each(closed.map((path) => [formatPath(path), path]))('%s', (_, path) => {
    const { words, item } = findPathFacts(path);
    for (const word of words) expect(withUsable(new Secret(word, '${env:A}'), path)).toBe(word);
    const other = withUsable(new Secret('canary', '${env:A}'), path);
    if (item === null) expect(other).toBeInstanceOf(Secret);
  });
});

describe('a list of text that is one reference', () => {
  const lists = [...new Set(PLACES.map((path) => path.slice(0, -1)))].filter(
    (path) => path.length > 0 && findPathFacts(path).list !== false,
  );
  const writable = (path: Path): readonly string[] =>
    Object.hasOwn(TYPES['Settings'] ?? {}, path[0] ?? '') ? ['settings', ...path] : path;

  it('is known for each list of text that a file may have', () => {
    const names = lists.map((path) => path.at(-1));
    for (const name of ['disabled_skills', 'args', 'acp_args', 'mcp_servers', 'tags', 'keywords'])
      expect(names).toContain(name);
    for (const name of ['scopes', 'auto_load']) expect(names).toContain(name);
  });

  it('is one text, or true or false, where the place takes that as well', () => {
    const take = (name: string, text: string) => {
      const path = lists.find((one) => one.at(-1) === name) ?? [];
      const value = withUsable(new Secret(text, '${env:A}'), path);
      return value instanceof Secret ? value.reveal() : value;
    };
    expect(take('scopes', 'read write')).toBe('read write');
    expect(take('scopes', '')).toBe('');
    expect(take('auto_load', 'true')).toBe(true);
    expect(take('auto_load', 'false')).toBe(false);
    expect(take('auto_load', 'deploy')).toHaveLength(1);
    expect(take('auto_load', '')).toEqual([]);
  });

  it.each(lists.map((path) => [formatPath(path), path]))('%s', (_, path) => {
    const noted: string[] = [];
    const list = withUsable(new Secret('a, b', '${env:A}'), path, (value) => noted.push(value));
    const isName = findPathFacts([...path, '0']).item !== null;
    const shown = (list as (Secret | string)[]).map((one) =>
      one instanceof Secret ? [one.reveal(), one.ref] : one,
    );
    const own = (text: string) => (isName ? text : [text, '${env:A}']);
    expect(shown).toEqual([own('a'), own('b')]);
    expect(noted).toEqual(['a', 'b']);
    if (findPathFacts(path).list !== 'text')
      expect(withUsable(new Secret('', '${env:A}'), path)).toEqual([]);
    for (const text of [',', 'a,', ',a', 'a,,b', 'a, ,b']) {
      const value = withUsable(new Secret(text, '${env:A}'), path);
      expect((value as UnseenSecret).unseen.reason).toBe(
        'the variable A has an empty part between its commas',
      );
    }
    // Inside a list of maps the file of this test has a map, which is refused above the place.
    const ofValue = (text: string) => {
      const file = writable(path).reduceRight<unknown>((inner, key) => ({ [key]: inner }), text);
      const { diagnostics } = read(JSON.stringify({ version: 1, ...(file as object) }), undefined, {
        serverGiven: true,
      });
      return diagnostics.filter(
        (one) =>
          one.code !== 'unknown-key' && formatPath(one.path ?? []) === formatPath(writable(path)),
      );
    };
    expect(ofValue('${env:A}')).toEqual([]);
  });
});
