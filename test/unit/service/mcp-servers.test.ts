import { describe, expect, it } from 'vitest';
import { Identity, Secret } from '../../../src/reconciler/model/secret.ts';
import type { Value, ValueRecord } from '../../../src/reconciler/model/value.ts';
import {
  readServerName,
  convertServerLists,
  twiceProblem,
} from '../../../src/reconciler/service/store-body.ts';
import { bodyText } from './answering.ts';

const URL = 'https://mcp.example.com/mcp';

/** The servers that a config stands for, as they are sent, or the name that two would have. */
function servers(config: Value): unknown {
  const found = convertServerLists(config);
  return 'twice' in found ? found.twice : bodyText({ record: found.servers });
}

/** The server over http that an entry of this name stands for, without what all of them have. */
function server(entry: ValueRecord): unknown {
  const found = servers({ shttp_servers: [{ name: 'x', url: URL, ...entry }] }) as {
    readonly x: Record<string, unknown>;
  };
  const { url, transport, ...rest } = found.x;
  expect({ url, transport }).toEqual({ url: URL, transport: 'http' });
  return rest;
}

function names(...entries: Value[]): string[] {
  return Object.keys(servers({ shttp_servers: entries }) as object);
}

describe('the servers of the lists', () => {
  it('are reached as their list says, or as they say themselves', () => {
    expect(
      servers({
        sse_servers: [{ name: 'a', url: URL }],
        shttp_servers: [
          { name: 'b', url: URL },
          { name: 'c', url: URL, transport: 'streamable-http' },
          { name: 'd', url: URL, transport: null },
        ],
        stdio_servers: [
          { name: 'e', command: 'npx' },
          { name: 'f', command: 'npx', transport: 'stdio' },
        ],
      }),
    ).toStrictEqual({
      a: { url: URL, transport: 'sse' },
      b: { url: URL, transport: 'http' },
      c: { url: URL, transport: 'streamable-http' },
      d: { url: URL, transport: 'http' },
      e: { command: 'npx' },
      f: { command: 'npx', transport: 'stdio' },
    });
  });

  it('are none if there is no config, and what is no entry is none', () => {
    expect(servers(null)).toStrictEqual({});
    expect(servers({ shttp_servers: ['x', null], sse_servers: null })).toStrictEqual({});
  });

  it('stand beside those of which nobody can tell how they are reached, which stay as they were read', () => {
    const other_servers = { odd: { later: ['a', null] } };
    expect(servers({ other_servers, shttp_servers: [{ name: 'x', url: URL }] })).toStrictEqual({
      odd: { later: ['a', null] },
      x: { url: URL, transport: 'http' },
    });
    expect(servers({ other_servers, shttp_servers: [{ name: 'odd', url: URL }] })).toBe('odd');
  });

  it('have no member that says nothing, and every other', () => {
    const nothing = { description: '', icon: null, args: [], headers: {}, cwd: new Secret('') };
    expect(server(nothing)).toStrictEqual({});
    const something = { enabled: false, timeout: 0, args: [''], headers: { 'X-A': '' } };
    expect(server(something)).toStrictEqual(something);
  });
});

describe('the name of a server', () => {
  it('is the one of its entry, without blanks around it', () => {
    expect(names({ name: ' a b ', url: URL })).toEqual(['a b']);
    expect(names({ name: new Secret('secret-name'), url: URL })).toEqual(['secret-name']);
    for (const name of [null, '', '  ', 7, new Secret(' ')])
      expect(readServerName({ name })).toBeNull();
    expect(readServerName({})).toBeNull();
  });

  it('is no name of another one, in whatever list', () => {
    const one = { name: 'one', url: URL };
    expect(servers({ shttp_servers: [one, { ...one, name: ' one ' }] })).toBe('one');
    expect(servers({ sse_servers: [one], shttp_servers: [one] })).toBe('one');
    expect(twiceProblem('one')).toMatch(/would have the name one, but names are unique there;/);
  });

  it.each<[string, string]>([
    ['https://mcp.example.com/mcp', 'mcp.example.com-mcp'],
    ['HTTP://mcp.example.com:8080/a_b/c/', 'mcp.example.com-8080-a-b-c'],
    ['mcp.example.com//a', 'mcp.example.com-a'],
    ['https://~~', 'server'],
    ['--', 'server'],
  ])('is made of the address if it has none: %s', (url, name) => {
    expect(names({ url })).toEqual([name]);
  });

  it('is made of no part of an address that may not be shown', () => {
    const identity = new Identity('https://mcp.example.com');
    const url = new Secret('https://me:canary@mcp.example.com?key=canary', null, identity);
    expect(names({ url })).toEqual(['mcp.example.com']);
  });

  it('that is made is numbered behind those that are there', () => {
    const nameless = { url: 'https://a.example' };
    const named = { name: 'a.example', url: URL };
    expect(names(nameless, nameless, named, nameless)).toEqual([
      'a.example',
      'a.example-2',
      'a.example-3',
      'a.example-4',
    ]);
    const found = convertServerLists({ shttp_servers: [nameless, named] });
    expect(found).toMatchObject({ servers: { 'a.example': { url: URL } } });
  });
});

describe('how a server authenticates', () => {
  const key = new Secret('k');
  const bearer = { strategy: 'bearer' };
  const basic = { strategy: 'basic', username: 'u', password: 'p' };

  it.each<[string, ValueRecord, unknown]>([
    ['a key', { api_key: key }, { strategy: 'api_key', value: 'k' }],
    ['a key as a bearer token', { api_key: key, auth: bearer }, { ...bearer, value: 'k' }],
    [
      'a key in a header of its own',
      { api_key: key, auth: { strategy: 'api_key', header_name: 'X-K' } },
      { strategy: 'api_key', header_name: 'X-K', value: 'k' },
    ],
    [
      'a key in place of any other way',
      { api_key: key, auth: basic },
      { strategy: 'api_key', value: 'k' },
    ],
    ['another way', { auth: basic }, basic],
    ['another way, and no key', { auth: basic, api_key: null }, basic],
    ['a way to send a key that is not written', { auth: bearer }, bearer],
  ])('%s', (_, entry, auth) => {
    expect(server(entry)).toStrictEqual({ auth });
  });

  it.each<[string, ValueRecord]>([
    ['no key', { api_key: null }],
    ['an empty key', { api_key: '' }],
    ['an empty key from a reference', { api_key: new Secret('', '${env:KEY}') }],
    ['no key for a way to send one', { api_key: null, auth: bearer }],
    ['no way', { auth: null }],
  ])('is not sent with %s', (_, entry) => {
    expect(server(entry)).toStrictEqual({});
  });
});
