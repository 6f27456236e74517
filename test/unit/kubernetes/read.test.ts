import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { resolveServer } from '../../../src/reconciler/desired/resolve.ts';
import type { Target } from '../../../src/reconciler/desired/target.ts';
import { renderObjects } from '../../../src/reconciler/kubernetes/objects.ts';
import { readSettingsTarget } from '../../../src/reconciler/kubernetes/read-target.ts';
import { clusterSource } from '../../fixture/cluster-source.ts';
import type {
  TargetInput,
  SettingsTarget,
} from '../../../src/reconciler/kubernetes/settings-target.ts';
import { OPEN_LOCK } from '../../../src/reconciler/model/native-schema.ts';
import { dedent } from '../../fixture/dedent.ts';
import { read, settings } from '../desired/reading.ts';

const object = (spec: string): SettingsTarget => ({
  metadata: { name: 'production', namespace: 'agents' },
  spec: {
    server: { url: 'https://agents.example.com' },
    mode: 'Observe',
    ...(parse(spec) as object),
  },
});

const sourceOf = (target: Target | null) =>
  clusterSource(target ?? {}, ({ name, key }) =>
    key === 'gone' ? { problem: 'no such key' } : { text: `${name}/${key}` },
  );

/** The settings that an object declares, what came from a Secret with its reference. */
function declared(spec: string, given?: TargetInput): unknown {
  const { target, diagnostics } = readSettingsTarget(object(spec), given);
  expect(diagnostics).toEqual([]);
  return settings(target as Target, sourceOf(target)).fields;
}

/** The codes of what is wrong with an object, with the paths in it. */
function problems(spec: string, given?: TargetInput): readonly string[] {
  const { target, diagnostics } = readSettingsTarget(object(spec), given);
  expect(target).toBe(null);
  return diagnostics.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`);
}

const from = (name: string, key: string) => ({
  secret: `${name}/${key}`,
  ref: `Secret ${name}, key ${key}`,
});

describe('a SettingsTarget', () => {
  it.each(['caFile', 'ca_file', 'apiKey', 'api_key', 'toString'])(
    'has no %s of a server, whatever definition an API server has',
    (name) => {
      const found = problems(`server: { url: https://a.example, ${name}: /etc/passwd }`);
      expect(found).toEqual([expect.stringMatching(`^unknown-key server.${name}: `)]);
    },
  );

  it('declares what settings.yaml would', () => {
    expect(
      declared(`
        settings: { language: en, max_iterations: 100 }
        valuesFrom:
          - { path: settings.llm_api_key, secretKeyRef: { name: llm, key: key } }
          - { path: settings.enable_sound_notifications, secretKeyRef: { name: llm, key: gone } }
        clear: [settings.llm_base_url]
      `),
    ).toMatchObject({
      language: 'en',
      max_iterations: 100,
      llm_api_key: from('llm', 'key'),
      llm_base_url: null,
    });
  });

  it('finds an entry of a list by what identifies it, and another by its position', () => {
    expect(
      declared(`
        settings:
          mcp_config:
            sse_servers: [{ url: https://a.example.com }, { url: https://b.example.com }]
            stdio_servers: [{ name: files, command: npx, args: [-y, (valuesFrom)] }]
        valuesFrom:
          - path: settings.mcp_config.sse_servers[https://b.example.com].api_key
            secretKeyRef: { name: b, key: key }
          - path: settings.mcp_config.stdio_servers[files].args[1]
            secretKeyRef: { name: files, key: folder }
      `),
    ).toMatchObject({
      mcp_config: {
        sse_servers: [
          { url: 'https://a.example.com' },
          { url: 'https://b.example.com', api_key: from('b', 'key') },
        ],
        stdio_servers: [{ args: ['-y', from('files', 'folder')] }],
      },
    });
  });

  const OPTIONAL = `
    settings: { language: en }
    valuesFrom:
      - { path: settings.language, secretKeyRef: { name: agents, key: lang, optional: true } }
  `;

  it('has a value of its own where an optional key is not there', () => {
    expect(declared(OPTIONAL, { hasKey: () => false })).toEqual({ language: 'en' });
    expect(declared(OPTIONAL, { hasKey: () => true })).toEqual({
      language: from('agents', 'lang'),
    });
  });

  it('names the keys that are read, those of the server among them', () => {
    const { secrets, target } = readSettingsTarget(
      object(`
        server:
          url: https://agents.example.com
          apiKeySecretRef: { name: agents, key: api-key }
          headers: [{ name: X-Team, secretKeyRef: { name: proxy, key: team } }]
          compareSecrets: true
        settings: {}
        valuesFrom: [{ path: settings.llm_api_key, secretKeyRef: { name: llm, key: key } }]
      `),
    );
    expect(secrets).toEqual([
      { name: 'llm', key: 'key' },
      { name: 'agents', key: 'api-key' },
      { name: 'proxy', key: 'team' },
    ]);
    const found = resolveServer(target as Target, sourceOf(target));
    if (!('server' in found)) throw new Error('no server');
    expect(found.server.apiKey?.reveal()).toBe('agents/api-key');
    expect(found.server.headers.get('X-Team')?.reveal()).toBe('proxy/team');
    expect(found.server.compareSecrets).toBe(true);
  });

  it('has members of later servers under native', () => {
    const spec = `
      settings: { agent_settings: { llm: { model: m } } }
      native: { agent_settings: { llm: { novelty: 5 } } }
    `;
    expect(problems(spec)).toEqual([
      expect.stringMatching(/^unknown-key settings\.agent_settings\.llm\.novelty: /),
    ]);
    expect(declared(spec, { lock: OPEN_LOCK })).toMatchObject({
      'agent_settings.llm.novelty': 5,
    });
  });

  it.each<[string, string, RegExp]>([
    [
      'a reference',
      'settings: { language: "${env:LANGUAGE}" }',
      /^bad-reference settings\.language: References are not resolved in a SettingsTarget/,
    ],
    [
      'a reference under native',
      'native: { agent_settings: { llm: { novelty: "${env:X}" } } }',
      /^bad-reference native\.agent_settings\.llm\.novelty/,
    ],
    [
      'a secret that is written out',
      'settings: { llm_api_key: sk-1 }',
      /^literal-secret settings\.llm_api_key/,
    ],
    ['an unknown field', 'settings: { langauge: en }', /^unknown-key settings\.langauge/],
    [
      'a path to nothing',
      'clear: [setting.language]',
      /^unknown-key valuesFrom: The path setting\.language leads nowhere/,
    ],
    [
      'a path to an entry that is not there',
      'clear: ["settings.mcp_config.sse_servers[x].api_key"]\nsettings: { mcp_config: { sse_servers: [] } }',
      /^unknown-key/,
    ],
    [
      'a path through a value',
      'clear: [settings.language.code]\nsettings: { language: en }',
      /^unknown-key/,
    ],
    ['a path in another form', 'clear: ["settings..language"]', /^unknown-key/],
    ['a guard of another name', 'settings: {}\nguards: { maxChange: 1 }', /^unknown-key guards/],
  ])('is refused with %s', (_, spec, message) => {
    expect(problems(spec)).toEqual([expect.stringMatching(message)]);
  });

  it.each([
    ['{ path: settings.llm_api_key, secretKeyRef: { name: a/b, key: c } }'],
    ['{ path: settings.llm_api_key, secretKeyRef: { name: a, key: "b}env:HOME" } }'],
    ['{ path: settings.llm_api_key, secretKeyRef: { name: a, key: b/c } }'],
    ['{ path: settings.llm_api_key, secretKeyRef: { name: a, key: b..c } }'],
    ['{ path: settings.llm_api_key, secretKeyRef: { name: a } }'],
    ['{ path: settings.llm_api_key }'],
    ['{ secretKeyRef: { name: a, key: b } }'],
  ])('is refused with a key that no Secret has: %s', (entry) => {
    expect(problems(`valuesFrom: [${entry}]`)).toEqual([
      expect.stringMatching(/^bad-value valuesFrom\.0: Not a valid key of a Secret/),
    ]);
  });

  it('is refused with a key of the server, or of a header, that no Secret has', () => {
    const server = `
      settings: {}
      server:
        url: https://agents.example.com
        apiKeySecretRef: { name: A, key: b }
        headers: [{ name: X-A, secretKeyRef: { name: a, key: b } }, { name: X-B }]
    `;
    expect(problems(server)).toEqual([
      expect.stringMatching(/^bad-value server\.apiKeySecretRef: /),
      expect.stringMatching(/^bad-value server\.headers\.1: /),
    ]);
  });

  it('takes a brace after a dollar if it is written as in settings.yaml', () => {
    expect(declared('settings: { git_user_name: "$${x}" }')).toEqual({ git_user_name: '${x}' });
  });

  it('has mode, interval, windows and guards as a file has them', () => {
    const { target } = readSettingsTarget(
      object(`
        mode: Apply
        interval: 10m
        watch: { maxHealsPerHour: 2, windows: ["08:00-18:00"] }
        guards: { maxChanges: 5, overwriteDrift: true }
        settings: {}
      `),
    );
    const { objects } = renderObjects([target as Target], {});
    expect(objects[0]).toMatchObject({
      metadata: { name: 'production' },
      spec: {
        mode: 'Apply',
        interval: '10m',
        watch: { maxHealsPerHour: 2, windows: ['08:00-18:00'] },
        guards: { maxChanges: 5, overwriteDrift: true },
      },
    });
  });
});

describe('a SettingsTarget that names a ConfigMap', () => {
  const FROM = 'settingsFrom: { configMapKeyRef: { name: settings, key: settings.yaml } }';
  const FILE = dedent`
    version: 1
    settings:
      language: en
      git_user_name: $\${USER}
      search_api_key: null
    guards: { max_changes: 10, protected: true }
  `;

  it('declares what the file in it does, as data', () => {
    expect(declared(FROM, { settings: FILE })).toMatchObject({
      language: 'en',
      git_user_name: '${USER}',
      search_api_key: null,
    });
  });

  it('adds values and guards of its own', () => {
    const more = `
      ${FROM}
      valuesFrom: [{ path: settings.sandbox_api_key, secretKeyRef: { name: a, key: b } }]
      guards: { maxChanges: 3 }
    `;
    expect(declared(more, { settings: FILE })).toMatchObject({
      sandbox_api_key: from('a', 'b'),
      language: 'en',
    });
    const { target } = readSettingsTarget(object(more), { settings: FILE });
    const { objects } = renderObjects([target as Target], {});
    expect(objects.at(-1)).toMatchObject({ spec: { guards: { maxChanges: 3, protected: true } } });
  });

  it('takes the environment that it names, or that of its own name', () => {
    const file = dedent`
      version: 1
      environments:
        staging: { settings: { language: fr } }
        production: { settings: { language: en } }
    `;
    expect(declared(FROM, { settings: file })).toEqual({ language: 'en' });
    const named = FROM.replace(' } }', ' }, environment: staging }');
    expect(declared(named, { settings: file })).toEqual({ language: 'fr' });
    const other = FROM.replace(' } }', ' }, environment: test }');
    expect(problems(other, { settings: file })).toEqual([
      'unknown-name settingsFrom.environment: The file has no environment test.',
    ]);
    const without = file.replace('production', 'canary');
    expect(problems(FROM, { settings: without })).toEqual([
      expect.stringMatching(/^unknown-name .*several environments/),
    ]);
  });

  it.each<[string, string | null, RegExp]>([
    ['that is not there', null, /^unreadable settingsFrom: No such ConfigMap/],
    [
      'with a problem',
      'version: 1\nsettings: { langauge: en }\n',
      /^unknown-key settings\.langauge/,
    ],
    [
      'that extends another',
      'version: 1\nextends: base.yaml\n',
      /^unreadable extends: .*cannot extend/,
    ],
    [
      'for another server',
      'version: 1\nserver: { url: https://other.example.com }\n',
      /^declared-twice server\.url: The file names another server/,
    ],
    [
      'with a reference, although the file places it',
      'version: 1\nsettings: { llm_api_key: "${env:KEY}" }\nkubernetes: { secret: agents }\n',
      /^bad-reference settings\.llm_api_key: References are not resolved in a ConfigMap/,
    ],
  ])('is refused if it is one %s', (_, text, message) => {
    expect(problems(FROM, { settings: text })).toEqual([expect.stringMatching(message)]);
  });

  it('has problems at their places in the file', () => {
    const { diagnostics } = readSettingsTarget(object(FROM), {
      settings: 'version: 1\nsettings:\n  langauge: en\n',
    });
    expect(diagnostics).toMatchObject([
      { file: 'ConfigMap settings, key settings.yaml', line: 3, column: 3 },
    ]);
  });
});

it('what is rendered of two environments is read as either of them', () => {
  const { targets } = read(
    'version: 1\nsettings: { language: en }\nenvironments:\n  A: { server: { url: https://a } }\n  B: { server: { url: https://b }, settings: { language: null } }\n',
  );
  const { objects } = renderObjects(targets, {});
  const back = objects.map((one) => readSettingsTarget(one as unknown as SettingsTarget));
  expect(back.map(({ target }) => settings(target as Target, sourceOf(target)).fields)).toEqual([
    { language: 'en' },
    { language: null },
  ]);
});
