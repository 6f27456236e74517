import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/start.ts';
import type {
  DoctorDocument,
  ExplainDocument,
} from '../../../src/reconciler/model/documents.gen.ts';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';

const KEY = 'canary-key';

let service: Emulator;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  service = await startEmulator({ apiKey: KEY });
  folder = folderWith({});
  await fetch(`${service.url}/api/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session-api-key': KEY },
    body: JSON.stringify({ language: 'fr', llm_api_key: 'canary-llm' }),
  });
});
afterEach(async () => {
  await service.close();
  folder.remove();
});

function run(args: readonly string[], env: Record<string, string> = { SETPOINT_API_KEY: KEY }) {
  return setpoint([...args, '--no-color'], { cwd: folder.path, env });
}

describe('in a folder without a settings file', () => {
  it('get shows what the service of --server has, and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await run(['get', 'settings', '--server', service.url]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`default  ${service.url}`);
    expect(stdout).toContain('fr');
    expect(stdout).not.toContain('canary');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('a snapshot of get can be planned against by the file that init writes', async () => {
    const got = await run(['get', 'settings', '--server', service.url, '-o', 'json=now.json']);
    const begun = await run(['init', '--server', service.url]);
    const planned = await run(['plan', '--snapshot', 'now.json']);
    expect([got.code, begun.code, planned.code]).toEqual([0, 0, 0]);
    expect(planned.stdout).toContain('No changes.');
  });

  it('doctor checks this machine, and the service of --server', async () => {
    const { code, stdout } = await run(['doctor', '--server', service.url, '-o', 'json']);
    const { checks, environments } = JSON.parse(stdout) as DoctorDocument;
    expect(code).toBe(0);
    expect(checks.find(({ name }) => name === 'file')).toMatchObject({
      status: 'passed',
      found: 'none, and none is needed: --server names the service',
    });
    expect(environments[0]?.checks.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'references passed',
      'policy passed',
      'proxy passed',
      'reach passed',
      'key passed',
      'dialect passed',
      'clock passed',
    ]);
  });

  it.each([['get', 'settings'], ['doctor']])(
    '%s says which variable holds the key, if one is needed',
    async (...args) => {
      const { code, stdout, stderr } = await run([...args, '--server', service.url], {});
      expect(code).toBe(4);
      expect(stdout + stderr).toContain('with --server, set SETPOINT_API_KEY.');
    },
  );

  it('with CI set, the lists of where keys may travel are needed as ever', async () => {
    const env = { SETPOINT_API_KEY: KEY, CI: 'true' };
    const { code, stderr } = await run(
      ['get', 'settings', '--server', 'https://agents.example.com'],
      env,
    );
    expect([code, stderr]).toEqual([3, expect.stringContaining('SETPOINT_ALLOWED_ORIGINS')]);
  });

  it('explain tells what a field means, and reads nothing', async () => {
    const { code, stdout, stderr } = await run(['explain', 'max_iterations']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('whole number');
    expect(stdout).toContain('this folder has no settings.yaml');
    const { stdout: text } = await run(['explain', 'max_iterations', '-o', 'json']);
    expect((JSON.parse(text) as ExplainDocument).environments).toEqual([]);
  });

  it.each([
    ['get', ['get', 'settings'], 'Without a file, name the service with --server URL.'],
    ['doctor', ['doctor'], 'setpoint init --server URL'],
    ['pull', ['pull', '--server', 'http://127.0.0.1:9'], 'setpoint init --server URL'],
    ['pull --check', ['pull', '--check', '--server', 'http://127.0.0.1:9'], 'setpoint init'],
    ['plan', ['plan', '--server', 'http://127.0.0.1:9'], 'setpoint init'],
    ['drift', ['drift', '--server', 'http://127.0.0.1:9'], 'setpoint init'],
    ['apply', ['apply', '--yes', '--server', 'http://127.0.0.1:9'], 'setpoint init'],
    ['explain, of the whole file', ['explain'], 'setpoint init'],
    ['explain -e', ['explain', 'language', '-e', 'prod'], 'setpoint init'],
    ['get -f', ['get', 'settings', '-f', 'a.yaml', '--server', 'http://127.0.0.1:9'], 'a.yaml'],
  ])('%s says what is missing and what to do', async (_, args, words) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout + stderr]).toEqual([3, expect.stringContaining(words)]);
  });
});

describe('settings files that need not be named', () => {
  const write = (...names: readonly string[]): void => {
    for (const name of names)
      writeFileSync(join(folder.path, name), `version: 1\nserver: { url: "${service.url}" }\n`);
  };

  it('are setpoint.yaml, or all that end with .setpoint.yaml, each an environment', async () => {
    write('setpoint.yaml');
    expect(await run(['validate'])).toMatchObject({ code: 0, stdout: 'Valid: default.\n' });
    folder.remove();
    folder = folderWith({});
    write('acme.setpoint.yaml', 'globex.setpoint.yaml');
    expect(await run(['validate'])).toMatchObject({ code: 0, stdout: 'Valid: acme, globex.\n' });
    const { stderr } = await run(['init', '--server', service.url]);
    expect(stderr).toContain('init writes one file, and this folder has several.');
  });

  it.each([[['settings.yaml', 'setpoint.yaml']], [['setpoint.yaml', 'acme.setpoint.yaml']]])(
    'are of one kind: %j is an error that names both',
    async (names) => {
      write(...names);
      const { code, stderr } = await run(['plan']);
      expect(code).toBe(3);
      expect(stderr).toContain(`several settings files: ${names.join(', ')}.`);
      expect(await run(['validate', '-f', names[0] ?? ''])).toMatchObject({ code: 0 });
    },
  );

  it('a first file names the schema that is beside it, for editors', async () => {
    write('settings.schema.json');
    await run(['init', '--server', service.url, '-f', 'setpoint.yaml']);
    const text = readFileSync(join(folder.path, 'setpoint.yaml'), 'utf8');
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./settings.schema.json');
  });
});
