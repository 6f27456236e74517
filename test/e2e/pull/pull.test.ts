import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { pullCommand } from '../../../src/command/cli/commands/pull.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { pull, type PullRun } from '../../../src/reconciler/operations/pull.ts';
import { folderWith } from '../../fixture/command.ts';
import { quickClock } from '../../fixture/settings.ts';
import { startStore, type JsonRecord, type StoreServer } from '../../fixture/store-server.ts';
import { dedent } from '../../fixture/dedent.ts';

const CANARY = 'CANARY-7f3a91c2';
const ENV = { SETPOINT_API_KEY: `${CANARY}-key`, LLM: `${CANARY}-llm`, SEARCH: `${CANARY}-search` };

const stores: StoreServer[] = [];
const folders: { remove(): void }[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  for (const folder of folders.splice(0)) folder.remove();
});

async function storeWith(stored: JsonRecord | null, semantics = {}): Promise<StoreServer> {
  const store = await startStore(semantics, stored);
  stores.push(store);
  return store;
}

function folderOf(files: Record<string, string>): string {
  const folder = folderWith(files);
  folders.push(folder);
  return folder.path;
}

function read(folder: string, name = 'settings.yaml'): string {
  return readFileSync(join(folder, name), 'utf8');
}

function asked(folder: string, more: Partial<PullRun> = {}): PullRun {
  return { file: join(folder, 'settings.yaml'), env: ENV, clock: quickClock(), ...more };
}

/** Lines that went and lines that came. */
function difference(before: string, after: string): string[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `-${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`),
  ];
}

/** The changes that a plan of the folder's file makes, by path. */
async function plannedPaths(request: PullRun): Promise<string[]> {
  const { environments } = await plan(request);
  expect(environments.map(({ error }) => error)).toEqual(environments.map(() => null));
  return environments.flatMap(({ changes }) => changes.map(({ path }) => path.join('.')));
}

const FILE = (url: string): string => `# The one file
version: 1
server:
  url: ${url}
  api_key: \${env:SETPOINT_API_KEY} # the key
settings:
  language: 'en' # a code
  agent: "CodeActAgent"   # two words
  max_iterations: 100
  enable_default_condenser: false
  git_user_name: \${env:BOT:-bot}
  llm_model: model-a
  llm_api_key: \${env:LLM}

  mcp_config:
    # who listens
    sse_servers:
      - url: https://sse.example.com/sse
        api_key: \${env:SSE} # rotated yearly
      - https://gone.example.com/sse
    shttp_servers: [{ url: https://http.example.com/mcp, timeout: 30 }]
guards: { max_changes: 10 }
`;

const STORED: JsonRecord = {
  language: 'fr',
  agent: null,
  max_iterations: 50,
  git_user_name: 'other',
  llm_model: 'model-b',
  llm_api_key: `${CANARY}-llm`,
  email: 'a@example.com',
  mcp_config: {
    sse_servers: [
      { url: 'https://sse.example.com/sse', api_key: `${CANARY}-sse` },
      { url: 'https://new.example.com/sse', api_key: `${CANARY}-new` },
    ],
    stdio_servers: [
      {
        name: 'files',
        command: 'npx',
        args: ['-y', 'server-files', '--api-key', `${CANARY}-arg`],
        env: { LEVEL: 'info', FILES_TOKEN: `${CANARY}-token` },
      },
    ],
    shttp_servers: [{ url: 'https://http.example.com/mcp', api_key: null, timeout: 60 }],
  },
};

describe('pull', () => {
  it('puts every value in its place, and lists what it left alone', async () => {
    const store = await storeWith(structuredClone(STORED));
    const folder = folderOf({ 'settings.yaml': FILE(store.url) });
    const document = await pull(asked(folder));
    expect(document.files).toMatchObject([{ status: 'written' }]);
    expect(difference(FILE(store.url), read(folder))).toEqual([
      "-  language: 'en' # a code",
      '-  agent: "CodeActAgent"   # two words',
      '-  max_iterations: 100',
      '-  enable_default_condenser: false',
      '-  llm_model: model-a',
      '-      - https://gone.example.com/sse',
      '-    shttp_servers: [{ url: https://http.example.com/mcp, timeout: 30 }]',
      "+  language: 'fr' # a code",
      '+  agent: null   # two words',
      '+  max_iterations: 50',
      '+  enable_default_condenser: true',
      '+  llm_model: model-b',
      '+      - url: https://new.example.com/sse',
      '+        api_key: ${env:NEW_EXAMPLE_COM_API_KEY}',
      '+    shttp_servers: [{ url: https://http.example.com/mcp, timeout: 60 }]',
    ]);
    const [environment] = document.environments;
    expect(environment?.left).toEqual([
      { path: ['git_user_name'], reason: 'written as a reference', ref: '${env:BOT:-bot}' },
    ]);
    expect(environment?.variables).toEqual([
      {
        name: 'NEW_EXAMPLE_COM_API_KEY',
        path: ['mcp_config', 'sse_servers', 'https://new.example.com/sse', 'api_key'],
      },
    ]);
    expect(JSON.stringify(document)).not.toContain('CANARY');
    expect(store.posts()).toBe(0);
    const env = { ...ENV, SSE: `${CANARY}-sse`, NEW_EXAMPLE_COM_API_KEY: `${CANARY}-new` };
    expect(await plannedPaths(asked(folder, { env }))).toEqual(['git_user_name']);
    expect(await plannedPaths(asked(folder))).toEqual(['git_user_name']);
  });

  it('is byte for byte the same if nothing differs, and a second time', async () => {
    const store = await storeWith(structuredClone(STORED));
    const folder = folderOf({ 'settings.yaml': FILE(store.url) });
    await pull(asked(folder));
    const once = read(folder);
    const { mtimeMs, ino } = statSync(join(folder, 'settings.yaml'));
    const document = await pull(asked(folder));
    expect(document.files).toMatchObject([{ status: 'unchanged' }]);
    expect(document.environments).toMatchObject([{ status: 'in-sync', pulled: [] }]);
    expect(read(folder)).toBe(once);
    expect(statSync(join(folder, 'settings.yaml'))).toMatchObject({ mtimeMs, ino });
  });

  it('keeps the mode of the file, and leaves nothing beside it', async () => {
    const store = await storeWith(structuredClone(STORED));
    const folder = folderOf({ 'settings.yaml': FILE(store.url) });
    chmodSync(join(folder, 'settings.yaml'), 0o664);
    await pull(asked(folder));
    expect(statSync(join(folder, 'settings.yaml')).mode & 0o777).toBe(0o664);
    expect(readdirSync(folder)).toEqual(['settings.yaml']);
  });

  it('writes null for the mcp_config that the service has not, and back', async () => {
    const store = await storeWith({ ...structuredClone(STORED), mcp_config: null });
    const folder = folderOf({ 'settings.yaml': FILE(store.url) });
    await pull(asked(folder));
    expect(read(folder)).toContain('\n  mcp_config: null\n    # who listens\nguards');
    expect(await plannedPaths(asked(folder))).toEqual(['git_user_name']);
    store.stored = structuredClone(STORED);
    await pull(asked(folder));
    const text = read(folder);
    expect(text).toContain(
      [
        '  mcp_config:',
        '    sse_servers:',
        '      - url: https://sse.example.com/sse',
        '        api_key: ${env:SSE_EXAMPLE_COM_API_KEY}',
        '      - url: https://new.example.com/sse',
        '        api_key: ${env:NEW_EXAMPLE_COM_API_KEY}',
        '    stdio_servers:',
        '      - name: files',
        '        command: npx',
        '        args: [-y, server-files, --api-key, "${env:FILES_API_KEY}"]',
        '        env:',
        '          LEVEL: info',
        '          FILES_TOKEN: ${env:FILES_TOKEN}',
        '    shttp_servers:',
        '      - url: https://http.example.com/mcp',
        '    # who listens',
        'guards',
      ].join('\n'),
    );
    expect(text).not.toContain('CANARY');
    expect(await plannedPaths(asked(folder))).toEqual(['git_user_name']);
  });

  it('leaves a file alone whose service has nothing stored yet', async () => {
    const store = await storeWith(null);
    const folder = folderOf({ 'settings.yaml': FILE(store.url) });
    const document = await pull(asked(folder, { adopt: 'all' }));
    expect(read(folder)).toBe(FILE(store.url));
    expect(document.environments[0]?.left).toContainEqual({
      path: ['language'],
      reason: 'nothing is stored on the service yet',
      ref: null,
    });
  });
});

describe('--adopt', () => {
  it('adopts what the plan lists as unmanaged, secrets as references', async () => {
    const store = await storeWith(structuredClone(STORED));
    const text = dedent`
      version: 1
      server: { url: "${store.url}" }
      settings:
        language: fr
    `;
    const folder = folderOf({ 'settings.yaml': text });
    const one = await pull(asked(folder, { adopt: ['email'] }));
    expect(one.environments[0]?.pulled).toMatchObject([{ path: ['email'], action: 'adopt' }]);
    expect(read(folder)).toBe(`${text}  email: a@example.com\n`);
    await pull(asked(folder, { adopt: 'all' }));
    expect(read(folder)).toContain('  llm_api_key: ${env:LLM_API_KEY}\n');
    expect(read(folder)).toContain(
      '        args: [-y, server-files, --api-key, "${env:FILES_API_KEY}"]\n',
    );
    expect(read(folder)).not.toContain('CANARY');
    const { environments } = await plan(asked(folder));
    expect(environments).toMatchObject([{ status: 'in-sync', unmanaged: [] }]);
  });

  it('adopts what was unmanaged', async () => {
    const store = await storeWith(structuredClone(STORED));
    const text = `version: 1
server: { url: "${store.url}" }
settings:
  language: en
  mcp_config:
    sse_servers: []
unmanaged:
  - language # the person chooses
  - mcp_config.sse_servers[https://new.example.com/sse] # the server's own
`;
    const folder = folderOf({ 'settings.yaml': text });
    const path = 'mcp_config.sse_servers[https://new.example.com/sse]';
    await pull(asked(folder, { adopt: [path] }));
    const after = read(folder);
    expect(after).toContain('unmanaged:\n  - language # the person chooses\n');
    expect(after).toContain(
      '      - url: https://new.example.com/sse\n        api_key: ${env:NEW_EXAMPLE_COM_API_KEY}\n',
    );
    expect(after).toContain('  language: en\n');
    expect(await plannedPaths(asked(folder))).toEqual([]);
  });

  it('adopts what was unmanaged and does not differ', async () => {
    const store = await storeWith({ language: 'en' });
    const text = dedent`
      version: 1
      server: { url: "${store.url}" }
      settings: { language: en }
      unmanaged: [language]
    `;
    const folder = folderOf({ 'settings.yaml': text });
    const document = await pull(asked(folder, { adopt: ['language'] }));
    expect(document.environments).toMatchObject([
      { status: 'pulled', pulled: [{ path: ['language'], action: 'adopt', after: 'en' }] },
    ]);
    expect(read(folder)).toBe(text.replace('[language]', '[]'));
  });

  it('of a path that is none names those there are', async () => {
    const store = await storeWith(structuredClone(STORED));
    const folder = folderOf({ 'settings.yaml': FILE(store.url) });
    await expect(pull(asked(folder, { adopt: ['emial'] }))).rejects.toMatchObject({
      code: 'usage',
      hint: 'Did you mean email?',
    });
    expect(read(folder)).toBe(FILE(store.url));
  });
});

describe('environments', () => {
  const file = (one: string, other: string): string => `version: 1
settings:
  language: en # both
  agent: A
environments:
  staging:
    server: { url: "${one}", api_key: "\${env:LLM}" }
    settings: { max_iterations: 50 } # less
  production:
    server:
      url: ${other}
      api_key: \${env:SEARCH}
`;

  it('change the block above if all agree, else each its own', async () => {
    const one = await storeWith({ language: 'fr', agent: 'B', max_iterations: 60 });
    const other = await storeWith({ language: 'fr', agent: 'C' });
    const text = file(one.url, other.url);
    const folder = folderOf({ 'settings.yaml': text });
    await pull(asked(folder));
    expect(read(folder)).toBe(
      text
        .replace('language: en', 'language: fr')
        .replace('{ max_iterations: 50 }', '{ max_iterations: 60, agent: B }')
        .replace(/$/, '    settings:\n      agent: C\n'),
    );
    expect(await plannedPaths(asked(folder))).toEqual([]);
  });

  it('a single one leaves the others what they have', async () => {
    const one = await storeWith({ language: 'fr', agent: 'A', max_iterations: 50 });
    const other = await storeWith({ language: 'en', agent: 'A' });
    const text = file(one.url, other.url);
    const folder = folderOf({ 'settings.yaml': text });
    await pull(asked(folder, { targets: ['staging'] }));
    expect(read(folder)).toBe(
      text.replace('{ max_iterations: 50 }', '{ max_iterations: 50, language: fr }'),
    );
    expect(await plannedPaths(asked(folder))).toEqual([]);
  });

  it('one that cannot be observed stops the whole pull', async () => {
    const one = await storeWith({ language: 'fr', agent: 'A', max_iterations: 50 });
    const text = file(one.url, 'http://127.0.0.1:1');
    const folder = folderOf({ 'settings.yaml': text });
    const { environments, files } = await pull(asked(folder));
    expect(environments).toMatchObject([{ status: 'skipped' }, { status: 'error' }]);
    expect(files).toMatchObject([{ status: 'unchanged' }]);
    expect(read(folder)).toBe(text);
  });
});

describe('a base file', () => {
  it('is changed where its value is, and not for what the file above it declares', async () => {
    const store = await storeWith({ language: 'fr', agent: 'B' });
    const base = dedent`
      version: 1
      settings:
        language: en # shared
        agent: A
    `;
    const text = dedent`
      version: 1
      extends: base.yaml
      server: { url: "${store.url}" }
      settings:
        agent: A # own
    `;
    const folder = folderOf({ 'settings.yaml': text, 'base.yaml': base });
    const before = process.cwd();
    process.chdir(folder);
    try {
      const document = await pull(asked('.'));
      expect(document.files).toEqual([
        { file: 'settings.yaml', status: 'written' },
        { file: 'base.yaml', status: 'written' },
      ]);
      expect(read(folder)).toBe(text.replace('agent: A', 'agent: B'));
      expect(read(folder, 'base.yaml')).toBe(base.replace('language: en', 'language: fr'));
    } finally {
      process.chdir(before);
    }
  });
});

describe('a base outside the working directory', () => {
  it.each(['../outside.yaml', '/dev/zero', '../../../../etc/nothere'])(
    'is refused by pull as plan refuses it, and not opened: %s',
    async (base) => {
      const folder = folderOf({
        'outside.yaml': 'settings: { language: ja }\n',
        'inner/settings.yaml': `version: 1\nextends: ${base}\nserver: { url: "http://127.0.0.1:9" }\n`,
      });
      const file = 'settings.yaml';
      const before = process.cwd();
      process.chdir(join(folder, 'inner'));
      try {
        const refused = {
          code: 'settings-invalid',
          diagnostics: [
            { code: 'unreadable', message: 'No such file under the working directory.' },
          ],
        };
        await expect(plan(asked(folder, { file }))).rejects.toMatchObject(refused);
        await expect(pull(asked(folder, { file, check: true }))).rejects.toMatchObject(refused);
        await expect(pull(asked(folder, { file }))).rejects.toMatchObject(refused);
      } finally {
        process.chdir(before);
      }
    },
  );
});

describe('a file that is in use', () => {
  it('is not written if it has uncommitted changes, unless --force is given', async () => {
    const store = await storeWith(structuredClone(STORED));
    const folder = folderOf({ 'settings.yaml': FILE(store.url) });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
        cwd: folder,
      });
    const env = { ...ENV, PATH: process.env['PATH'], HOME: folder };
    git('init', '-q');
    await expect(pull(asked(folder, { env }))).rejects.toMatchObject({ code: 'file-changed' });
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    writeFileSync(join(folder, 'settings.yaml'), `${FILE(store.url)}# by hand\n`);
    await expect(pull(asked(folder, { env }))).rejects.toMatchObject({
      code: 'file-changed',
      message: expect.stringContaining('uncommitted changes'),
    });
    expect(await pull(asked(folder, { env, check: true }))).toMatchObject({
      files: [{ status: 'differs' }],
    });
    expect(read(folder)).toBe(`${FILE(store.url)}# by hand\n`);
    await pull(asked(folder, { env, force: true }));
    expect(read(folder)).toContain("language: 'fr'");
    git('commit', '-q', '-a', '-m', 'second');
    store.stored = { ...STORED, language: 'de' };
    await pull(asked(folder, { env }));
    expect(read(folder)).toContain("language: 'de'");
  });

  it('is not written over what somebody else wrote meanwhile', async () => {
    const store = await storeWith(structuredClone(STORED));
    const folder = folderOf({ 'settings.yaml': FILE(store.url) });
    const theirs = `${FILE(store.url)}# by somebody else\n`;
    const onEdit = async (): Promise<void> => writeFileSync(join(folder, 'settings.yaml'), theirs);
    await expect(pull(asked(folder, { onEdit }))).rejects.toMatchObject({
      message: expect.stringContaining('has changed since it was read'),
    });
    expect(read(folder)).toBe(theirs);
    expect(readdirSync(folder)).toEqual(['settings.yaml']);
  });
});

describe('the command', () => {
  function io(env: Record<string, string>) {
    const written = { stdout: '', stderr: '' };
    const stream = (name: 'stdout' | 'stderr') =>
      new Writable({
        write(chunk: Buffer, _, done) {
          written[name] += chunk.toString();
          done();
        },
      });
    const never = new AbortController().signal;
    return {
      written,
      io: {
        env,
        stdin: () => Readable.from([]),
        stdout: stream('stdout'),
        stderr: stream('stderr'),
        signal: never,
        abandon: never,
      },
    };
  }

  it('--check shows the patch, writes nothing, and exits 2; 0 if there is nothing to pull', async () => {
    const store = await storeWith(structuredClone(STORED));
    const text = FILE(store.url).replace('guards', '  email: x@example.com\nguards');
    const folder = folderOf({ 'settings.yaml': text });
    const file = [join(folder, 'settings.yaml')];
    const first = io(ENV);
    expect(await pullCommand({ file, check: true }, first.io)).toBe(2);
    expect(first.written.stdout).toContain("-  language: 'en' # a code\n");
    expect(first.written.stdout).toContain("+  language: 'fr' # a code\n");
    expect(first.written.stdout).toContain('+        api_key: ${env:NEW_EXAMPLE_COM_API_KEY}\n');
    expect(first.written.stdout).not.toContain('CANARY');
    expect(read(folder)).toBe(text);
    const second = io(ENV);
    expect(await pullCommand({ file }, second.io)).toBe(0);
    expect(second.written.stdout).toMatch(/\d+ values pulled\.\n\nWrote .*settings\.yaml\.\n$/);
    const third = io(ENV);
    expect(await pullCommand({ file, check: true }, third.io)).toBe(0);
    expect(third.written.stdout).toContain('Nothing to pull, except for what is kept.');
    expect(third.written.stdout).not.toContain('@@');
  });

  it('masks arguments and variables in the patch', async () => {
    const store = await storeWith(structuredClone(STORED));
    const text = dedent`
      version: 1
      server: { url: "${store.url}" }
      settings:
        mcp_config:
          stdio_servers:
            - name: files
              command: npx
              args: [-y, hunter2]
              # TOKEN: abc123
    `;
    const folder = folderOf({ 'settings.yaml': text });
    const { io: given, written } = io({});
    expect(await pullCommand({ file: [join(folder, 'settings.yaml')], check: true }, given)).toBe(
      2,
    );
    expect(written.stdout).not.toContain('hunter2');
    expect(written.stdout).not.toContain('server-files');
    expect(written.stdout).not.toContain('abc123');
    expect(written.stdout).toContain('-        args: [(sensitive), (sensitive)]');
    expect(written.stdout).toContain('# TOKEN: (sensitive)');
  });
});
