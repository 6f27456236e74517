import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as setpoint from '../../../src/index.ts';
import { folderWith } from '../../fixture/command.ts';

/* The library as a program uses it that has no files: everything is handed in and comes back, and nothing else is written. */

let service: setpoint.Emulator;
let folder: ReturnType<typeof folderWith>;
let before: string;
let text: string;
const env = { LLM: 'sk-private', SETPOINT_STATE_KEY: 'k' };

beforeEach(async () => {
  service = await setpoint.startEmulator();
  folder = folderWith({});
  before = process.cwd();
  process.chdir(folder.path);
  text = `version: 1\nserver: { url: "${service.url}" }\nsettings: { language: en, llm_model: a/b, llm_api_key: "\${env:LLM}" }\n`;
});
afterEach(async () => {
  process.chdir(before);
  folder.remove();
  await service.close();
});

it('plans against the document that get returned', async () => {
  const snapshot = await setpoint.get({ text, env });
  await service.close();
  const document = await setpoint.plan({ text, env: {}, snapshot });
  expect(document.environments[0]).toMatchObject({
    status: 'differs',
    changes: expect.arrayContaining([expect.objectContaining({ path: ['language'] })]),
  });
});

it('takes a policy and a base as values', async () => {
  const policy = { properties: { settings: { properties: { language: { const: 'fr' } } } } };
  await expect(setpoint.plan({ text, env, policy })).rejects.toMatchObject({
    code: 'policy-violated',
    diagnostics: [expect.objectContaining({ path: ['settings', 'language'] })],
  });
  await setpoint.apply({ text, env });
  const edited = text.replace('language: en', 'language: fr');
  const { environments } = await setpoint.plan({ text: edited, env, base: { text } });
  expect(environments[0]?.changes).toEqual([
    expect.objectContaining({ path: ['language'], class: 'pending' }),
  ]);
});

it.each([
  ['snapshot', { kind: 'observed' }, 'The document is not a snapshot of setpoint.'],
  ['policy', { type: 'no such type' }, 'The policy is not a JSON Schema that can be used.'],
])('refuses a %s that is none', async (option, value, message) => {
  await expect(setpoint.plan({ text, env, [option]: value })).rejects.toMatchObject({
    code: 'usage',
    message,
  });
});

it('writes nothing into the working folder, whatever the text and the variables ask for', async () => {
  const options = { text, env };
  await setpoint.plan(options);
  await setpoint.apply(options);
  await setpoint.apply({ ...options, rotate: 'all' });
  await setpoint.drift(options);
  await setpoint.get(options);
  await setpoint.doctor(options);
  await setpoint.pull(options);
  const inside = await setpoint.plan({ text: text.replace(service.url, 'embedded:'), env });
  expect(inside.environments[0]?.error).toMatchObject({
    code: 'usage',
    message: 'The address embedded: has no folder for its store.',
  });
  expect(readdirSync('.')).toEqual([]);
});

it('remembers secrets, and the store of embedded:, in the folder that is named', async () => {
  const inside = text.replace(service.url, 'embedded:');
  const options = { text: inside, env, state: 'remembered' };
  await setpoint.apply(options);
  expect(readdirSync('remembered/.setpoint').toSorted()).toEqual([
    'embedded.json',
    'fingerprints.json',
  ]);
  expect(await setpoint.plan(options)).toMatchObject({
    environments: [{ status: 'in-sync', unknown: [] }],
  });
  expect(existsSync('.setpoint')).toBe(false);
});

describe('an error of the caller', () => {
  const failure = new TypeError('from my reporter');
  const fail = (): never => {
    throw failure;
  };
  const functions = { plan: setpoint.plan, apply: setpoint.apply, drift: setpoint.drift };
  it.each([
    ['plan', 'onSelected'],
    ['plan', 'onEnvironment'],
    ['apply', 'onSelected'],
    ['apply', 'onEnvironment'],
    ['apply', 'onPlan'],
    ['apply', 'confirm'],
    ['apply', 'beforeWrite'],
    ['drift', 'onEnvironment'],
  ] as const)('comes back from %s as it was thrown by %s, and stops it', async (name, callback) => {
    const request = { text, env, [callback]: fail };
    await expect(functions[name](request)).rejects.toBe(failure);
    const { environments } = await setpoint.plan({ text, env });
    expect(environments[0]?.changes).toHaveLength(3);
  });

  it('comes back from pull before a file is written', async () => {
    writeFileSync('settings.yaml', text);
    await setpoint.apply({ text: text.replace('en', 'fr'), env });
    await expect(
      setpoint.pull({ file: 'settings.yaml', env, force: true, onEdit: async () => fail() }),
    ).rejects.toBe(failure);
    expect(readFileSync('settings.yaml', 'utf8')).toBe(text);
  });
});

it('names options, and not flags, in errors of use', async () => {
  const several = `${text}environments: { a: {}, b: {} }\n`;
  const errors = await Promise.all(
    [
      setpoint.apply({ text: several, env }),
      setpoint.effective({ text: several, env }),
      setpoint.plan({ text, env, targets: ['nowhere'] }),
      setpoint.plan({ file: 'nowhere.yaml', env }),
      setpoint.plan({ env }),
      setpoint.plan({ text, env, rotate: ['language'] }),
      setpoint.plan({ text, env, without: ['nothing'] }),
      setpoint.get({ env }),
    ].map((ended) =>
      ended.then(
        () => null,
        (error: setpoint.SetpointError) => error,
      ),
    ),
  );
  for (const error of errors) {
    expect(error).toBeInstanceOf(setpoint.SetpointError);
    expect(`${error?.message} ${error?.hint}`).not.toMatch(/(^|\s)--?[a-z]/);
  }
});

it('renders each document in each of its formats, with foreign text inert', async () => {
  const hostile = 'x\n::error::forged @all <script>![a](b) \u202E';
  const stored = await fetch(`${service.url}/api/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ language: 'en', llm_model: hostile, llm_api_key: env.LLM }),
  });
  expect(stored.status).toBe(200);
  const plan = await setpoint.plan({ text, env });
  const documents = [
    plan,
    await setpoint.apply({ text, env }),
    await setpoint.validate({ text, env }),
    await setpoint.get({ text, env }),
    await setpoint.explain({ text, env, path: 'llm_model' }),
    await setpoint.doctor({ text, env }),
    await setpoint.pull({ text, env }),
  ];
  const formats = ['text', 'markdown', 'html', 'annotations', 'sarif', 'json'] as const;
  let count = 0;
  for (const document of documents)
    for (const format of formats) {
      const rendered = await setpoint.render(document, { format }).catch((error: unknown) => error);
      if (rendered instanceof setpoint.SetpointError) {
        expect(rendered.hint).toMatch(/^It has: text.*json/);
        continue;
      }
      count += 1;
      expect(rendered).toEqual(expect.any(String));
      expect(rendered).not.toMatch(/^::error::forged|\u202E/m);
      if (format === 'html') expect(rendered).not.toMatch(/<script>!/);
      expect(rendered).not.toContain(env.LLM);
    }
  expect(count).toBeGreaterThan(18);
  const drift = await setpoint.render(plan, { format: 'markdown', drift: true });
  expect(drift).not.toBe(await setpoint.render(plan, { format: 'markdown' }));
});

describe('resolveSecret', () => {
  const NAMES = { llm_api_key: 'team/llm/key', search_api_key: 'team/search' };
  const asked: string[] = [];
  let secrets: string;
  beforeEach(() => {
    asked.length = 0;
    const keys = Object.entries(NAMES).map(([field, path]) => `${field}: "\${secret:${path}}"`);
    secrets = `version: 1\nserver: { url: "${service.url}" }\nsettings: { language: en, ${keys.join(', ')} }\n`;
  });
  const resolveSecret = async (name: string, path: string): Promise<string | null> => {
    asked.push(`${name}/${path}`);
    return path === 'gone' ? null : `canary-of-${path}`;
  };

  it('gives each secret once, and its values are shown nowhere', async () => {
    const outcome = await setpoint.apply({ text: secrets, env: {}, resolveSecret });
    expect(outcome.environments[0]?.status).toBe('applied');
    expect(asked.toSorted()).toEqual(Object.values(NAMES).toSorted());
    expect(JSON.stringify(outcome)).not.toContain('canary');
    const read = await setpoint.get({ text: secrets, env: {}, resolveSecret });
    expect(read.environments[0]?.settings).toMatchObject({
      llm_api_key_set: true,
      search_api_key_set: true,
    });
  });

  it('may have no value, which is an error before anything is sent', async () => {
    const text = secrets.replace('team/search', 'team/gone');
    await expect(setpoint.apply({ text, env: {}, resolveSecret })).rejects.toMatchObject({
      code: 'reference-missing',
      message: expect.stringContaining('resolveSecret gave no value of team/gone'),
    });
    const read = await setpoint.get({ text, env: {}, resolveSecret });
    expect(read.environments[0]?.status).toBe('empty');
  });

  it('is asked for nothing that SETPOINT_ALLOWED_SECRETS does not allow', async () => {
    const env = { SETPOINT_ALLOWED_SECRETS: 'team/llm/*' };
    const document = await setpoint.plan({ text: secrets, env, resolveSecret });
    expect(document.environments[0]?.error?.code).toBe('not-allowed');
    expect(asked).not.toContain('team/search');
  });

  it('that throws stops the operation with its own error', async () => {
    const own = new Error('the vault is closed');
    const failing = (): never => {
      throw own;
    };
    await expect(setpoint.plan({ text: secrets, env: {}, resolveSecret: failing })).rejects.toBe(
      own,
    );
  });
});

describe('stream', () => {
  const several = (url: string): string =>
    `version: 1\nserver: { url: "${url}" }\nsettings: { language: en }\nenvironments: { one: {}, two: { settings: { language: de } } }\n`;

  it('yields the events of an apply in their order, and returns its document', async () => {
    const events: setpoint.RunEvent[] = [];
    const seen: number[] = [];
    const run = setpoint.stream('apply', {
      text: several(service.url),
      env: {},
      targets: ['one'],
      onEnvironment: ({ done }) => seen.push(done),
    });
    let next = await run.next();
    for (; next.done !== true; next = await run.next()) events.push(next.value);
    expect(next.value.environments[0]?.status).toBe('applied');
    const kinds = events.map(({ kind }) => kind);
    expect(kinds[0]).toBe('selected');
    expect(kinds).toContain('planned');
    expect(events.at(-1)).toEqual({ kind: 'progress', done: 1, total: 1, failed: 0 });
    expect(seen).toEqual(
      events.flatMap((event) => (event.kind === 'progress' ? [event.done] : [])),
    );
  });

  it('stops the run before its next write when its reader leaves', async () => {
    for await (const event of setpoint.stream('apply', {
      text: several(service.url),
      env: {},
      targets: ['two', 'one'],
    }))
      if (event.kind === 'planned') break;
    const { environments } = await setpoint.get({ text, env });
    expect(environments[0]?.status).toBe('empty');
  });

  it('ends with the error of the operation', async () => {
    const run = setpoint.stream('plan', { text: 'version: 2', env: {} });
    await expect(run.next()).rejects.toMatchObject({ code: 'settings-invalid' });
  });
});
