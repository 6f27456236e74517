import { readFileSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../../../src/emulator/start.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startLaterServer, type LaterField } from '../../fixture/later-schema.ts';

const CANARY = 'CANARY-9b13e2';
const ENV = { SETPOINT_API_KEY: 'contract-key', LATER_KEY: `${CANARY}-later` };
const LOCK = 'settings.schema-lock.json';

const FIELDS: readonly LaterField[] = [
  { key: 'llm.later_limit', value_type: 'integer', default: 7, choices: [], secret: false },
  {
    key: 'llm.later_mode',
    value_type: 'string',
    default: 'slow',
    choices: [
      { label: 'Slow', value: 'slow' },
      { label: 'Fast', value: 'fast' },
    ],
    secret: false,
  },
  { key: 'llm.later_code', value_type: 'string', default: null, choices: [], secret: true },
];

function settings(url: string, llm: string): string {
  return `version: 1\nserver:\n  url: ${url}\n  api_key: \${env:SETPOINT_API_KEY}\nsettings:\n  agent_settings:\n    llm: ${llm}\n`;
}

function folderOf(files: Record<string, string>): string {
  const folder = folderWith(files);
  onTestFinished(() => folder.remove());
  return folder.path;
}

/** A folder whose settings declare members of the model, and a server that is later than the known release. */
async function place(llm: string, fields: readonly LaterField[] = FIELDS) {
  const server = await startLaterServer([...fields]);
  onTestFinished(() => server.close());
  const cwd = folderOf({ 'settings.yaml': settings(server.url, llm) });
  const run = (...args: string[]) => setpoint(args, { cwd, env: ENV });
  const rewrite = (text: string) =>
    writeFileSync(join(cwd, 'settings.yaml'), settings(server.url, text));
  const lock = () => readFileSync(join(cwd, LOCK), 'utf8');
  return { server, cwd, run, rewrite, lock };
}

describe('a member that only a later server has', () => {
  it('is unknown without a lock, and known with the one that schema pull writes', async () => {
    const { run, lock, server } = await place('{ later_limit: 9, later_mode: fast }');
    const before = await run('validate');
    expect([before.code, before.stderr]).toEqual([3, expect.stringContaining('later_limit')]);

    const pulled = await run('schema', 'pull');
    expect(pulled.stderr).toBe('');
    expect(pulled.code).toBe(0);
    expect(pulled.stdout).toContain('default: agent-server 1.58.0, checked against 1.57.0.');
    expect(pulled.stdout).toContain('+ agent-server agent_settings.llm.later_limit');
    expect(JSON.parse(lock())).toEqual({
      version: 1,
      servers: [
        {
          dialect: 'agent-server',
          release: '1.58.0',
          members: [
            {
              path: 'agent_settings.llm.later_code',
              type: 'string',
              default: null,
              choices: [],
              secret: true,
            },
            {
              path: 'agent_settings.llm.later_limit',
              type: 'integer',
              default: 7,
              choices: [],
              secret: false,
            },
            {
              path: 'agent_settings.llm.later_mode',
              type: 'string',
              default: 'slow',
              choices: ['slow', 'fast'],
              secret: false,
            },
          ],
        },
      ],
    });
    expect(lock()).not.toContain('127.0.0.1');

    expect((await run('validate')).code).toBe(0);
    const planned = await run('plan');
    expect(planned.code, planned.stderr).toBe(0);
    expect(planned.stdout).toContain('later_limit');
    const applied = await run('apply', '--yes');
    expect(applied.code, applied.stderr + applied.stdout).toBe(0);
    expect(server.own).toMatchObject({ later_limit: 9, later_mode: 'fast' });
    expect((await run('plan', '--exit-code')).code).toBe(0);

    const text = lock();
    const again = await run('schema', 'pull');
    expect(again.stdout).toContain(`${LOCK} is up to date.`);
    expect(lock()).toBe(text);
  });

  it.each([
    ['{ later_limit: many }', 'a whole number'],
    ['{ later_mode: medium }', '"slow"'],
    ['{ later_other: 1 }', 'later_other'],
  ])('is judged by the lock: %s', async (llm, expected) => {
    const { run, rewrite } = await place('{}');
    expect((await run('schema', 'pull')).code).toBe(0);
    rewrite(llm);
    for (const command of ['validate', 'plan']) {
      const { code, stderr } = await run(command);
      expect([code, stderr]).toEqual([3, expect.stringContaining(expected)]);
    }
  });

  it('must be a reference if it is a secret, and is masked everywhere', async () => {
    const { run, rewrite, server, lock } = await place('{}');
    expect((await run('schema', 'pull')).code).toBe(0);
    rewrite(`{ later_code: ${CANARY}-literal }`);
    const literal = await run('validate');
    expect([literal.code, literal.stderr]).toEqual([
      3,
      expect.stringContaining('A secret does not belong in this file.'),
    ]);
    rewrite("{ later_code: '${env:LATER_KEY}' }");
    const seen = [literal.stdout, literal.stderr.replaceAll(`${CANARY}-literal }`, ''), lock()];
    for (const args of [
      ['plan'],
      ['plan', '-o', 'json'],
      ['apply', '--yes'],
      ['plan', '--exit-code'],
      ['get', 'settings', '-o', 'json'],
      ['explain', '--offline'],
      ['drift'],
      ['pull', '--check'],
      ['get', 'settings', '-o', 'json=snapshot.json'],
      ['plan', '--snapshot', 'snapshot.json', '--exit-code'],
      ['explain', 'agent_settings.llm.later_code'],
    ]) {
      const { code, stdout, stderr } = await run(...args);
      expect([args.join(' '), code], stderr).toEqual([args.join(' '), 0]);
      seen.push(stdout, stderr);
    }
    expect(server.own['later_code']).toBe(`${CANARY}-later`);
    expect(seen.join('\n')).not.toContain(CANARY);
  });

  it('is pulled into the file when the server has another value', async () => {
    const { run, server, cwd } = await place('{ later_limit: 9 }');
    expect((await run('schema', 'pull')).code).toBe(0);
    server.own['later_limit'] = 11;
    const { code, stderr, stdout } = await run('pull', '--force');
    expect(code, stderr + stdout).toBe(0);
    expect(readFileSync(join(cwd, 'settings.yaml'), 'utf8')).toContain('later_limit: 11');
  });

  it('goes from the lock when the server has it no more', async () => {
    const fields = [...FIELDS];
    const server = await startLaterServer(fields);
    onTestFinished(() => server.close());
    const cwd = folderOf({ 'settings.yaml': settings(server.url, '{}') });
    const run = (...args: string[]) => setpoint(args, { cwd, env: ENV });
    await run('schema', 'pull');
    fields.splice(0, 1);
    const pulled = await run('schema', 'pull');
    expect(pulled.stdout).toContain('- agent-server agent_settings.llm.later_limit');
    expect(readFileSync(join(cwd, LOCK), 'utf8')).not.toContain('later_limit');
  });

  it.each([
    '{',
    '[]',
    '{"version":1,"servers":[{"dialect":"agent-server","members":[{}]}]}',
    'x'.repeat(1_048_577),
  ])('is not read from a lock that is broken', async (text) => {
    const { run, cwd } = await place('{ later_limit: 9 }');
    writeFileSync(join(cwd, LOCK), text);
    for (const command of ['validate', 'plan']) {
      const { code, stderr } = await run(command);
      expect([code, stderr]).toEqual([3, expect.stringContaining('setpoint schema pull')]);
      expect(stderr).toContain(LOCK);
    }
  });

  it('is written anew by schema pull over a lock that cannot be parsed', async () => {
    const { run, cwd } = await place('{ later_limit: 9 }');
    writeFileSync(join(cwd, LOCK), '{');
    expect((await run('schema', 'pull')).code).toBe(0);
    expect((await run('plan')).code).toBe(0);
  });
});

it.each(['agent-server', 'app-server'] as const)(
  'a member of the lock is refused by an embedded %s of the known release, and nothing is sent',
  async (dialect) => {
    const { run, lock } = await place('{}');
    expect((await run('schema', 'pull')).code).toBe(0);
    const url = `embedded:store.json?dialect=${dialect}`;
    const cwd = folderOf({ 'settings.yaml': settings(url, '{ later_limit: 9 }'), [LOCK]: lock() });
    for (const llm of ['{ timeout: 60 }', '{ later_limit: 9 }']) {
      writeFileSync(join(cwd, 'settings.yaml'), settings(url, llm));
      const { code, stderr } = await setpoint(['apply', '--yes'], { cwd, env: ENV });
      const refused = llm.includes('later');
      expect([llm, code], stderr).toEqual([llm, refused ? 3 : 0]);
      if (refused) expect(stderr).toContain('agent_settings.llm.later_limit');
    }
  },
);

it('a server with nothing new has an entry without members', async () => {
  const { run, lock } = await place('{}', []);
  expect((await run('schema', 'pull')).code).toBe(0);
  expect(JSON.parse(lock())).toEqual({
    version: 1,
    servers: [{ dialect: 'agent-server', release: '1.58.0', members: [] }],
  });
});

it.each(['app-server', 'agent-server'] as const)(
  'the embedded service as %s has nothing new',
  async (dialect) => {
    const cwd = folderOf({
      'settings.yaml': `version: 1\nserver:\n  url: embedded:store.json?dialect=${dialect}\n`,
    });
    const { code, stderr } = await setpoint(['schema', 'pull'], { cwd, env: ENV });
    expect([code, stderr]).toEqual([0, '']);
    const { servers } = JSON.parse(readFileSync(join(cwd, LOCK), 'utf8')) as {
      servers: { dialect: string; members: unknown[] }[];
    };
    expect(servers.map((one) => [one.dialect, one.members])).toEqual([[dialect, []]]);
  },
);

it('settings-v0 has no schema: it is named, and nothing is written', async () => {
  const server = await startEmulator({});
  onTestFinished(() => server.close());
  const cwd = folderOf({ 'settings.yaml': `version: 1\nserver:\n  url: ${server.url}\n` });
  const { code, stdout } = await setpoint(['schema', 'pull'], { cwd, env: ENV });
  expect(code).toBe(0);
  expect(stdout).toContain('default: settings-v0');
  expect(existsSync(join(cwd, LOCK))).toBe(false);
});

it('a lock is not read while the settings declare no native parts', async () => {
  const server = await startEmulator({});
  onTestFinished(() => server.close());
  const cwd = folderOf({
    'settings.yaml': `version: 1\nserver:\n  url: ${server.url}\nsettings:\n  language: en\n`,
    [LOCK]: '{',
  });
  expect((await setpoint(['validate'], { cwd, env: ENV })).code).toBe(0);
});
