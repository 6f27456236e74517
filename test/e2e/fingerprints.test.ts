import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderWith, setpoint } from '../fixture/command.ts';
import { startStore, type StoreServer } from '../fixture/store-server.ts';

const ENV = {
  KEY: 'a-session-key',
  LLM: 'canary-first-llm',
  SETPOINT_STATE_KEY: 'canary-state-key',
};
let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  store = await startStore({}, { language: 'en' });
  folder = folderWith({
    'settings.yaml': `version: 1\nserver: { url: "${store.url}", api_key: "\${env:KEY}" }\nsettings:\n  language: en\n  sandbox_api_key: null\n  llm_api_key: \${env:LLM}\n`,
  });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

const run = (args: string[], more: Record<string, string> = {}) =>
  setpoint(args, { cwd: folder.path, env: { ...ENV, ...more } });

describe('with SETPOINT_STATE_KEY', () => {
  it('a rotated variable makes exactly one write, then none', async () => {
    expect((await run(['apply', '--yes'])).code).toBe(0);
    expect((await run(['plan'])).stdout).not.toContain('origin unknown');
    expect((await run(['apply', '--yes'])).code).toBe(0);
    expect(store.posts()).toBe(1);
    const rotated = { LLM: 'canary-second-llm' };
    expect((await run(['plan'], rotated)).stdout).toContain(
      'llm_api_key: set, changed since last written: will be rotated',
    );
    expect((await run(['apply', '--yes'], rotated)).code).toBe(0);
    expect(store.stored?.['llm_api_key']).toBe('canary-second-llm');
    expect((await run(['apply', '--yes'], rotated)).code).toBe(0);
    expect(store.posts()).toBe(2);
  });

  it('the file holds neither the secrets nor the key', async () => {
    await run(['apply', '--yes']);
    const text = readFileSync(join(folder.path, '.setpoint/fingerprints.json'), 'utf8');
    expect(text).toContain('llm_api_key');
    expect(text).not.toContain('canary');
  });

  it('a write that is not verified is not remembered', async () => {
    store.intercept = (request, response) => {
      if (request.method !== 'POST') return false;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"message":"stored"}');
      return true;
    };
    expect((await run(['apply', '--yes'])).code).toBe(8);
    expect(() => readFileSync(join(folder.path, '.setpoint/fingerprints.json'))).toThrow();
  });

  it('a file that cannot be read stops the target before anything is sent', async () => {
    await run(['apply', '--yes']);
    const { writeFileSync } = await import('node:fs');
    writeFileSync(join(folder.path, '.setpoint/fingerprints.json'), 'x');
    const before = store.requests.length;
    const { code, stderr } = await run(['apply', '--yes']);
    expect(code).toBe(3);
    expect(stderr).toContain('no file of fingerprints');
    expect(store.requests.length).toBe(before);
  });
});

it('without SETPOINT_STATE_KEY nothing is kept', async () => {
  await run(['apply', '--yes'], { SETPOINT_STATE_KEY: '' });
  expect(() => readFileSync(join(folder.path, '.setpoint/fingerprints.json'))).toThrow();
  expect((await run(['plan'], { SETPOINT_STATE_KEY: '' })).stdout).toContain('set, origin unknown');
});
