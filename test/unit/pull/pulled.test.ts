import { referenceSource } from '../../../src/reconciler/host/reference-source.ts';
import { describe, expect, it } from 'vitest';
import { readTargets, type LoadedFile } from '../../../src/reconciler/desired/target.ts';
import { formatPath } from '../../../src/reconciler/model/path.ts';
import type { Value } from '../../../src/reconciler/model/value.ts';
import { compareEntry } from '../../../src/reconciler/plan/mcp-entry.ts';
import { comparableState } from '../../../src/reconciler/pull/comparison.ts';
import { pullEdits } from '../../../src/reconciler/pull/edits.ts';
import { NO_COLLECTIONS } from '../../../src/reconciler/pull/listed.ts';
import type { PullRules } from '../../../src/reconciler/pull/rules.ts';
import { pullNativeValue } from '../../../src/reconciler/pull/fields.ts';
import { planPulledSettings } from '../../../src/reconciler/pull/pull-target.ts';
import { REASONS } from '../../../src/reconciler/pull/writable.ts';
import { RunRedactors, createMaskingSource } from '../../../src/reconciler/operations/redacting.ts';
import { APP_SERVER } from '../../../src/reconciler/service/app-server/dialect.ts';
import { observedOf } from '../../fixture/observed.ts';

const READ = { serverGiven: true, several: true };

interface Given {
  readonly files: readonly LoadedFile[];
  /** What the services of the chosen targets have. */
  readonly has: Readonly<Record<string, Readonly<Record<string, Value>>>>;
  readonly env?: Record<string, string>;
  readonly adopt?: 'all' | readonly (readonly string[])[];
}

const running = { references: referenceSource({}), resolved: new RunRedactors() };

function edits({ files, has, env = {}, adopt = [] }: Given) {
  const targets = files.flatMap((file) => readTargets(file, READ).targets);
  const observed = targets.flatMap((target) => {
    const record = has[target.name];
    if (record === undefined) return [];
    const observed = observedOf(record);
    const options = { adopt, hidden: [], ownLayer: false };
    return [{ target, observed, collections: NO_COLLECTIONS, options }];
  });
  return pullEdits(
    files,
    READ,
    observed,
    createMaskingSource([], { references: referenceSource(env), resolved: new RunRedactors() }),
  );
}

function one(lines: readonly string[], record: Readonly<Record<string, Value>>, env = {}) {
  const text = `version: 1\nname: x\nsettings:\n${lines.map((line) => `  ${line}\n`).join('')}`;
  const done = edits({ files: [{ path: 'a.yaml', text, bases: [] }], has: { x: record }, env });
  const after = (done.texts.get('a.yaml') ?? text).split('\n').slice(3, -1);
  return { after: after.map((line) => line.slice(2)), pull: done.pulls.get('x') };
}

function stdio(...lines: readonly string[]): string[] {
  return ['mcp_config:', '  stdio_servers:', ...lines.map((line) => `    ${line}`)];
}

const FILES = { name: 'files', command: 'npx' };

describe('a stdio server', () => {
  it('takes over arguments, those that are as they were in the form they have', () => {
    const has = {
      mcp_config: { stdio_servers: [{ ...FILES, args: ['-y', 'k-1', '--new', 'k-2'] }] },
    };
    const lines = stdio(
      '- name: files',
      '  command: npx',
      '  args: ["-y", "k-${env:ONE}", old] # c',
    );
    const { after, pull } = one(lines, has, { ONE: '1' });
    expect(after[4]).toBe('      args: ["-y", "k-${env:ONE}", --new, k-2] # c');
    expect(pull?.left).toEqual([]);
  });

  it('leaves arguments alone while a reference among them differs', () => {
    const has = { mcp_config: { stdio_servers: [{ ...FILES, args: ['-y', 'k-2'] }] } };
    const lines = stdio('- name: files', '  command: npx', '  args: [-y, "k-${env:ONE}"]');
    const { after, pull } = one(lines, has, { ONE: '1' });
    expect(after).toEqual(lines);
    expect(pull?.left).toEqual([
      {
        path: ['mcp_config', 'stdio_servers', 'files', 'args'],
        reason: 'written as a reference',
        ref: 'k-${env:ONE}',
      },
    ]);
  });

  it('keeps a line a line', () => {
    const has = {
      mcp_config: { stdio_servers: [{ ...FILES, args: ['-y', 'a b'], env: { A: '2', B: 'x' } }] },
    };
    const lines = stdio('- name: files', '  command: npx', '  args: -y old # c', '  env: A=1,B=x');
    expect(one(lines, has).after.slice(4)).toEqual([
      '      args: -y ${env:FILES_ARG_2} # c',
      '      env: A=2,B=x',
    ]);
  });

  it('takes over variables one by one, new secrets as references', () => {
    const env = { LEVEL: 'debug', TOKEN: 'mine', API_KEY: 's3cret', PLAIN: 'a ${x}' };
    const has = { mcp_config: { stdio_servers: [{ ...FILES, env }] } };
    const lines = stdio(
      '- name: files',
      '  command: npx',
      '  env:',
      '    LEVEL: info # loud',
      '    GONE: x',
      '    TOKEN: ${env:T} # ours',
    );
    const { after, pull } = one(lines, has, { T: 'other' });
    expect(after.slice(4)).toEqual([
      '      env:',
      '        LEVEL: debug # loud',
      '        TOKEN: ${env:T} # ours',
      '        API_KEY: ${env:FILES_API_KEY}',
      '        PLAIN: ${env:FILES_PLAIN}',
    ]);
    expect(pull?.left).toMatchObject([
      { path: ['mcp_config', 'stdio_servers', 'files', 'env', 'TOKEN'] },
    ]);
  });

  it('never writes the value of a reference anywhere else', () => {
    const has = {
      git_user_name: 'the-real-thing',
      agent: 'x',
      mcp_config: {
        stdio_servers: [{ ...FILES, args: ['the-real-thing', 'with the-real-thing in it'] }],
      },
    };
    const lines = [
      'git_user_name: old',
      'agent: ${env:A}',
      ...stdio('- name: files', '  command: npx', '  args: []'),
    ];
    const { after, pull } = one(lines, has, { A: 'the-real-thing' });
    expect(after.join('\n')).not.toContain('the-real-thing');
    expect(after.at(-1)).toBe('      args: ["${env:FILES_ARG_1}", "${env:FILES_ARG_2}"]');
    expect(pull?.left.map(({ path, reason }) => [path[0], reason])).toEqual([
      ['agent', 'written as a reference'],
      ['git_user_name', 'the service has the value of a reference or a secret here'],
    ]);
  });
});

describe('a reference without a value', () => {
  const lines = [
    'mcp_config:',
    '  shttp_servers:',
    '    - url: https://a.example.com/mcp',
    '      api_key: ${env:UNSET}',
    '      timeout: 30',
    '    - url: https://gone.example.com/mcp',
  ];
  const has = {
    mcp_config: {
      shttp_servers: [
        { url: 'https://a.example.com/mcp', api_key: 'secret', timeout: 60 },
        { url: 'https://new.example.com/mcp', api_key: null, timeout: 60 },
      ],
    },
  };

  it('hides neither the other members of its entry nor the other entries', () => {
    const { after, pull } = one(lines, has);
    expect(after).toEqual([
      ...lines.slice(0, 4),
      '      timeout: 60',
      '    - url: https://new.example.com/mcp',
    ]);
    expect(pull?.left).toEqual([]);
    expect(pull?.unknown).toEqual([
      {
        kind: 'missing',
        path: ['mcp_config', 'shttp_servers', 'https://a.example.com/mcp', 'api_key'],
        reason: 'the variable UNSET is not set',
        ref: '${env:UNSET}',
      },
    ]);
  });

  it('that an entry is known by hides all of them', () => {
    const unknown = lines.map((line) => line.replace('https://gone.example.com', '${env:HOST}'));
    const { after, pull } = one(unknown, has);
    expect(after).toEqual(unknown);
    expect(pull?.unknown.map(({ path }) => path.slice(2).join(' '))).toEqual([
      'https://a.example.com/mcp api_key',
      '${env:HOST}/mcp url',
    ]);
  });
});

describe('what cannot be brought in', () => {
  it('is reported, and does not stop the rest', () => {
    const has = {
      user_consents_to_analytics: null,
      condenser_max_size: 3,
      llm_base_url: 'https://x.example.com/?key=1',
      max_iterations: '100',
      llm_api_key_set: true,
      search_api_key_set: false,
      language: 'fr',
    };
    const lines = [
      'user_consents_to_analytics: true',
      'condenser_max_size: 20',
      'llm_base_url: https://x.example.com',
      'max_iterations: 50',
      'llm_api_key: null',
      'search_api_key: ${env:S}',
      'language: en',
    ];
    const { after, pull } = one(lines, has, { S: 's' });
    expect(after).toEqual([...lines.slice(0, -1), 'language: fr']);
    expect(pull?.left.map(({ path, reason }) => `${path.join('.')}: ${reason}`).toSorted()).toEqual(
      [
        'condenser_max_size: a settings file cannot contain the value on the service',
        'llm_api_key: a secret, and secrets are not written',
        'llm_base_url: the value on the service may contain a secret',
        'max_iterations: a settings file cannot contain the value on the service',
        'search_api_key: written as a reference',
        'user_consents_to_analytics: a settings file cannot contain the value on the service',
      ],
    );
  });

  it('an entry whose form would not come back is left, the others are not', () => {
    const has = {
      mcp_config: {
        sse_servers: [{ url: ' https://a.example.com/sse' }, { url: 'https://b.example.com/sse' }],
      },
    };
    const { after, pull } = one(['mcp_config:', '  sse_servers: []'], has);
    expect(after).toEqual([
      'mcp_config:',
      '  sse_servers:',
      '    - url: https://b.example.com/sse',
    ]);
    expect(pull?.left).toMatchObject([
      { reason: 'the value on the service would not be the same in a file' },
    ]);
  });
});

describe('names of variables', () => {
  it('are none that the file reads already', () => {
    const has = {
      mcp_config: {
        sse_servers: [
          { url: 'https://a.example.com/one', api_key: 'k1' },
          { url: 'https://a.example.com/two', api_key: 'k2' },
          { url: 'https://a.example.com/three', api_key: 'k3' },
        ],
      },
    };
    const lines = [
      'agent: ${env:A_EXAMPLE_COM_TWO_API_KEY:-x}',
      'language: ${env:A_EXAMPLE_COM_API_KEY:-y}',
      'mcp_config: { sse_servers: [] }',
    ];
    const { after } = one(lines, { ...has, agent: 'x', language: 'y' });
    expect(after[2]).toBe(
      'mcp_config: { sse_servers: [{ url: https://a.example.com/one, api_key: "${env:A_EXAMPLE_COM_ONE_API_KEY}" }, { url: https://a.example.com/two, api_key: "${env:A_EXAMPLE_COM_API_KEY_2}" }, { url: https://a.example.com/three, api_key: "${env:A_EXAMPLE_COM_THREE_API_KEY}" }] }',
    );
  });
});

describe('blocks', () => {
  const file = (path: string, text: string, base: string | null = null): LoadedFile => ({
    path,
    text,
    bases: base === null ? [] : [{ path: 'base.yaml', text: base }],
  });
  const base = 'version: 1\nsettings:\n  language: en\n  agent: A\n';
  const extending = 'version: 1\nextends: base.yaml\n';

  it('a base that several files extend is changed if all agree, else each file', () => {
    const files = [file('one.yaml', extending, base), file('two.yaml', extending, base)];
    const has = { one: { language: 'fr', agent: 'B' }, two: { language: 'fr', agent: 'A' } };
    const { texts } = edits({ files, has });
    expect(Object.fromEntries(texts)).toEqual({
      'base.yaml': base.replace('language: en', 'language: fr'),
      'one.yaml': `${extending}settings:\n  agent: B\n`,
    });
  });

  it('a base is left alone if one of the files was not chosen', () => {
    const files = [file('one.yaml', extending, base), file('two.yaml', extending, base)];
    const { texts } = edits({ files, has: { two: { language: 'fr', agent: 'A' } } });
    expect(Object.fromEntries(texts)).toEqual({
      'two.yaml': `${extending}settings:\n  language: fr\n`,
    });
  });

  it('what is adopted goes to the top if all adopt the same, else to each environment', () => {
    const text =
      'version: 1\nsettings: {}\nenvironments:\n  a: {}\n  b:\n    settings: { agent: A }\n';
    const has = { a: { email: 'x@y', agent: 'A' }, b: { email: 'x@y', agent: 'A' } };
    const { texts } = edits({ files: [file('f.yaml', text)], has, adopt: 'all' });
    expect(texts.get('f.yaml')).toBe(
      'version: 1\nsettings:\n  email: x@y\nenvironments:\n  a:\n    settings:\n      agent: A\n  b:\n    settings: { agent: A }\n',
    );
  });

  it('alike entries with unlike secrets get variables of their own', () => {
    const text =
      'version: 1\nsettings: { mcp_config: { sse_servers: [] } }\nenvironments: { a: {}, b: {} }\n';
    const entry = (key: string) => ({
      mcp_config: { sse_servers: [{ url: 'https://x.example.com/sse', api_key: key }] },
    });
    const alike = edits({ files: [file('f.yaml', text)], has: { a: entry('1'), b: entry('1') } });
    expect(alike.texts.get('f.yaml')).toContain(
      'sse_servers: [{ url: https://x.example.com/sse, api_key: "${env:X_EXAMPLE_COM_API_KEY}" }]',
    );
    const unlike = edits({ files: [file('f.yaml', text)], has: { a: entry('1'), b: entry('2') } });
    expect(
      [...unlike.references].map(([name, references]) => [name, references.map((one) => one.name)]),
    ).toEqual([
      ['a', ['X_EXAMPLE_COM_API_KEY']],
      ['b', ['X_EXAMPLE_COM_SSE_API_KEY']],
    ]);
  });
});

describe('a native value', () => {
  const BODY = ['agent_settings', 'llm', 'litellm_extra_body'];
  const own = { agent_settings: { llm: { litellm_extra_body: { odd: 1, other: 1 } } } };
  const text = JSON.stringify({ version: 1, name: 'x', settings: own });
  const [target] = readTargets({ path: 'a.yaml', text, bases: [] }, READ).targets;

  it.each([
    ['of what it holds does not read back', [...BODY, 'odd', 'inner']],
    ['it is in does not read back', BODY],
    ['does not read back itself', [...BODY, 'odd']],
  ])('is left alone if the value that %s', (_, unlike) => {
    if (target === undefined) throw new Error('no target');
    const values = {
      [formatPath([...BODY, 'odd', 'inner'])]: 'new',
      [formatPath([...BODY, 'other'])]: 2,
    };
    const observed = { ...observedOf({}), dialect: APP_SERVER, values };
    const { desired } = comparableState(target, createMaskingSource([], running));
    const { changes } = planPulledSettings(desired, observed);
    const rules: PullRules = {
      unmanaged: [],
      changes,
      entryMembers: APP_SERVER.entryMembers,
      compare: compareEntry,
      excluded: new Map([[formatPath(unlike), REASONS.unlike]]),
      overReferences: false,
      hidden: [],
    };
    const pulled = changes.map((change) => pullNativeValue(change, target, observed, rules));
    const left = pulled.flatMap((one) => one.left.map(({ path }) => path.at(-1)));
    expect(left).toEqual(unlike === BODY ? ['odd', 'other'] : ['odd']);
  });
});
