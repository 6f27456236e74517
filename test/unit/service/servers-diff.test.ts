import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { isList, isRecord, createRecord, type Value } from '../../../src/reconciler/model/value.ts';
import { serversDiff } from '../../../src/reconciler/service/agent-server/servers-diff.ts';

const URL = 'https://mcp.example.com/mcp';
const OTHER = 'https://other.example.com/mcp';
/** What the service answers in place of a secret. */
const MASK = new Secret('**********');

type Plain =
  | string
  | number
  | null
  | Secret
  | readonly Plain[]
  | { readonly [name: string]: Plain };

function valueOf(plain: Plain): Value {
  if (plain === null || typeof plain !== 'object' || plain instanceof Secret) return plain;
  if (Array.isArray(plain)) return plain.map(valueOf);
  return createRecord(Object.entries(plain).map(([name, one]) => [name, valueOf(one)]));
}

/** A value as it is sent, its secrets too. */
function sentOf(value: Value): unknown {
  if (value instanceof Secret) return value.reveal();
  if (isList(value)) return value.map(sentOf);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, sentOf(one)]));
}

/** What a PATCH sends so that these entries over http become those. */
function patch(before: readonly Plain[], after: readonly Plain[]): unknown {
  return between({ shttp_servers: before }, { shttp_servers: after });
}

function between(before: Plain, after: Plain): unknown {
  const diff = serversDiff(valueOf(after), valueOf(before));
  return 'problem' in diff ? diff.problem : sentOf(diff.value);
}

/** A server with a stored key that the answer masks. */
const KEYED = { name: 'one', url: URL, transport: 'http', api_key: MASK };
const SECRETS: readonly (readonly [string, { readonly [name: string]: Plain }, string])[] = [
  ['an api_key', { api_key: MASK }, 'auth'],
  ['bearer', { auth: { strategy: 'bearer', value: MASK } }, 'auth'],
  ['basic', { auth: { strategy: 'basic', username: 'u', password: MASK } }, 'auth'],
  ['headers', { headers: { 'X-Key': MASK } }, 'headers'],
];

describe('a stored credential', () => {
  it.each(SECRETS)('is cleared in the same write if the host changes: %s', (_, secret, member) => {
    const before = { name: 'one', url: URL, transport: 'http', ...secret };
    expect(patch([before], [{ name: 'one', url: OTHER, transport: 'http' }])).toStrictEqual({
      one: { url: OTHER, transport: 'http', [member]: null },
    });
  });

  it.each(SECRETS)('is neither sent nor cleared if the host stays: %s', (_, secret) => {
    const before = { name: 'one', url: URL, transport: 'http', ...secret };
    const after = { name: 'one', url: `${URL}/v2`, transport: 'http', description: 'd' };
    expect(patch([before], [after])).toStrictEqual({
      one: { url: `${URL}/v2`, transport: 'http', description: 'd' },
    });
    expect(patch([before], [{ ...before, timeout: 30 }])).toStrictEqual({ one: { timeout: 30 } });
  });

  it('is sent where the file declares it', () => {
    const key = new Secret('a-key', '${env:KEY}');
    expect(patch([KEYED], [{ ...KEYED, url: OTHER, api_key: key }])).toStrictEqual({
      one: { url: OTHER, transport: 'http', auth: { value: 'a-key' } },
    });
    expect(patch([KEYED], [{ ...KEYED, api_key: key }])).toStrictEqual({
      one: { auth: { value: 'a-key' } },
    });
  });

  it('is the one of its own server, whatever stands at the same address', () => {
    const two = { name: 'two', url: URL, transport: 'http', headers: { 'X-Key': MASK } };
    const after = [
      { name: 'two', url: URL, transport: 'http', timeout: 5 },
      { name: 'one', url: URL, transport: 'http' },
    ];
    expect(patch([KEYED, two], after)).toStrictEqual({ two: { timeout: 5 } });
  });

  it('gives way to another way to authenticate', () => {
    const bearer = { strategy: 'bearer', value: MASK };
    const before = { name: 'one', url: URL, transport: 'http', auth: bearer };
    const key = new Secret('a-key', '${env:KEY}');
    const { auth: _, ...bare } = before;
    expect(patch([before], [{ ...bare, api_key: key }])).toStrictEqual({
      one: { auth: { strategy: 'api_key', value: 'a-key' } },
    });
    expect(patch([KEYED], [{ ...bare, api_key: null, auth: { strategy: 'none' } }])).toStrictEqual({
      one: { auth: { value: null, strategy: 'none' } },
    });
  });

  it('in an Authorization header makes room for a new key, and other headers stay', () => {
    const headers = { authorization: MASK, 'X-A': 'a' };
    const before = { name: 'one', url: URL, transport: 'http', headers };
    const key = new Secret('a-key', '${env:KEY}');
    const keyed = { strategy: 'api_key', value: 'a-key' };
    expect(patch([before], [{ ...before, api_key: key }])).toStrictEqual({
      one: { headers: { authorization: null }, auth: keyed },
    });
    const like = { 'X-Authorization': 'x', 'Authorization-Info': 'y' };
    expect(
      patch([{ ...before, headers: like }], [{ ...before, headers: like, api_key: key }]),
    ).toStrictEqual({ one: { auth: keyed } });
    // A key that was there before stands beside what the server has taken already.
    const both = { ...KEYED, headers };
    expect(patch([both], [{ ...both, api_key: key }])).toStrictEqual({
      one: { auth: { value: 'a-key' } },
    });
  });

  it('beside a new key stays, as does an Authorization header beside no key', () => {
    const key = new Secret('a-key', '${env:KEY}');
    const both = { ...KEYED, headers: { 'X-Key': MASK } };
    expect(patch([both], [{ ...KEYED, api_key: key }])).toStrictEqual({
      one: { auth: { value: 'a-key' } },
    });
    const { api_key: _, ...bare } = { ...KEYED, headers: { Authorization: MASK } };
    expect(patch([bare], [{ ...bare, timeout: 5 }])).toStrictEqual({ one: { timeout: 5 } });
  });

  it('of a program stays with the program', () => {
    const stdio = (entry: Plain) => ({ stdio_servers: [entry] });
    const program = { name: 'fs', command: 'npx', env: { TOKEN: MASK } };
    expect(
      between(stdio(program), stdio({ name: 'fs', command: 'npx', args: ['-y'] })),
    ).toStrictEqual({
      fs: { args: ['-y'] },
    });
    expect(
      between(
        { stdio_servers: [program] },
        { stdio_servers: [], shttp_servers: [{ name: 'fs', url: URL, transport: 'http' }] },
      ),
    ).toStrictEqual({ fs: { command: null, env: null, url: URL, transport: 'http' } });
    expect(
      between(
        { stdio_servers: [], shttp_servers: [{ ...KEYED, name: 'fs' }] },
        { stdio_servers: [{ name: 'fs', command: 'npx' }], shttp_servers: [] },
      ),
    ).toStrictEqual({ fs: { url: null, transport: null, auth: null, command: 'npx' } });
  });
});

describe('the map of servers', () => {
  const one = { name: 'one', url: URL, transport: 'http' };

  it('is reset by null, and left alone where it is the same', () => {
    expect(between({ shttp_servers: [one] }, null)).toBeNull();
    expect(patch([one], [one])).toStrictEqual({});
    expect(between(null, { shttp_servers: [] })).toStrictEqual({});
  });

  it('loses a server that is declared no more, and gains one as a whole', () => {
    expect(patch([one], [])).toStrictEqual({ one: null });
    expect(patch([], [{ ...one, timeout: 5 }])).toStrictEqual({
      one: { url: URL, transport: 'http', timeout: 5 },
    });
    expect(patch([one], [{ ...one, name: 'two' }])).toStrictEqual({
      one: null,
      two: { url: URL, transport: 'http' },
    });
  });

  it('has members that are gone as null, and of a map only what differs', () => {
    const before = { ...one, description: 'd', headers: { 'X-A': 'a', 'X-B': 'b' } };
    expect(patch([before], [{ ...one, headers: { 'X-A': 'a', 'X-B': 'c' } }])).toStrictEqual({
      one: { description: null, headers: { 'X-B': 'c' } },
    });
    expect(patch([before], [{ ...before, headers: { 'X-B': 'b' } }])).toStrictEqual({
      one: { headers: { 'X-A': null } },
    });
  });

  it('has what was a map as a whole once it is another value, and the other way round', () => {
    const [map, text] = [{ icon: { src: 'a' } }, { icon: 'a' }];
    expect(patch([{ ...one, ...map }], [{ ...one, ...text }])).toStrictEqual({ one: text });
    expect(patch([{ ...one, ...text }], [{ ...one, ...map }])).toStrictEqual({ one: map });
  });

  it('says a transport again beside another address, since the server may have inferred it', () => {
    expect(patch([one], [{ ...one, url: `${URL}/v2` }])).toStrictEqual({
      one: { url: `${URL}/v2`, transport: 'http' },
    });
    expect(patch([one], [{ ...one, timeout: 5 }])).toStrictEqual({ one: { timeout: 5 } });
    expect(patch([{ ...one, transport: 'streamable-http' }], [one])).toStrictEqual({
      one: { transport: 'http' },
    });
  });

  it('cannot hold two servers of one name', () => {
    const twice = [one, { ...one, url: OTHER }];
    expect(patch([], twice)).toMatch(/^two servers of mcp_config would have the name one,/);
    expect(patch(twice, [])).toMatch(/^two servers of mcp_config would have the name one,/);
  });

  it('leaves a list alone that a config does not have', () => {
    const before = { sse_servers: [], shttp_servers: [KEYED] };
    expect(between(before, { sse_servers: [], shttp_servers: [{ ...one }] })).toStrictEqual({});
    expect(
      between(before, { sse_servers: [{ ...one, name: 'two', transport: 'sse' }] }),
    ).toStrictEqual({
      one: null,
      two: { url: URL, transport: 'sse' },
    });
  });
});
