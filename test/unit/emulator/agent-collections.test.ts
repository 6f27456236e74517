/** The collections of the embedded Agent Server beyond what was recorded of a real one: its store, and folders that are none. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openVault } from '../../../src/emulator/native/vault.ts';
import { send } from '../../contract/send.ts';
import { emulatorForTest, folderForTest } from './emulator.ts';

const KEY = 'contract-key';

/** One request, such as `POST /api/profiles/a`, with the status and the answer. */
async function ask(url: string, what: string, body?: unknown) {
  const [method = '', path = ''] = what.split(' ');
  const { status, text } = await send(url, {
    method,
    path,
    headers: {
      'Content-Type': 'application/json',
      'X-Session-API-Key': KEY,
      'X-Expose-Secrets': 'plaintext',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status, body: JSON.parse(text) as Readonly<Record<string, unknown>> };
}

async function started(data?: string) {
  const stored = data === undefined ? {} : { data };
  return emulatorForTest({ dialect: 'agent-server', apiKey: KEY, ...stored });
}

describe('the store file', () => {
  it('keeps the key of a profile that begins as an encrypted one does', async () => {
    const data = join(await folderForTest(), 'store.json');
    const key = 'gAAAA-only-looks-encrypted';
    const first = await started(data);
    const llm = { model: 'openai/gpt-5', api_key: key };
    await ask(first.url, 'POST /api/profiles/a', { llm, include_secrets: true });
    await first.close();
    const { url } = await started(data);
    const { body } = await ask(url, 'GET /api/profiles/a');
    expect(body).toMatchObject({ api_key_set: true, config: { api_key: key } });
  });

  it('keeps keys of profiles and of connections over a restart, and holds none in clear', async () => {
    const data = join(await folderForTest(), 'store.json');
    const first = await started(data);
    const shared = { display_name: 'team', api_key: 'conn-example-1' };
    const { body: made } = await ask(first.url, 'POST /api/llm/provider-connections', shared);
    const llm = { model: 'openai/gpt-5', provider_connection_id: made['id'] };
    await ask(first.url, 'POST /api/profiles/linked', { llm });
    const own = { model: 'openai/gpt-5', api_key: 'sk-example-1' };
    await ask(first.url, 'POST /api/profiles/own', { llm: own });
    await first.close();
    const text = await readFile(data, 'utf8');
    expect(text).not.toContain('conn-example-1');
    expect(text).not.toContain('sk-example-1');

    const second = await started(data);

    const linked = await ask(second.url, 'GET /api/profiles/linked');
    expect(linked.body).toMatchObject({ config: { api_key: 'conn-example-1' } });
    const kept = await ask(second.url, 'GET /api/profiles/own');
    expect(kept.body).toMatchObject({ config: { api_key: 'sk-example-1' } });
  });

  it('of an earlier version has its LLM profiles among the settings, and loses none', async () => {
    const data = join(await folderForTest(), 'store.json');
    const first = await started(data);
    const llm = { model: 'openai/gpt-5' };
    await ask(first.url, 'POST /api/profiles/old', { llm });
    await ask(first.url, 'PATCH /api/settings', { misc_settings_diff: {} });
    await first.close();
    const store = JSON.parse(await readFile(data, 'utf8')) as {
      readonly settings: { readonly record: object };
      readonly collections: { readonly llm_profiles: { readonly old: object } };
    };
    const profiles = { old: { ...store.collections.llm_profiles.old, api_key: sealed('sk-old') } };
    const record = { ...store.settings.record, llm_profiles: { profiles } };
    const before = { ...store, collections: {}, settings: { ...store.settings, record } };
    await writeFile(data, JSON.stringify(before));

    const second = await started(data);
    await ask(second.url, 'POST /api/profiles/new', { llm });

    const old = await ask(second.url, 'GET /api/profiles/old');
    expect(old.body).toMatchObject({ config: { model: 'openai/gpt-5', api_key: 'sk-old' } });
    expect((await ask(second.url, 'GET /api/profiles/new')).status).toBe(200);
  });

  it('with collections that are none is refused', async () => {
    const data = join(await folderForTest(), 'store.json');
    const own = { written_by: "setpoint's embedded service", format_version: 1, settings: null };
    await writeFile(data, JSON.stringify({ ...own, collections: [] }));
    await expect(started(data)).rejects.toThrow('its collections are not what the service writes');
  });
});

function sealed(text: string): string {
  return openVault(KEY).seal(text);
}

describe('a source of a skill', () => {
  const SKILL = '---\nname: hello\ndescription: "says: hello"\n---\nSay hello.\n';

  it('may be a folder in the one that is named, and none outside of it', async () => {
    const folder = await folderForTest();
    await mkdir(join(folder, 'all/hello'), { recursive: true });
    await writeFile(join(folder, 'all/hello/SKILL.md'), SKILL);
    const { url } = await started();
    const install = (source: string, repo_path: string) =>
      ask(url, 'POST /api/skills/install', { source, repo_path });

    expect((await install(join(folder, 'all'), '../all/hello/../../all')).status).toBe(422);
    expect((await install(join(folder, 'all/hello'), '..')).status).toBe(400);
    expect((await install(join(folder, 'all'), 'none')).status).toBe(400);
    expect((await install('github:example/skills', 'hello')).status).toBe(400);
    expect(await install(join(folder, 'all'), 'hello')).toMatchObject({
      status: 200,
      body: { name: 'hello', description: 'says: hello', repo_path: 'hello', enabled: true },
    });
  });

  it('has the name of its folder', async () => {
    const folder = await folderForTest();
    await mkdir(join(folder, 'other'));
    await writeFile(join(folder, 'other/SKILL.md'), SKILL);
    const { url } = await started();
    const source = join(folder, 'other');
    expect((await ask(url, 'POST /api/skills/install', { source })).status).toBe(422);
  });
});

describe('what a launch of an agent profile would come to', () => {
  it('shows no key of an LLM profile that a meta profile names', async () => {
    const { url } = await started();
    const llm = { model: 'openai/gpt-5', api_key: 'sk-example-1' };
    await ask(url, 'POST /api/profiles/one', { llm });
    await ask(url, 'POST /api/meta-profiles/router', { classifier_model: 'one' });
    const routed = { enable_classify_and_switch_llm_tool: true, meta_profile_ref: 'router' };
    const profile = { llm_profile_ref: 'one', ...routed };

    const { body } = await ask(url, 'POST /api/agent-profiles/mine/materialize', { profile });

    expect(body).toMatchObject({ valid: true });
    expect(JSON.stringify(body)).not.toContain('sk-example-1');
  });

  it('lacks a command of an agent of nobody known, and splits one as a shell does', async () => {
    const { url } = await started();
    const launch = (acp_command: string | null) =>
      ask(url, 'POST /api/agent-profiles/cc/materialize', {
        profile: { agent_kind: 'acp', acp_server: 'custom', acp_command },
      });
    expect((await launch(null)).body).toMatchObject({ valid: false, resolved_settings: null });
    expect((await launch('run "a b"')).body).toMatchObject({
      valid: true,
      resolved_settings: { acp_command: ['run', 'a b'] },
    });
  });
});

describe('a profile', () => {
  it('with a flag that is none, or asked for with a header that is none, is refused', async () => {
    const { url } = await started();
    const sent = { llm: { model: 'openai/gpt-5' }, include_secrets: 'perhaps' };
    expect((await ask(url, 'POST /api/profiles/one', sent)).status).toBe(422);
    const headers = { 'X-Session-API-Key': KEY, 'X-Expose-Secrets': 'perhaps' };
    expect((await send(url, { path: '/api/profiles/none', headers })).status).toBe(400);
  });
});
