import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/start.ts';
import { apply, drift, get, init, plan, pull } from '../../../src/index.ts';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { folderWith } from '../../fixture/command.ts';
import { quickClock } from '../../fixture/settings.ts';

/* Some services of mcp have the key of their user in the path of an address. */

const ALL: readonly DialectName[] = ['settings-v0', 'app-server', 'agent-server'];
const KEY = 'ZmQ4YjE0YzMtOTI3Mi00ZTVhLWE0MDUtODJkZTZhM2Y0';
const OTHER = 'YWExYjJjM2Q0ZTVmNmE3YjhjOWQwZTFmMmEzYjRjNWQ2';
const allow = ['empty-store', 'run-code'];
const URL = `https://mcp.example.com/s/${KEY}/mcp`;
const NEXT = `https://mcp.example.com/s/${OTHER}/mcp`;

describe.each(ALL)('a folder with the form of a key, on %s', (dialect) => {
  let folder: ReturnType<typeof folderWith>;
  let service: Emulator;

  /** A request for a file with these blocks, written beside the others. */
  const asked = (blocks: string, env: Readonly<Record<string, string>> = {}) => {
    const file = join(folder.path, 'settings.yaml');
    const settings = blocks.startsWith('settings:') ? '' : 'settings: { language: en }\n';
    writeFileSync(file, `version: 1\nserver: { url: "${service.url}" }\n${settings}${blocks}\n`);
    return {
      file,
      env: { U: URL, N: NEXT, ...env },
      clock: quickClock(),
    };
  };

  beforeEach(async () => {
    folder = folderWith({});
    service = await startEmulator({ dialect });
    const both =
      '{ a: { url: "${env:U}", transport: http }, b: { url: "${env:N}", transport: http } }';
    const { environments } = await apply({ ...asked(`mcp_servers: ${both}`), allow });
    expect(environments.map(({ status }) => status)).toEqual(['applied']);
  });

  afterEach(async () => {
    await service.close();
    folder.remove();
  });

  it('is masked where the file does not declare the server', async () => {
    const file = join(folder.path, 'first.yaml');
    const blocks = '';
    const removes = 'mcp_servers: { a: null }';
    const shown = [
      await plan(asked(blocks)),
      await plan(asked(removes)),
      await drift(asked(blocks)),
      await get(asked(blocks)),
      await pull({ ...asked(blocks), adopt: 'all', check: true }),
      await init({ file, server: service.url, env: {}, clock: quickClock() }),
      readFileSync(file, 'utf8'),
    ].map((one) => JSON.stringify(one));
    for (const text of shown) for (const key of [KEY, OTHER]) expect(text).not.toContain(key);
    expect(shown.join('')).toContain('mcp.example.com/s/…/mcp');
  });

  it('keeps two servers apart, and a server in sync that the file names by its whole address', async () => {
    const list = `settings: { mcp_config: { shttp_servers: [{ name: b, url: "${NEXT}" }] } }`;
    const [fewer] = (await plan(asked(list))).environments;
    expect(fewer?.changes.map(({ action }) => action)).toEqual(['remove']);
    const { environments } = await apply({ ...asked(list), allow });
    expect(environments.map(({ status }) => status)).toEqual(['applied']);
    const named = `mcp_servers: { b: { url: "${NEXT}", transport: http } }`;
    for (const blocks of [list, named]) {
      const [same] = (await plan(asked(blocks))).environments;
      expect([same?.status, same?.changes, same?.error]).toEqual(['in-sync', [], null]);
      const snapshot = await get(asked(blocks));
      const [saved] = (await plan({ ...asked(blocks), snapshot })).environments;
      expect([saved?.changes, saved?.error]).toEqual([[], null]);
    }
  });

  it('a server that the file leaves unmanaged by its whole address stays', async () => {
    const path = `mcp_config.shttp_servers[${URL}]`;
    const list = `mcp_config: { shttp_servers: [{ name: b, url: "${NEXT}" }] }`;
    const blocks = `settings: { ${list} }\nunmanaged: ["${path}"]`;
    const [kept] = (await plan(asked(blocks))).environments;
    expect([kept?.changes, kept?.error]).toEqual([[], null]);
  });

  it('is masked after a rotation', async () => {
    const declared =
      'mcp_servers: { a: { url: "https://mcp.example.com/s/${env:K}/mcp", transport: http } }';
    const text = JSON.stringify(await plan(asked(declared, { K: 'a-key-that-is-new' })));
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('a-key-that-is-new');
  });
});
