import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { startEmulator, type Emulator } from '../../../src/emulator/start.ts';
import { resolveSettings } from '../../../src/reconciler/desired/resolve.ts';
import type { Target } from '../../../src/reconciler/desired/target.ts';
import { readSettingsTarget } from '../../../src/reconciler/kubernetes/read-target.ts';
import { clusterSource } from '../../fixture/cluster-source.ts';
import type { SettingsTarget } from '../../../src/reconciler/kubernetes/settings-target.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';

const ENV = { SETPOINT_API_KEY: 'a-key', LLM: 'cAnArY-llm', JIRA: 'cAnArY-jira' };

function folderOf(files: Record<string, string>): string {
  const folder = folderWith(files);
  onTestFinished(() => folder.remove());
  return folder.path;
}

/** A service that has what a file has put there. */
async function serviceWith(blocks: object): Promise<Emulator> {
  const service = await startEmulator({ apiKey: 'a-key', dialect: 'agent-server' });
  onTestFinished(() => service.close());
  const cwd = folderOf({ 'settings.yaml': fileFor(service, blocks) });
  const { code, stderr } = await setpoint(['apply', '--yes'], { cwd, env: ENV });
  expect([code, stderr]).toEqual([0, '']);
  return service;
}

const fileFor = ({ url }: Emulator, blocks: object): string =>
  JSON.stringify({ version: 1, server: { url, api_key: '${env:SETPOINT_API_KEY}' }, ...blocks });

const BLOCKS = {
  settings: { language: 'en', llm_model: 'openai/gpt-5', llm_api_key: '${env:LLM}' },
  secrets: { JIRA: '${env:JIRA}' },
};

function targetIn(stdout: string): SettingsTarget {
  const all = parseAllDocuments(stdout).map((one) => one.toJS() as { readonly kind: string });
  return all.find(({ kind }) => kind === 'SettingsTarget') as unknown as SettingsTarget;
}

/** The values that an object declares, those of Secrets by the names of their keys. */
function declared(object: SettingsTarget): unknown {
  const { target, diagnostics } = readSettingsTarget(object);
  expect(diagnostics).toEqual([]);
  const source = clusterSource(target as Target, ({ name, key }) => ({ text: `${name}/${key}` }));
  const { fields, items } = resolveSettings(target as Target, source);
  return {
    fields: Object.fromEntries(
      fields.map(({ field, value }) => [
        field.name,
        value instanceof Secret ? value.reveal() : value,
      ]),
    ),
    items: [...items.keys()],
  };
}

describe('pull -o kubernetes', () => {
  it('prints all that a service has, without a settings file', async () => {
    const service = await serviceWith(BLOCKS);
    const cwd = folderOf({});
    const args = ['pull', '--server', service.url, '-o', 'kubernetes', '--secret', 'agents'];
    const { code, stdout, stderr } = await setpoint(args, { cwd, env: ENV });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toContain('cAnArY');
    const object = targetIn(stdout);
    expect(object.spec.server).toEqual({
      url: service.url,
      apiKeySecretRef: { name: 'agents', key: 'SETPOINT_API_KEY' },
    });
    expect(declared(object)).toEqual({
      fields: { language: 'en', llm_model: 'openai/gpt-5', llm_api_key: 'agents/LLM_API_KEY' },
      items: ['secrets'],
    });
  });

  it('prints what the file declares after the pull, with its own references, and writes the file', async () => {
    const service = await serviceWith(BLOCKS);
    const settings = { ...BLOCKS.settings, language: 'fr' };
    const text = fileFor(service, { ...BLOCKS, settings });
    const cwd = folderOf({ 'settings.yaml': text });
    const args = ['pull', '-o', 'kubernetes', '--secret', 'agents', '--namespace', 'agents'];
    const check = await setpoint([...args, '--check'], { cwd, env: ENV });
    expect(check.code).toBe(2);
    expect(readFileSync(join(cwd, 'settings.yaml'), 'utf8')).toBe(text);
    const { code, stdout } = await setpoint([...args, '--force'], { cwd, env: ENV });
    expect([code, stdout]).toEqual([0, check.stdout]);
    expect(declared(targetIn(stdout))).toMatchObject({
      fields: { language: 'en', llm_api_key: 'agents/LLM' },
    });
    expect(readFileSync(join(cwd, 'settings.yaml'), 'utf8')).toBe(text.replace('"fr"', '"en"'));
    const file = join(cwd, 'settings.yaml');
    const { environments } = await plan({ file, env: ENV });
    expect(environments.map(({ changes }) => changes)).toEqual([[]]);
  });

  it('refuses what no object can hold, and prints nothing', async () => {
    const service = await serviceWith(BLOCKS);
    const cwd = folderOf({ 'settings.yaml': fileFor(service, BLOCKS) });
    const { code, stdout, stderr } = await setpoint(['pull', '-o', 'kubernetes'], {
      cwd,
      env: ENV,
    });
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('No Secret is named for this reference. It is the first of 3.');
  });
});
