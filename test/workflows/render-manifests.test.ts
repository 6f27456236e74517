import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { folderWith } from '../fixture/command.ts';
import { readText } from './read-text.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = 'examples/kubernetes/render';

interface Kinds {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** A folder with `setpoint` in `bin`, the built one. */
function machine(files: Record<string, string>): { readonly path: string; readonly PATH: string } {
  const built = join(ROOT, 'dist/bin/setpoint.cjs');
  const script = `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(built)} "$@"\n`;
  const folder = folderWith({ ...files, 'bin/setpoint': script });
  onTestFinished(() => folder.remove());
  chmodSync(join(folder.path, 'bin/setpoint'), 0o755);
  return { path: folder.path, PATH: `${join(folder.path, 'bin')}:${process.env['PATH'] ?? ''}` };
}

describe('the generator of kustomize', () => {
  const generator = parse(readText(`${FOLDER}/generator.yml`)) as {
    readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  };

  it('is run as kustomize runs it, and makes the environments that it names', () => {
    const { path, PATH } = machine({});
    const annotation = generator.metadata.annotations['config.kubernetes.io/function'] ?? '';
    const { exec } = parse(annotation) as { readonly exec: { readonly path: string } };
    const program = join(path, exec.path);
    copyFileSync(join(ROOT, FOLDER, exec.path), program);
    const input = JSON.stringify({
      apiVersion: 'config.kubernetes.io/v1',
      kind: 'ResourceList',
      functionConfig: generator,
      items: [],
    });
    const { status, stdout, stderr } = spawnSync(program, {
      cwd: path,
      env: { PATH },
      input,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    const { items } = parse(stdout) as { readonly items: readonly Kinds[] };
    expect(items.map(({ kind, metadata: { name } }) => `${kind} ${name}`)).toEqual([
      'Role setpoint-secrets',
      'SettingsTarget production',
    ]);
  });

  const kustomize = process.env['SETPOINT_KUSTOMIZE'];

  it.skipIf(kustomize === undefined)('is run by kustomize itself (SETPOINT_KUSTOMIZE)', () => {
    const { path, PATH } = machine({});
    for (const name of ['generator.yml', 'kustomization.yml', 'setpoint-krm'])
      copyFileSync(join(ROOT, FOLDER, name), join(path, name));
    const args = ['build', '--enable-alpha-plugins', '--enable-exec', '.'];
    const ended = spawnSync(kustomize ?? '', args, { cwd: path, env: { PATH }, encoding: 'utf8' });
    expect([ended.status, ended.stderr]).toEqual([0, '']);
    const objects = parseAllDocuments(ended.stdout).map((one) => one.toJS() as Kinds);
    expect(objects.map(({ kind, metadata: { name } }) => `${kind} ${name}`)).toEqual([
      'Role setpoint-secrets',
      'SettingsTarget production',
    ]);
  });

  it('is the generator of the kustomization', () => {
    expect(parse(readText(`${FOLDER}/kustomization.yml`))).toMatchObject({
      generators: ['generator.yml'],
    });
  });
});

describe('the plugin of Argo CD', () => {
  const { spec } = parse(readText(`${FOLDER}/plugin.yml`)) as {
    readonly spec: {
      readonly discover: { readonly fileName: string };
      readonly generate: { readonly command: readonly string[]; readonly args: readonly string[] };
    };
  };
  const [program = '', ...rest] = [...spec.generate.command, ...spec.generate.args];

  it('prints objects of the file that it looks for, and nothing else', () => {
    const { path, PATH } = machine({});
    const file = readText('examples/kubernetes/settings.yaml');
    writeFileSync(join(path, spec.discover.fileName), `${file}kubernetes: { secret: agents }\n`);
    const ended = spawnSync(program, rest, { cwd: path, env: { PATH }, encoding: 'utf8' });
    expect([ended.status, ended.stderr]).toEqual([0, '']);
    const objects = parseAllDocuments(ended.stdout).map((one) => one.toJS() as Kinds);
    expect(objects.map(({ kind }) => kind)).toEqual(['Role', 'SettingsTarget']);
  });

  it('fails with the place of what is wrong, which Argo CD shows', () => {
    const { path, PATH } = machine({ 'settings.yaml': 'version: 1\nsettings: { langauge: en }\n' });
    const ended = spawnSync(program, rest, { cwd: path, env: { PATH }, encoding: 'utf8' });
    expect([ended.status, ended.stdout]).toEqual([3, '']);
    expect(ended.stderr).toContain('settings.yaml:2:13 error unknown-key');
  });
});
