import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MockAgent } from 'undici';
import * as setpoint from '../../../src/index.ts';
import { folderWith } from '../../fixture/command.ts';
import { loaded, RECORDED } from '../../fixture/store-server.ts';

let folder: ReturnType<typeof folderWith>;
let service: setpoint.Emulator;

beforeEach(async () => {
  service = await setpoint.startEmulator({ apiKey: 'k' });
  folder = folderWith({
    'settings.yaml': `version: 1\nserver: { url: "${service.url}", api_key: "\${env:KEY}" }\nsettings: { language: en }\n`,
  });
});
afterEach(async () => {
  await service.close();
  folder.remove();
});

it('validate, plan, apply and drift return documents, print nothing and leave the process alone', async () => {
  const before = {
    exitCode: process.exitCode,
    listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
    env: { ...process.env },
  };
  const writes = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
  const options = { file: `${folder.path}/settings.yaml`, env: { KEY: 'k' } };
  const documents = [
    await setpoint.validate(options),
    await setpoint.plan(options),
    await setpoint.apply(options),
    await setpoint.drift(options),
  ];
  for (const write of writes) expect(write).not.toHaveBeenCalled();
  vi.restoreAllMocks();
  expect(documents.map(({ kind }) => kind)).toEqual(['validation', 'plan', 'outcome', 'plan']);
  expect(documents[3]).toMatchObject({ environments: [{ status: 'in-sync' }] });
  expect({
    exitCode: process.exitCode,
    listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
    env: { ...process.env },
  }).toEqual(before);
});

it('reads the environment that is handed in, and no other', async () => {
  process.env['KEY'] = 'k';
  try {
    const document = await setpoint.plan({ file: `${folder.path}/settings.yaml`, env: {} });
    expect(document.environments[0]).toMatchObject({
      status: 'error',
      error: { code: 'reference-missing' },
    });
  } finally {
    delete process.env['KEY'];
  }
});

it('takes a text in place of a file, and a dispatcher in place of the network', async () => {
  const agent = new MockAgent();
  agent.disableNetConnect();
  agent
    .get('https://agents.example.com')
    .intercept({ path: '/api/settings', method: 'GET' })
    .reply(200, loaded({ language: 'fr' }, RECORDED), {
      headers: { 'content-type': 'application/json' },
    });
  const document = await setpoint.plan({
    text: 'version: 1\nserver: { url: https://agents.example.com }\nsettings: { language: en }\n',
    env: {},
    dispatcher: agent,
  });
  expect(document.environments[0]).toMatchObject({
    status: 'differs',
    changes: [{ path: ['language'], before: 'fr', after: 'en' }],
  });
  await agent.close();
});

it('throws a SetpointError with its diagnostics if the text is invalid', async () => {
  const error: unknown = await setpoint
    .plan({ text: 'version: 1\nsettings: { langauge: en }\n', env: {} })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(setpoint.InvalidSettings);
  expect(error).toMatchObject({
    code: 'settings-invalid',
    exitCode: 3,
    diagnostics: [{ code: 'missing-key' }, { code: 'unknown-key', line: 2, column: 13 }],
  });
});

it('stops at once when its signal fires before a write', async () => {
  const stop = new AbortController();
  const outcome = await setpoint.apply({
    file: `${folder.path}/settings.yaml`,
    env: { KEY: 'k' },
    signal: stop.signal,
    confirm: () => (stop.abort(), Promise.resolve(true)),
  });
  expect(outcome.environments[0]).toMatchObject({
    status: 'failed',
    error: { code: 'interrupted' },
    requests: { post: 0 },
  });
});
