import { describe, expect, it } from 'vitest';
import type { ObservedState } from '../../../src/reconciler/model/state.ts';
import {
  findLostSecrets,
  findUnmanagedChanges,
  withoutDoubled,
} from '../../../src/reconciler/plan/side-effects.ts';
import { change } from './hand-made.ts';
import { observedOf, writeOf } from '../../fixture/observed.ts';
import { declared } from './declared.ts';

type Fields = Readonly<Record<string, unknown>>;

const LANGUAGE = declared('language: fr');
const A = { url: 'https://a.example.com/sse' };
const B = { url: 'https://b.example.com/sse' };
const sse = (...entries: unknown[]) => ({ mcp_config: { sse_servers: entries } });

describe('what a write changed although the file does not manage it', () => {
  const touched = (before: Fields, after: Fields, desired = LANGUAGE) =>
    findUnmanagedChanges(observedOf(before), observedOf(after), desired);
  const pathsOf = (...given: Parameters<typeof touched>) =>
    touched(...given).map(({ path }) => path);

  it('is a field with another value, or with none', () => {
    expect(touched({ language: 'en', agent: 'A' }, { language: 'fr', agent: 'B' })).toEqual([
      { path: ['agent'], before: 'A', after: 'B' },
    ]);
    expect(touched({ agent: 'A' }, {})).toEqual([{ path: ['agent'], before: 'A', after: null }]);
  });

  it('is no field that has appeared, and none that the file manages', () => {
    expect(touched({ language: 'en' }, { language: 'de', agent: 'B' })).toEqual([]);
  });

  it('is a field that the file lists as unmanaged', () => {
    const desired = declared('agent: A', {}, 'unmanaged: [agent]');
    expect(pathsOf({ agent: 'A' }, { agent: 'B' }, desired)).toEqual([['agent']]);
  });

  it('is an mcp entry that has changed, gone or come', () => {
    const path = (url: string) => ['mcp_config', 'sse_servers', url];
    expect(pathsOf(sse(A), sse({ ...A, api_key: 'k' }))).toEqual([path(A.url)]);
    expect(pathsOf(sse(A, B), sse(A))).toEqual([path(B.url)]);
    expect(pathsOf(sse(A), sse(A, B))).toEqual([path(B.url)]);
    const [gone] = touched(sse(A, B), sse(B));
    expect(gone).toMatchObject({ before: A, after: null });
    const [come] = touched(sse(B), sse(A, B));
    expect(come).toMatchObject({ before: null, after: A });
    expect(pathsOf(sse(A), sse(A, A))).toEqual([path(`${A.url}#2`)]);
  });

  it('is no order of entries, and no default that was filled in', () => {
    expect(touched(sse(A, B), sse(B, { ...A, api_key: null }))).toEqual([]);
    const http = (entry: object) => ({ mcp_config: { shttp_servers: [entry] } });
    expect(touched(http(A), http({ ...A, api_key: null, timeout: 60 }))).toEqual([]);
    expect(pathsOf(http(A), http({ ...A, timeout: 61 }))).toHaveLength(1);
  });

  it('is no entry of a list that the file declares, but one that it lists as unmanaged', () => {
    const config = `mcp_config: { sse_servers: [{ url: "${B.url}" }] }`;
    expect(touched(sse(A), sse(B), declared(config))).toEqual([]);
    const except = declared(config, {}, `unmanaged: ["mcp_config.sse_servers[${A.url}]"]`);
    expect(pathsOf(sse(A), sse(B), except)).toEqual([['mcp_config', 'sse_servers', A.url]]);
    const programs = { mcp_config: { stdio_servers: [{ name: 'files', command: 'a' }] } };
    expect(pathsOf(programs, { mcp_config: { stdio_servers: [] } }, declared(config))).toEqual([
      ['mcp_config', 'stdio_servers', 'files'],
    ]);
  });

  it('is an mcp config that is no map', () => {
    expect(pathsOf({ mcp_config: null }, sse(A))).toEqual([['mcp_config']]);
    expect(pathsOf({ mcp_config: null }, sse(A), declared('mcp_config: {}'))).toEqual([]);
    expect(touched({ mcp_config: null }, { mcp_config: null })).toEqual([]);
    expect(pathsOf(sse(A), { mcp_config: null })).toEqual([['mcp_config', 'sse_servers', A.url]]);
  });

  it('is a member of the mcp config that this version does not know', () => {
    const later = (value: unknown) => ({ mcp_config: { later: value } });
    expect(pathsOf(later(1), later(2))).toEqual([['mcp_config', 'later']]);
    expect(pathsOf(later(1), { mcp_config: {} })).toEqual([['mcp_config', 'later']]);
    expect(touched(later(1), later(1))).toEqual([]);
    expect(touched(later(1), later(2), declared('mcp_config: {}'))).toEqual([]);
  });

  it('is an item that is no entry, in a declared list too, unless null is declared', () => {
    const path = ['mcp_config', 'stdio_servers', '(unnamed)'];
    const [before, after] = [
      { mcp_config: { stdio_servers: ['npx files'] } },
      { mcp_config: { stdio_servers: [] } },
    ];
    expect(pathsOf(before, after)).toEqual([path]);
    expect(pathsOf(before, after, declared('mcp_config: { stdio_servers: [] }'))).toEqual([path]);
    expect(touched(before, after, declared('mcp_config: null'))).toEqual([]);
    expect(touched(before, before)).toEqual([]);
  });
});

describe('secrets that are not stored any more', () => {
  const lost = (before: Fields, after: Fields) =>
    findLostSecrets(observedOf(before), observedOf(after));

  it('are those that the service reports as not stored', () => {
    const stored = { llm_api_key_set: true, search_api_key_set: false };
    expect(lost(stored, { ...stored, llm_api_key_set: false })).toEqual([['llm_api_key']]);
    expect(lost(stored, stored)).toEqual([]);
    expect(lost({ llm_api_key_set: false }, { llm_api_key_set: false })).toEqual([]);
  });

  it('are not those of which the service says nothing any more, unless no specification has them', () => {
    expect(lost({ llm_api_key_set: true }, {})).toEqual([]);
    expect(lost({ later_key_set: true }, {})).toEqual([['later_key']]);
    expect(lost({ later_key_set: false }, {})).toEqual([]);
  });

  it('are provider tokens, too', () => {
    const tokens = (...names: string[]) => ({
      provider_tokens_set: Object.fromEntries(names.map((name) => [name, null])),
    });
    expect(lost(tokens('github', 'gitlab'), tokens('gitlab', 'other'))).toEqual([
      ['secrets_store', 'provider_tokens', 'github'],
    ]);
  });
});

describe('a write that undoes a doubling', () => {
  const list = (write: ReturnType<typeof withoutDoubled>) => {
    const config = write?.fields['mcp_config'] as { sse_servers?: object[] } | undefined;
    return config?.sse_servers?.map((entry) => ({ ...entry }));
  };
  const undoubled = (
    sent: Fields,
    before: ObservedState,
    after: ObservedState,
    desired = LANGUAGE,
  ) => withoutDoubled(writeOf(sent as {}), before, after, desired);

  it('leaves out the entry that the server adds, and the copy that was stored', () => {
    const sent = { language: 'fr', ...sse(A, B, B) };
    const write = undoubled(sent, observedOf(sse(A, B)), observedOf(sse(A, B, B)));
    expect(list(write)).toEqual([A]);
    expect(write?.fields['language']).toBe('fr');
  });

  it('leaves out two for each copy that appeared, the first ones, and no more', () => {
    const numbered = [1, 2, 3].map((timeout) => ({ ...B, timeout }));
    const write = undoubled(sse(...numbered), observedOf(sse(B)), observedOf(sse(B, B)));
    expect(list(write)).toEqual([{ ...B, timeout: 3 }]);
  });

  it('is made of what the service keeps, masks left out, if the write has no config', () => {
    const after = observedOf(sse({ ...A, api_key: '**********' }, B, B));
    const write = { ...writeOf({ language: 'fr' }), observed: after };
    expect(list(withoutDoubled(write, observedOf(sse(A, B)), after, LANGUAGE))).toEqual([A]);
  });

  it.each<[string, Fields, Fields, Fields]>([
    ['has appeared once', sse(A, B), sse(A), sse(A, B)],
    ['is there as often as before', sse(A, A), sse(A, A), sse(A, A)],
    ['is there less often', sse(A), sse(A, A), sse(A)],
    ['is not sent', sse(A), sse(B), sse(B, B)],
    ['is sent to no list', { mcp_config: {} }, sse(B), sse(B, B)],
    ['is cleared with the config', { mcp_config: null }, sse(B), sse(B, B)],
    ['is not stored, and nothing is sent', {}, sse(B), sse(B, B)],
  ])('is none if an entry %s', (_, sent, before, after) => {
    expect(undoubled(sent, observedOf(before), observedOf(after))).toBeNull();
  });

  it('is none of a declared entry that the plan changed: the server adds another one', () => {
    const config = declared(`mcp_config: { sse_servers: [{ url: "${B.url}" }] }`);
    const [before, after] = [observedOf(sse(B)), observedOf(sse(B, B))];
    const sent = sse(B) as {};
    const write = (path: string[]) =>
      withoutDoubled(writeOf(sent), before, after, config, [change(path)]);
    expect(write(['mcp_config', 'sse_servers', B.url])).toBeNull();
    expect(list(write(['language']))).toEqual([]);
  });

  it('leaves out what the file lists as unmanaged', () => {
    const config = `mcp_config: { sse_servers: [{ url: "${B.url}" }] }`;
    const states = [observedOf(sse(B)), observedOf(sse(B, B))] as const;
    const except = declared(config, {}, `unmanaged: ["mcp_config.sse_servers[${B.url}]"]`);
    expect(list(undoubled(sse(B, B), ...states, except))).toEqual([]);
  });

  it('leaves items alone that have no identity', () => {
    const hidden = { url: '**********' };
    const write = undoubled(
      sse('npx files', hidden, B, B),
      observedOf(sse('npx files', hidden, B)),
      observedOf(sse('npx files', hidden, hidden, B, B)),
    );
    const config = write?.fields['mcp_config'] as { sse_servers: unknown[] };
    expect(config.sse_servers).toEqual(['npx files', hidden]);
  });
});
