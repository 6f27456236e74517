/** Client certificates (mTLS) and authorities, over TLS on loopback. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, rawServer, SETTINGS } from '../../faults/raw-server.ts';
import { describeEach } from '../../fixture/long.ts';
import { folderWith, setpoint as builtCommand } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';

const certs = join(import.meta.dirname, '../../faults/certs');
const file = (name: string) => readFileSync(join(certs, name), 'utf8');
const FILES = ['ca.pem', 'client.pem', 'client.key', 'client-expired.pem', 'server.key'];

let folder: ReturnType<typeof folderWith>;
beforeEach(() => {
  folder = folderWith({});
  for (const name of [...FILES, 'client-passphrase.key'])
    copyFileSync(join(certs, name), join(folder.path, name));
});
afterEach(() => folder.remove());

const secured = (more: TlsOptions = {}) =>
  rawServer((socket) => socket.write(answer(200, SETTINGS)), {
    key: file('server.key'),
    cert: file('server.pem'),
    ca: file('client-ca.pem'),
    requestCert: true,
    rejectUnauthorized: true,
    ...more,
  });

function settings(url: string, server: Record<string, string>): void {
  const members = { url, ca_file: 'ca.pem', ...server };
  writeFileSync(
    join(folder.path, 'settings.yaml'),
    `version: 1\nserver: ${JSON.stringify(members)}\n`,
  );
}
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  setpoint(args, { cwd: folder.path, env });

const CERT = { client_cert: 'client.pem', client_key: 'client.key' };

describeEach(['TLSv1.3', 'TLSv1.2'] as const, (version) => version === 'TLSv1.3')(
  'a server that asks for a certificate: %s',
  (maxVersion) => {
    it.each([
      ['two files', CERT, {}],
      [
        'paths in variables',
        { client_cert: '${env:C}', client_key: 'client.${env:K}' },
        { C: 'client.pem', K: 'key' },
      ],
      [
        'texts in variables',
        { client_cert: '${env:C}', client_key: '${env:K}' },
        { C: file('client.pem'), K: file('client.key') },
      ],
      [
        'a secret file',
        { ...CERT, client_key: '${file:client.key}' },
        { SETPOINT_ALLOWED_FILES: '.' },
      ],
    ])('is reached with %s', async (_, server, env) => {
      const { url, requests } = await secured({ maxVersion });
      settings(url, server);
      const { code, stderr } = await run(['plan'], env);
      expect([code, stderr]).toEqual([0, '']);
      expect(requests.length).toBeGreaterThan(0);
    });

    it('reports that none is set, once', async () => {
      const { url, requests, connections } = await secured({ maxVersion });
      settings(url, {});
      const { code, stderr } = await run(['plan']);
      expect(code).toBe(1);
      expect(stderr).toMatch(/set server\.client_cert and server\.client_key\./i);
      expect(stderr).not.toContain('tries in all');
      expect(connections()).toBe(1);
      expect(requests).toEqual([]);
    });

    it('reports one that has expired', async () => {
      const { url } = await secured({ maxVersion });
      settings(url, { ...CERT, client_cert: 'client-expired.pem' });
      const { code, stderr } = await run(['plan']);
      expect(code).toBe(1);
      expect(stderr).toContain('client certificate of server.client_cert has expired');
    });
  },
);

it('a server of TLS 1.2 that trusts another authority is reported as the one that refused', async () => {
  const { url } = await secured({ ca: file('ca.pem'), maxVersion: 'TLSv1.2' });
  settings(url, CERT);
  const { code, stderr } = await run(['plan']);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /server refused the client certificate|does not trust the client certificate/,
  );
});

describe('what is wrong with the files is reported, and nothing is sent', () => {
  it.each([
    [
      'a key of another certificate',
      { client_key: 'server.key' },
      'does not belong to the first certificate',
    ],
    [
      'a key with a passphrase',
      { client_key: 'client-passphrase.key' },
      'private key with a passphrase',
    ],
    ['no key in the file', { client_key: 'client.pem' }, 'contains no private key in PEM form'],
    [
      'no certificate in the file',
      { client_cert: 'client.key' },
      'contains no certificates in PEM form',
    ],
    ['no file', { client_key: 'absent.key' }, 'absent.key'],
    ['a folder', { client_key: '.' }, 'is not a regular file'],
    [
      'a text that is no PEM',
      { client_key: '${env:K}' },
      'server.client_key contains no private key',
    ],
  ])('%s', async (_, server, words) => {
    const { url, connections } = await secured();
    settings(url, { ...CERT, ...server });
    const { code, stdout, stderr } = await run(['plan'], { K: '-----BEGIN canary-text' });
    expect(code).not.toBe(0);
    expect(stderr).toContain(words);
    expect(stdout + stderr).not.toMatch(/canary|MIGHAgEA/);
    expect(connections()).toBe(0);
  });

  it.each([
    [
      'client_cert needs client_key',
      { client_cert: 'client.pem' },
      'server.client_cert needs server.client_key.',
    ],
    [
      'client_key needs client_cert',
      { client_key: 'client.key' },
      'server.client_key needs server.client_cert.',
    ],
    [
      'a key in the file',
      { ...CERT, client_key: file('client.key') },
      'A private key does not belong in this file.',
    ],
  ])('validate: %s', async (_, server, words) => {
    settings('https://agents.example.com', server);
    const { code, stdout, stderr } = await run(['validate']);
    expect(code).toBe(3);
    expect(stdout + stderr).toContain(words);
    expect(stdout + stderr).not.toContain('MIGHAgEA');
  });

  it('in a pipeline a file that is not there is not distinguished from another', async () => {
    const messages = new Set<string>();
    for (const name of ['hosts.key', 'absent.key']) {
      writeFileSync(join(folder.path, 'hosts.key'), 'no key');
      settings('https://127.0.0.1:9', { ...CERT, client_key: `./${name}` });
      messages.add((await run(['plan'], { CI: 'true' })).stderr.replaceAll(name, 'NAME'));
    }
    expect(messages.size).toBe(1);
    expect([...messages][0]).toContain('contains no private key');
  });
});

describe('the key of a client certificate', () => {
  const environments = (production: string, staging: string): void =>
    writeFileSync(
      join(folder.path, 'settings.yaml'),
      `version: 1
server: { client_cert: client.pem, client_key: "\${env:K}" }
environments:
  production: { server: { url: "https://a.example" } ${production} }
  staging: { server: { url: "https://b.example" } ${staging} }
`,
    );

  it('may be used with several origins', async () => {
    environments('', '');
    expect(await run(['validate'])).toMatchObject({ code: 0 });
  });

  it('is sent to none of them as a value', async () => {
    environments('', ', secrets: { X: "${env:K}" }');
    const { code, stdout, stderr } = await run(['validate']);
    expect(code).toBe(3);
    expect(stdout + stderr).toMatch(
      /K is the key of \w+ .*, and would be sent to another origin by (staging|production)/,
    );
  });
});

it('ca_file adds to the authorities of NODE_EXTRA_CA_CERTS', async () => {
  const { url } = await secured({ requestCert: false });
  settings(url, { ca_file: 'client.pem' });
  const untrusted = await builtCommand(['plan'], { cwd: folder.path });
  expect(untrusted.stderr).toContain('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  const extra = await builtCommand(['plan'], {
    cwd: folder.path,
    env: { NODE_EXTRA_CA_CERTS: join(certs, 'ca.pem') },
  });
  expect(extra).toMatchObject({ code: 0, stderr: '' });
});
