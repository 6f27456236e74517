import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { dedent } from '../../fixture/dedent.ts';

const FILE = dedent`
  version: 1
  server: { url: https://agents.example.com, api_key: "\${env:KEY}" }
  settings: { language: "yes", llm_api_key: "\${env:LLM_API_KEY}" }
`;

const folders: { remove(): void }[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

function folderOf(files: Record<string, string>): string {
  const folder = folderWith(files);
  folders.push(folder);
  return folder.path;
}

interface Kinds {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

const objectsIn = (stdout: string): readonly Kinds[] =>
  parseAllDocuments(stdout).map((one) => one.toJS() as Kinds);

describe('setpoint render', () => {
  it('prints objects in the order in which they are applied, of the environments that are chosen', async () => {
    const cwd = folderOf({
      'settings.yaml': dedent`
        version: 1
        labels: { ring: "1" }
        settings: { llm_api_key: "\${env:LLM_API_KEY}" }
        environments:
          staging: { labels: { ring: "0" }, server: { url: https://staging.example.com } }
          production: { server: { url: https://agents.example.com } }
      `,
    });
    const args = ['render', '--secret', 'agents', '--namespace', 'agents'];
    const all = await setpoint(args, { cwd });
    expect([all.code, all.stderr]).toEqual([0, '']);
    const objects = objectsIn(all.stdout);
    expect(objects.map(({ kind, metadata: { name } }) => `${kind} ${name}`)).toEqual([
      'Role setpoint-secrets',
      'SettingsTarget staging',
      'SettingsTarget production',
    ]);
    expect(objects.map(({ metadata }) => metadata.namespace)).toEqual(
      Array.from({ length: 3 }, () => 'agents'),
    );
    for (const chosen of [
      ['-e', 'staging'],
      ['-l', 'ring=0'],
    ]) {
      const { stdout } = await setpoint([...args, ...chosen], { cwd });
      expect(objectsIn(stdout).map(({ metadata }) => metadata.name)).toEqual([
        'setpoint-secrets',
        'staging',
      ]);
    }
  });

  it('needs no variable, no service and no Secret, and prints none of their values', async () => {
    const cwd = folderOf({ 'settings.yaml': FILE });
    const env = { KEY: 'cAnArY-1', LLM_API_KEY: 'cAnArY-2' };
    const { code, stdout } = await setpoint(['render', '--secret', 'agents'], { cwd, env });
    expect([code, stdout.includes('cAnArY')]).toEqual([0, false]);
    expect(await setpoint(['render', '--secret', 'agents'], { cwd })).toEqual({
      code: 0,
      stdout,
      stderr: '',
    });
  });

  it('writes what readers of YAML 1.1 read as text, too', async () => {
    const cwd = folderOf({ 'settings.yaml': FILE });
    const { stdout } = await setpoint(['render', '--secret', 'agents'], { cwd });
    expect(stdout).toContain('language: "yes"');
  });

  it('prints the definitions alone, without a file', async () => {
    const { code, stdout } = await setpoint(['render', 'crd'], { cwd: folderOf({}) });
    expect(code).toBe(0);
    expect(objectsIn(stdout)).toMatchObject([
      { kind: 'CustomResourceDefinition' },
      { kind: 'CustomResourceDefinition' },
      { kind: 'CustomResourceDefinition' },
    ]);
  });

  it('goes to files, and as JSON to stdout', async () => {
    const cwd = folderOf({ 'settings.yaml': FILE });
    const args = ['render', '--secret', 'agents', '-o', 'kubernetes=all.yaml', '-o', 'json'];
    const { code, stdout } = await setpoint(args, { cwd });
    expect(code).toBe(0);
    const list = JSON.parse(stdout) as { readonly kind: string; readonly items: unknown };
    expect(list.kind).toBe('List');
    expect(objectsIn(readFileSync(join(cwd, 'all.yaml'), 'utf8'))).toEqual(list.items);
    const alone = await setpoint(args.slice(0, 5), { cwd });
    expect(alone).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('names its Role for itself, and Secrets by environment', async () => {
    const cwd = folderOf({
      'settings.yaml': dedent`
        version: 1
        settings: { llm_api_key: "\${env:LLM_API_KEY}", search_api_key: "\${env:SEARCH}" }
        kubernetes: { secret: shared, references: { "env:SEARCH": { key: search } } }
        environments:
          a: { server: { url: https://a.example.com } }
          b:
            server: { url: https://b.example.com }
            kubernetes: { namespace: team-b, secret: own, role: readers }
      `,
    });
    const { stdout } = await setpoint(['render'], { cwd });
    const [shared, own, a, b] = objectsIn(stdout);
    expect([shared, own]).toMatchObject([
      { metadata: { name: 'setpoint-secrets' }, rules: [{ resourceNames: ['shared'] }] },
      { metadata: { name: 'readers', namespace: 'team-b' }, rules: [{ resourceNames: ['own'] }] },
    ]);
    const refs = (one: Kinds | undefined) => one?.spec['valuesFrom'];
    expect(refs(a)).toMatchObject([
      { secretKeyRef: { name: 'shared', key: 'LLM_API_KEY' } },
      { secretKeyRef: { name: 'shared', key: 'search' } },
    ]);
    expect(refs(b)).toMatchObject([
      { secretKeyRef: { name: 'own', key: 'LLM_API_KEY' } },
      { secretKeyRef: { name: 'own', key: 'search' } },
    ]);
  });

  it.each<[readonly string[], string]>([
    [['render', 'all'], 'Only crd and krm can be named.'],
    [['render', '-o', 'text'], 'Objects have no text format.'],
    [['render', '-o', 'yaml'], '-o takes a format.'],
    [['render', '-f', 'none.yaml'], 'none.yaml does not exist.'],
    [['render', 'krm', '-f', 'settings.yaml'], 'render krm takes the settings from stdin'],
    [['render', '--namespace', 'Agents'], '--namespace takes a name of Kubernetes'],
    [['render', '--secret', 'a_b'], '--secret takes a name of Kubernetes'],
    [['render', '-e', 'none'], 'No environment named "none".'],
  ])('%j is refused', async (args, message) => {
    const cwd = folderOf({ 'settings.yaml': FILE });
    const { code, stdout, stderr } = await setpoint(args, { cwd });
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain(message);
  });

  it('says which file could not be written', async () => {
    const cwd = folderOf({ 'settings.yaml': FILE });
    const args = ['render', '--secret', 'agents', '-o', 'kubernetes=none/all.yaml'];
    const { code, stdout, stderr } = await setpoint(args, { cwd });
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('none/all.yaml');
  });
});

describe('setpoint render krm', () => {
  const list = (config: object, items: readonly object[] = []): string =>
    JSON.stringify({
      apiVersion: 'config.kubernetes.io/v1',
      kind: 'ResourceList',
      functionConfig: config,
      items,
    });
  const configMap = (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', data });
  const run = (stdin: string, ...args: readonly string[]) =>
    setpoint(['render', 'krm', ...args], { cwd: folderOf({}), stdin });
  const itemsIn = (stdout: string): readonly Kinds[] =>
    (parse(stdout) as { readonly items: readonly Kinds[] }).items;

  it('adds objects to the items of a ResourceList', async () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' } };
    const data = { 'settings.yaml': FILE, secret: 'agents', namespace: 'agents' };
    const { code, stdout, stderr } = await run(list(configMap(data), [other]));
    expect([code, stderr]).toEqual([0, '']);
    const items = itemsIn(stdout);
    expect(items[0]).toEqual(other);
    expect(items.slice(1).map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
      ['Role', 'agents'],
      ['SettingsTarget', 'agents'],
    ]);
    // Run again over its own output, it changes nothing.
    expect((await run(stdout)).stdout).toBe(stdout);
  });

  it.each([
    [{ secret: 'Bad Name' }, 'functionConfig: secret takes a name of Kubernetes.'],
    [{ namespace: 'up_per' }, 'functionConfig: namespace takes a name of Kubernetes.'],
    [{ environments: 'nowhere' }, 'No environment named "nowhere" (from the functionConfig).'],
  ])('refuses %j', async (wrong, message) => {
    const data = { 'settings.yaml': FILE, secret: 'agents', ...wrong };
    const { code, stdout, stderr } = await run(list(configMap(data)));
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain(message);
  });

  it('keeps comments, and takes the file inline', async () => {
    const input = dedent`
      apiVersion: config.kubernetes.io/v1
      kind: ResourceList
      functionConfig: # a generator
        apiVersion: setpoint.dev/v1alpha1
        kind: Render
        spec:
          secret: agents
          environments: [production]
          crd: true
          file:
            version: 1
            settings: { llm_api_key: "\${env:LLM_API_KEY}" }
            environments:
              staging: { server: { url: https://staging.example.com } }
              production: { server: { url: https://agents.example.com } }
    `;
    const { code, stdout } = await run(input);
    expect(code).toBe(0);
    expect(stdout).toContain('# a generator');
    expect(itemsIn(stdout).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'CustomResourceDefinition settingstargets.setpoint.dev',
      'CustomResourceDefinition settingspolicies.setpoint.dev',
      'CustomResourceDefinition settingsapprovals.setpoint.dev',
      'Role setpoint-secrets',
      'SettingsTarget production',
    ]);
  });

  it('hands back what is wrong as results, with exit 3', async () => {
    const data = { 'settings.yaml': FILE.replace('language', 'langauge') };
    const { code, stdout, stderr } = await run(list(configMap(data)), '--secret', 'agents');
    expect(code).toBe(3);
    expect(stderr).toContain('Unknown key langauge in settings.');
    expect(parse(stdout)).toMatchObject({
      items: [],
      results: [
        {
          message: 'settings.yaml:3: Unknown key langauge in settings. Did you mean language?',
          severity: 'error',
        },
      ],
    });
    const file = parse(data['settings.yaml']) as object;
    const inline = await run(list({ kind: 'Render', spec: { file } }), '--secret', 'agents');
    expect([inline.code, parse(inline.stdout)]).toMatchObject([
      3,
      {
        results: [
          {
            message: 'Unknown key langauge in settings. Did you mean language?',
            field: { path: 'spec.file.settings.langauge' },
          },
        ],
      },
    ]);
  });

  it.each<[string, string]>([
    ['', 'stdin contains no ResourceList.'],
    ['a: [', 'stdin contains no ResourceList.'],
    ['kind: List', 'stdin contains no ResourceList.'],
    ['kind: ResourceList', 'The ResourceList has no functionConfig.'],
    [list(configMap({})), 'The functionConfig has no settings file.'],
    [list({ kind: 'Render', spec: { file: 5 } }), 'The functionConfig has no settings file.'],
  ])('%j is refused', async (input, message) => {
    const { code, stdout, stderr } = await run(input);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain(message);
  });
});
