import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { isRecord, type Value } from '../../../src/reconciler/model/value.ts';
import { bodyOf } from '../../fixture/observed.ts';
import { declared, planned } from './declared.ts';

const A = { url: 'https://a.example.com/sse' };
const B = { url: 'https://b.example.com/sse' };
const C = { url: 'https://c.example.com/sse' };
const MASK = '**********';

type Fields = Readonly<Record<string, unknown>>;
interface Given {
  readonly unmanaged?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly rotation?: 'all';
}

const web = (...entries: unknown[]) => ({ shttp_servers: entries });
const entryPath = (url: string, list = 'shttp_servers') => `mcp_config.${list}[${url}]`;

/** The plan of a file with this config, as JSON or in the words of the file, against a service that has the other. */
function plan(
  config: Fields | string | null,
  stored: Fields | null | undefined,
  given: Given = {},
) {
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  const unmanaged = `unmanaged: ${JSON.stringify(given.unmanaged ?? [])}`;
  const desired = declared(
    `mcp_config: ${text}`,
    given.variables,
    given.unmanaged ? unmanaged : '',
  );
  return planned(
    desired,
    stored === undefined ? { language: 'en' } : { language: 'en', mcp_config: stored },
    given.rotation === undefined ? {} : { rotation: given.rotation },
  );
}

/** The changes in short: an action and a place. */
function changes(...given: Parameters<typeof plan>): string[] {
  return plan(...given).changes.map(({ action, path }) =>
    `${action} ${path.slice(1).join(' ')}`.trim(),
  );
}

/** The config that is sent, as plain JSON; undefined if it is not. */
function sent(...given: Parameters<typeof plan>): unknown {
  return plain(plan(...given).write?.fields['mcp_config']);
}

/** Secrets as they are sent. */
function plain(value: Value | undefined): unknown {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

describe('a declared list', () => {
  it('is exhaustive: removals first, then what changes and what is added, in the order of the file', () => {
    const config = web({ ...C, timeout: 5 }, B, { ...A, timeout: 5 });
    const stored = web(A, { url: 'https://old.example.com' }, B);
    expect(changes(config, stored)).toEqual([
      'remove shttp_servers https://old.example.com',
      `change shttp_servers ${A.url}`,
      `set shttp_servers ${C.url}`,
    ]);
  });

  it('is sent with what stays in its place, and what is added behind it', () => {
    expect(sent(web(C, B, A), web(A, B))).toEqual(web(A, B, C));
    expect(sent(web(B), web(A, { ...B, timeout: 5 }))).toEqual(web({ ...B, timeout: 5 }));
    const [stored, declaration] = [60, null].map((timeout) => ({ ...A, timeout }));
    expect(sent(web(declaration, B), web(stored))).toEqual(web(stored, B));
  });

  it('has no change of order, and none of an entry that is the same', () => {
    expect(plan(web(B, A), web(A, B))).toMatchObject({ changes: [], unknown: [], write: null });
  });

  it('leaves lists alone that are not declared, and members that this version does not know', () => {
    const stored = { later: 1, stdio_servers: [{ name: 'files', command: 'npx' }], ...web(A) };
    expect(changes(web(), stored)).toEqual([`remove shttp_servers ${A.url}`]);
    expect(sent(web(), stored)).toEqual({ ...stored, shttp_servers: [] });
  });

  it('keeps items that this version cannot read, and says that nothing is claimed of them', () => {
    const stored = { stdio_servers: ['npx files', { name: 'old', command: 'old' }] };
    const config = { stdio_servers: [{ name: 'new', command: 'new' }] };
    const found = plan(config, stored);
    expect(found.unknown).toEqual([
      {
        path: ['mcp_config', 'stdio_servers', '(unnamed)'],
        reason: 'setpoint cannot read this entry; it is left unchanged',
        ref: null,
      },
    ]);
    expect(bodyOf(found)?.['mcp_config']).toMatchObject({
      stdio_servers: [{ name: 'new' }, expect.anything()],
    });
  });

  it('tells what differs of an entry, and shows it before and after', () => {
    const config = { shttp_servers: [{ ...A, timeout: 30, api_key: '${env:KEY}' }] };
    const stored = { shttp_servers: [{ ...A, timeout: 60, api_key: 'other' }] };
    const [change] = plan(config, stored, { variables: { KEY: 'key' } }).changes;
    expect(change).toMatchObject({
      resource: 'settings',
      path: ['mcp_config', 'shttp_servers', A.url],
      action: 'change',
      sensitive: true,
      ref: '${env:KEY}',
      reason: expect.stringMatching(/^(timeout, api_key|api_key, timeout) differ$/),
      source: { file: 'settings.yaml', line: 5 },
    });
    const one = plan({ shttp_servers: [{ ...A, timeout: 30 }] }, { shttp_servers: [A] }).changes;
    expect(one).toMatchObject([
      { reason: 'timeout differs', sensitive: false, ref: null, after: { timeout: 30 } },
    ]);
  });

  it('masks what was stored if it is a secret, and names each reference once', () => {
    const config = `{ stdio_servers: [{ name: files, command: npx, args: ["\${env:A}", "\${env:A}", "\${env:B}"] }] }`;
    const stored = { stdio_servers: [{ name: 'files', command: 'other', args: ['word'] }] };
    const [change] = plan(config, stored, { variables: { A: 'a', B: 'b' } }).changes;
    expect(change).toMatchObject({ ref: '${env:A}, ${env:B}', sensitive: true });
    expect(JSON.stringify(change)).not.toContain('word');
    const [removed] = plan({ stdio_servers: [] }, stored).changes;
    expect(removed).toMatchObject({
      sensitive: true,
      ref: null,
      reason: 'not declared',
      after: null,
      source: null,
    });
    const [added] = plan(config, null, { variables: { A: 'a', B: 'b' } }).changes;
    expect(added).toMatchObject({
      action: 'set',
      before: null,
      reason: 'not set',
      sensitive: true,
      ref: '${env:A}, ${env:B}',
    });
  });

  it('shows the literals of the file that stay, and nothing else of what is stored', () => {
    const config = {
      stdio_servers: [
        { name: 'files', command: 'new', args: ['--root', '/srv'], env: { MODE: 'fast' } },
      ],
    };
    const stored = {
      stdio_servers: [
        {
          name: 'files',
          command: 'old',
          args: ['--root', '/tmp'],
          env: { MODE: 'fast', KEY: 'k' },
        },
      ],
    };
    const [change] = plan(config, stored).changes;
    expect(JSON.parse(JSON.stringify(change?.before))).toEqual({
      name: 'files',
      command: 'old',
      args: ['--root', '(sensitive)'],
      env: { MODE: 'fast', KEY: '(sensitive)' },
    });
    expect(change?.sensitive).toBe(true);
  });
});

describe('an entry that the file does not manage', () => {
  const unmanaged = [entryPath(B.url)];

  it('stays in its place as it was read, and is no change', () => {
    const stored = web({ ...B, timeout: 1 }, A, { ...B, timeout: 2 });
    expect(sent(web({ ...A, timeout: 9 }), stored, { unmanaged })).toEqual(
      web({ ...B, timeout: 1 }, { ...A, timeout: 9 }, { ...B, timeout: 2 }),
    );
    expect(changes(web(A), web(B, A), { unmanaged })).toEqual([]);
  });

  it('is not added if the file has it all the same', () => {
    expect(changes(web(A, B), web(A), { unmanaged })).toEqual([]);
    expect(changes(web(B, A), web({ ...B, timeout: 1 }), { unmanaged })).toEqual([
      `set shttp_servers ${A.url}`,
    ]);
  });

  it('may be a whole list', () => {
    const list = ['mcp_config.shttp_servers'];
    expect(plan(web(A), web(B), { unmanaged: list })).toMatchObject({ changes: [], write: null });
  });

  it('stops a write that would lose its key', () => {
    const found = plan(web(A), web({ ...B, api_key: MASK }), { unmanaged });
    expect(found.unpreservable.map(({ path }) => path)).toContainEqual([
      'mcp_config',
      'shttp_servers',
      B.url,
      'api_key',
    ]);
  });

  it('stops such a write although the file has a key for it, which is not sent', () => {
    const config = JSON.stringify(web(A, { ...B, api_key: '${env:KEY}' }));
    const given = { unmanaged, variables: { KEY: 'k' } };
    const found = plan(config, web({ ...B, api_key: MASK }), given);
    expect(found.changes.map(({ path }) => path.at(-1))).toEqual([A.url]);
    expect(found.unpreservable.map(({ path }) => path)).toContainEqual([
      'mcp_config',
      'shttp_servers',
      B.url,
      'api_key',
    ]);
  });
});

describe('an entry of the file beside one whose members come back as masks', () => {
  it('loses what is not declared, and nothing that is', () => {
    const stored = web({ ...A, api_key: MASK, timeout: 1 });
    const found = plan(web({ ...A, timeout: 2 }), stored);
    const lost = found.unpreservable.filter(({ path }) => path[0] === 'mcp_config');
    expect(lost.map(({ path }) => path.join(' '))).toEqual([
      `mcp_config shttp_servers ${A.url} api_key`,
    ]);
    expect(sent(web({ ...A, timeout: 2 }), stored)).toEqual(web({ ...A, timeout: 2 }));
  });

  it('is written without the masks if it cannot be compared and something else is written', () => {
    const config = `mcp_config: { shttp_servers: [{ url: "${A.url}", api_key: "\${env:KEY}" }] }`;
    const stored = { mcp_config: web({ ...A, api_key: MASK }), language: 'en' };
    const alone = planned(declared(config, { KEY: 'k' }), stored);
    expect(alone).toMatchObject({
      changes: [],
      unknown: [
        {
          path: ['mcp_config', 'shttp_servers', A.url, 'api_key'],
          reason: 'the service does not show it',
          ref: '${env:KEY}',
        },
      ],
      write: null,
    });
    const both = planned(declared(`language: fr\n${config}`, { KEY: 'k' }), stored);
    expect(both.changes.map(({ path }) => path)).toEqual([['language']]);
    expect(plain(both.write?.fields['mcp_config'])).toEqual(web({ ...A, api_key: 'k' }));
    const known = planned(declared(`language: fr\n${config}`, { KEY: 'k' }), {
      mcp_config: web({ ...A, api_key: 'k' }),
    });
    expect(known.write?.fields).not.toHaveProperty('mcp_config');
  });

  it('loses keys of the lists that are not declared', () => {
    const stored = {
      ...web(A),
      sse_servers: [
        { ...B, api_key: MASK },
        { ...C, api_key: 'k' },
      ],
    };
    const found = plan(web(), stored).unpreservable.map(({ path }) => path.join(' '));
    expect(found).toContain(`mcp_config sse_servers ${B.url} api_key`);
    expect(found).not.toContain(`mcp_config sse_servers ${C.url} api_key`);
    expect(
      plan({ ...web(), sse_servers: [] }, stored).unpreservable.filter(
        ({ path }) => path[0] === 'mcp_config',
      ),
    ).toEqual([]);
  });
});

describe('mcp_config as a whole', () => {
  it('{} declares three empty lists', () => {
    const stored = { sse_servers: [A], stdio_servers: [{ name: 'files' }], shttp_servers: [B] };
    expect(changes('{}', stored)).toEqual([
      `remove sse_servers ${A.url}`,
      'remove stdio_servers files',
      `remove shttp_servers ${B.url}`,
    ]);
  });

  it('null clears it, and all that it holds', () => {
    const stored = { ...web(A), later: 1 };
    const [change] = plan(null, stored).changes;
    expect(change).toMatchObject({
      path: ['mcp_config'],
      action: 'clear',
      after: null,
      sensitive: true,
      reason: 'set, will be cleared',
    });
    expect(plan(null, stored).write?.fields).toEqual({ mcp_config: null });
    expect(plan(null, null)).toMatchObject({ changes: [], write: null });
    expect(plan(null, undefined)).toMatchObject({ changes: [], write: null });
  });

  it('null leaves what is not managed, and is no change if nothing else is there', () => {
    const unmanaged = [entryPath(A.url)];
    expect(sent(null, { ...web(A, B), later: 1 }, { unmanaged })).toEqual({
      shttp_servers: [A],
      stdio_servers: [],
      sse_servers: [],
    });
    expect(plan(null, web(A), { unmanaged })).toMatchObject({ changes: [], write: null });
    expect(changes(null, { ...web(A), sse_servers: [B] }, { unmanaged })).toEqual(['clear']);
    const masked = plan(null, web({ ...A, api_key: MASK }, B), { unmanaged }).unpreservable;
    expect(masked.filter(({ path }) => path[0] === 'mcp_config')).toHaveLength(1);
  });

  it('is set as a whole if it is not there and no entry is declared', () => {
    const found = plan(web(), null);
    expect(found.changes).toMatchObject([
      {
        path: ['mcp_config'],
        action: 'set',
        before: null,
        after: { shttp_servers: [] },
        sensitive: false,
        reason: 'not set',
        ref: null,
      },
    ]);
    expect(sent(web(), null)).toEqual(web());
    expect(changes(web(), web())).toEqual([]);
  });

  it('is not set if all that it declares is unmanaged', () => {
    const entry = [entryPath(A.url)];
    expect(plan({ ...web(A), sse_servers: [] }, null, { unmanaged: entry })).toMatchObject({
      changes: [],
      write: null,
    });
    expect(plan(web(A), null, { unmanaged: ['mcp_config.shttp_servers'] })).toMatchObject({
      changes: [],
      write: null,
    });
  });

  it('is set entry by entry if it is not there', () => {
    expect(changes(web(A), null)).toEqual([`set shttp_servers ${A.url}`]);
    expect(sent(web(A), null)).toEqual(web(A));
  });
});

describe('an entry behind a reference without a value', () => {
  const config = (more = '') =>
    `{ shttp_servers: [{ url: "\${env:HOST}"${more} }, { url: "${A.url}" }] }`;

  it('is compared with the one that is left, and both are named', () => {
    const found = plan(config(', timeout: 5'), web(A, { ...B, timeout: 5 }));
    expect(found.changes).toEqual([]);
    expect(found.unknown.map(({ path, reason }) => [path.join(' '), reason])).toContainEqual([
      `mcp_config shttp_servers ${B.url}`,
      'may be the declared ${env:HOST}, and is compared with it',
    ]);
  });

  it('is compared with the one that differs least', () => {
    const found = plan(config(', timeout: 5'), web(A, { ...B, timeout: 6 }, { ...C, timeout: 5 }));
    expect(found.changes).toMatchObject([
      {
        action: 'remove',
        path: ['mcp_config', 'shttp_servers', B.url],
        reason: 'not declared, as far as known without the missing values',
      },
    ]);
  });

  it('makes nothing uncertain that it cannot be', () => {
    const text = `{ shttp_servers: [{ url: "https://\${env:HOST}/sse" }] }`;
    const found = plan(text, web({ url: 'https://x.example.com/other' }, B));
    expect(found.changes).toMatchObject([{ action: 'remove', reason: 'not declared' }]);
  });

  it('is added if there is nothing that it may be, and its missing value is listed', () => {
    const found = plan(config(), web(A));
    expect(found.changes).toMatchObject([
      { action: 'set', path: ['mcp_config', 'shttp_servers', '${env:HOST}'] },
    ]);
    expect(found.unknown).toMatchObject([
      { path: ['mcp_config', 'shttp_servers', '${env:HOST}', 'url'] },
    ]);
  });
});

describe('rotation', () => {
  const text = `{ shttp_servers: [{ url: "${A.url}", api_key: "\${env:KEY}" }, { url: "${B.url}" }] }`;
  const stored = web({ ...A, api_key: 'k' }, B);

  it('writes entries again that hold a secret, and no other', () => {
    expect(plan(text, stored, { variables: { KEY: 'k' } }).changes).toEqual([]);
    expect(plan(text, stored, { variables: { KEY: 'k' }, rotation: 'all' }).changes).toMatchObject([
      { action: 'rotate', path: ['mcp_config', 'shttp_servers', A.url], reason: 'will be rotated' },
    ]);
  });

  it('of an entry that differs is its change', () => {
    expect(plan(text, stored, { variables: { KEY: 'l' }, rotation: 'all' }).changes).toMatchObject([
      { action: 'change', reason: 'api_key differs' },
    ]);
  });
});
