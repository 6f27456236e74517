import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { plan, pull, startEmulator, apply, type Emulator } from '../../../src/index.ts';
import { ERRORS } from '../../../src/reconciler/model/error.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

let service: Emulator;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  service = await startEmulator();
  folder = folderWith({});
});
afterEach(async () => {
  folder.remove();
  await service.close();
});

it('file-changed: a file that another program edits during a pull stays as that program wrote it', async () => {
  const file = join(folder.path, 'settings.yaml');
  const text = `version: 1\nserver: { url: "${service.url}" }\nsettings: { language: en }\n`;
  writeFileSync(file, text);
  await apply({ text: text.replace('en }', 'fr }'), env: {} });
  const edited = `${text}# by another program\n`;
  const onEdit = async (): Promise<void> => writeFileSync(file, edited);
  await expect(pull({ file, env: {}, force: true, onEdit })).rejects.toMatchObject({
    code: 'file-changed',
    exitCode: 3,
  });
  expect(readFileSync(file, 'utf8')).toBe(edited);
});

it('not-allowed: a pipeline asks no program for a secret that is not listed', async () => {
  const { environments } = await plan({
    text: 'version: 1\nserver: { url: "https://agents.example.com" }\nsettings: { llm_api_key: "${secret:vault/llm}" }\n',
    env: {
      CI: 'true',
      SETPOINT_ALLOWED_ORIGINS: 'https://agents.example.com',
      SETPOINT_ALLOWED_SECRETS: 'vault/other',
      SETPOINT_SECRET_COMMANDS: JSON.stringify({ vault: ['false'] }),
    },
  });
  expect(environments[0]?.error).toMatchObject({ code: 'not-allowed' });
});

it('key-not-used: a plan of another server says that the key of the file stays', async () => {
  const { environments } = await plan({
    text: 'version: 1\nserver: { url: "https://agents.example.com", api_key: "${env:KEY}" }\nsettings: { language: en }\n',
    server: service.url,
    env: { KEY: 'private' },
  });
  const codes = environments[0]?.warnings.map(({ code }) => code);
  expect(codes).toContain('key-not-used');
});

it('report-incomplete: a report without a document that was named ends with 1', async () => {
  const text = `version: 1\nserver: { url: "${service.url}" }\nsettings: { language: en }\n`;
  const document = await plan({ text, env: {} });
  writeFileSync(join(folder.path, 'plan.json'), JSON.stringify(document));
  const { code, stderr } = await setpoint(['report', 'plan.json', 'missing.json'], {
    cwd: folder.path,
  });
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The report is incomplete.'),
  });
});

it('check-failed: a plan that tries a model without success ends with its exit code', async () => {
  const agent = await startEmulator({ dialect: 'agent-server', models: [] });
  try {
    const text = `version: 1\nserver: { url: "${agent.url}" }\nsettings: { llm_model: openai/none, llm_api_key: "\${env:LLM}" }\n`;
    writeFileSync(join(folder.path, 'settings.yaml'), text);
    const { code, stdout } = await setpoint(['plan', '--check'], {
      cwd: folder.path,
      env: { LLM: 'private' },
    });
    expect(stdout).toContain('does not work');
    expect(code).toBe(ERRORS['check-failed'].exit);
  } finally {
    await agent.close();
  }
});

it('may-be-renamed: a plan says that an item whose key was edited may be one that stays', async () => {
  const agent = await startEmulator({ dialect: 'agent-server' });
  try {
    const head = `version: 1\nserver: { url: "${agent.url}" }\n`;
    const withProfile = (name: string): string =>
      `${head}llm_profiles:\n  ${name}: { model: openai/gpt-5.6, base_url: https://llm.example.com/v1 }\n`;
    const base = { text: withProfile('cheap') };
    await apply({ ...base, env: {} });
    const { environments } = await plan({ text: withProfile('cheaper'), env: {}, base });
    expect(environments[0]?.warnings).toContainEqual(
      expect.objectContaining({ code: 'may-be-renamed', path: ['llm_profiles', 'cheaper'] }),
    );
  } finally {
    await agent.close();
  }
});
