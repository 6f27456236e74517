import { describe, expect, it, onTestFinished } from 'vitest';
import { writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmulator } from '../../../src/emulator/start.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

const ENV = { TOK: 'CANARY-9a1b2c3d4e' };

async function started() {
  const server = await startEmulator({ dialect: 'app-server' });
  onTestFinished(() => server.close());
  const file = (settings: string) => `version: 1\nserver: { url: ${server.url} }\n${settings}`;
  const folder = folderWith({ 'settings.yaml': file(SETTINGS) });
  onTestFinished(() => folder.remove());
  const run = (...args: string[]) => setpoint(args, { cwd: folder.path, env: ENV });
  const store = async (diff: unknown) => {
    const answer = await fetch(`${server.url}/api/v1/settings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ agent_settings_diff: diff }),
    });
    expect(answer.status).toBe(200);
  };
  return { run, store, file, path: (name: string) => join(folder.path, name) };
}

const SETTINGS = `settings:
  llm_model: openai/gpt-5
  agent_settings:
    llm:
      timeout: 60 # seconds
      aws_secret_access_key: \${env:TOK}
    tools:
      - name: TerminalTool
`;

describe('native values in the other commands', () => {
  it('are drift, and are pulled into their places', async () => {
    const { run, store, path } = await started();
    expect((await run('apply', '--yes')).code).toBe(0);
    await store({ llm: { timeout: 90 }, tools: [{ name: 'FileEditorTool', params: { a: 1 } }] });
    const drift = await run('drift');
    expect(drift.stdout).toContain('agent_settings.llm.timeout');
    expect(drift.code).toBe(2);
    const pulled = await run('pull');
    expect(pulled.stderr + pulled.stdout).not.toContain('CANARY');
    const text = readFileSync(path('settings.yaml'), 'utf8');
    expect(text).toContain('timeout: 90 # seconds');
    expect(text).toContain('FileEditorTool');
    expect(text).toContain('aws_secret_access_key: ${env:TOK}');
    expect((await run('plan', '--exit-code')).stdout).toContain('No changes.');
  });

  it('are adopted by their paths', async () => {
    const { run, store, path } = await started();
    expect((await run('apply', '--yes')).code).toBe(0);
    await store({ llm: { num_retries: 9, extra_headers: { 'X-Team': 'blue' } } });
    const adopted = await run('pull', '--adopt', 'agent_settings.llm.num_retries');
    expect(adopted.code, adopted.stderr).toBe(0);
    expect(readFileSync(path('settings.yaml'), 'utf8')).toContain('num_retries: 9');
  });

  it('are planned against a snapshot, and approved by a saved plan', async () => {
    const { run, file, path } = await started();
    expect((await run('apply', '--yes')).code).toBe(0);
    expect((await run('get', 'settings', '-o', 'json=snapshot.json')).code).toBe(0);
    expect(readFileSync(path('snapshot.json'), 'utf8')).not.toContain('CANARY');
    const same = await run('plan', '--snapshot', 'snapshot.json');
    expect(same.stdout).toContain('No changes.');
    writeFileSync(path('settings.yaml'), file(SETTINGS.replace('60', '75')));
    const against = await run('plan', '--snapshot', 'snapshot.json');
    expect(against.stdout).toContain('~ agent_settings.llm.timeout: 60 → 75');
    expect((await run('plan', '--out', 'plan.json')).code).toBe(0);
    const approved = await run('apply', 'plan.json');
    expect(approved.code, approved.stderr).toBe(0);
    expect(approved.stdout).toContain('agent_settings.llm.timeout: verified');
    writeFileSync(path('base.yaml'), file(SETTINGS.replace('60', '75')));
    writeFileSync(path('settings.yaml'), file(SETTINGS.replace('60', '80')));
    const classed = await run('plan', '--base', 'base.yaml', '-o', 'json');
    expect(JSON.parse(classed.stdout)).toMatchObject({
      environments: [
        { changes: [{ path: ['agent_settings', 'llm', 'timeout'], class: 'pending' }] },
      ],
    });
  });

  it('are in a first file that init writes', async () => {
    const { run, path } = await started();
    expect((await run('apply', '--yes')).code).toBe(0);
    const url = /url: (\S+)/.exec(readFileSync(path('settings.yaml'), 'utf8'))?.[1] ?? '';
    const made = await run('init', '--server', url, '-f', 'first.yaml');
    expect(made.code, made.stderr).toBe(0);
    const text = readFileSync(path('first.yaml'), 'utf8');
    expect(text).toContain('timeout: 60');
    expect(text).not.toContain('CANARY');
    const planned = await run('plan', '-f', 'first.yaml');
    expect(planned.stdout).toContain('No changes.');
  });
});
