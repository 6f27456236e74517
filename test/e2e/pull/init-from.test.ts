/** A first settings file of what people had before setpoint: valid, applied without a further change, and without a secret of theirs. */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startEmulator } from '../../../src/emulator/start.ts';
import { LONG } from '../../fixture/long.ts';

const FILES = join(import.meta.dirname, '../../fixture/from');

let folder: ReturnType<typeof folderWith> | undefined;
afterEach(() => folder?.remove());

function here(files: Record<string, string> = {}): string {
  folder?.remove();
  folder = folderWith(files);
  return folder.path;
}

/** A folder with the examples of what people have. */
function examples(): string {
  const cwd = here();
  cpSync(FILES, cwd, { recursive: true });
  return cwd;
}

function read(cwd: string, name = 'settings.yaml'): string {
  return readFileSync(join(cwd, name), 'utf8');
}

interface Document {
  readonly variables: readonly { readonly name: string }[];
  readonly dialect: string;
  readonly status: string;
  readonly from: {
    readonly taken: number;
    readonly left: readonly {
      readonly file: string;
      readonly place: string;
      readonly line: number | null;
      readonly reason: string;
    }[];
    readonly values: readonly { readonly variable: string; readonly place: string }[];
  };
}

/** The document of an init, after which neither it nor any file has a secret of the examples. */
async function initFrom(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const flags = args.flatMap((one) => (one.startsWith('-') ? [one] : ['--from', one]));
  const ended = await setpoint(['init', ...flags, '-o', 'json'], { cwd, env });
  expect([ended.stderr, ended.code]).toEqual(['', 0]);
  const written = [read(cwd), read(cwd, '.env.example'), read(cwd, '.gitignore')];
  for (const text of [ended.stdout, ...written]) expect(text).not.toMatch(/canary/i);
  return JSON.parse(ended.stdout) as Document;
}

const KINDS: readonly (readonly [string, readonly string[]])[] = [
  ['a config.toml', ['config.toml']],
  ['an .env', ['openhands.env']],
  ['a compose file and its .env', ['docker-compose.yml', 'openhands.env']],
  ['a compose file, and what it names', ['docker-compose.yml']],
  ['mcp servers of other agents', ['mcp.json', 'vscode-mcp.json']],
  ['the folder of OpenHands', ['openhands']],
  ['the agent of OpenHands CLI', ['agent_settings.json']],
  [
    'all of them',
    ['config.toml', 'mcp.json', 'vscode-mcp.json', 'docker-compose.yml', 'openhands.env'],
  ],
];
const DIALECTS = ['settings-v0', 'app-server', 'agent-server'] as const;

/** Each kind of file on one dialect in turn, and all of them together on the one that has the most. */
function isShort(at: number, dialect: (typeof DIALECTS)[number]): boolean {
  return DIALECTS[at === KINDS.length - 1 ? 2 : at % DIALECTS.length] === dialect;
}

describe('init --from, validate, apply, plan', () => {
  for (const [at, [kind, files]] of KINDS.entries())
    for (const dialect of DIALECTS)
      it(
        `${kind}, for ${dialect}: nothing is left to change`,
        isShort(at, dialect) ? {} : LONG,
        async () => {
          const cwd = examples();
          const emulator = await startEmulator({
            dialect,
            gitProviders: [{ product: 'github', accepts: 'x-' }],
          });
          try {
            const args = [...files, `--server=${emulator.url}`, `--dialect=${dialect}`];
            const { variables, from, ...document } = await initFrom(cwd, args);
            expect(document).toMatchObject({ dialect, status: 'unread' });
            expect(from.taken).toBeGreaterThan(0);
            const env = Object.fromEntries(
              variables.map(({ name }) => [
                name,
                name.endsWith('URL')
                  ? `https://${name.toLowerCase().replaceAll('_', '-')}.example.com/x`
                  : `x-${name}`,
              ]),
            );
            const valid = await setpoint(['validate'], { cwd, env });
            expect([valid.stdout, valid.stderr]).toEqual(['Valid: default.\n', '']);
            const applied = await setpoint(['apply', '--yes', '-q'], { cwd, env });
            expect([applied.stderr, applied.code]).toEqual(['', 0]);
            const planned = await setpoint(['plan', '--exit-code'], { cwd, env });
            expect(planned.stdout).toContain('No changes.');
            expect(planned.code).toBe(0);
          } finally {
            await emulator.close();
          }
        },
      );
});

describe('init --from, what is refused', () => {
  const CASES: readonly (readonly [string, Record<string, string>, string, string])[] = [
    [
      'TOML that ends in a string',
      { 'config.toml': '[llm]\nmodel = "gpt"\napi_key = "sk-CANARY-open\n' },
      'config.toml',
      'config.toml:3:26 is not TOML.',
    ],
    [
      'JSON without a comma',
      { 'mcp.json': '{\n  "mcpServers": {"a": {"command": "x" "env": {"T": "CANARY"}}}\n}' },
      'mcp.json',
      'mcp.json:2:39 is not JSON.',
    ],
    [
      'YAML whose quote is never closed',
      { 'values.yaml': 'env:\n  LLM_API_KEY: "CANARY\n  LLM_MODEL: x\n' },
      'values.yaml',
      'values.yaml:4:1 is not YAML.',
    ],
    [
      'a folder of something else',
      { 'sub/notes.txt': 'x' },
      'sub',
      'sub is a folder that has none of config.toml, settings.json, agent_settings.json, secrets.json, mcp.json, profiles, agent-profiles.',
    ],
    ['a file that is not there', {}, 'none.toml', 'none.toml does not exist.'],
    [
      'a file of no known kind',
      { notes: 'CANARY is written here' },
      'notes',
      'notes is of no kind that init --from knows.',
    ],
    [
      'JSON of something else',
      { 'package.json': '{"name": "x", "scripts": {"t": "CANARY"}}' },
      'package.json',
      'package.json has nothing that a settings file can declare (name (line 1), scripts (line 1): no setting of the service).',
    ],
    [
      'a file of which nothing is taken, for two reasons: both are named',
      { 'config.toml': '[security]\nconfirmation_mode = "off"\nauto = true\n' },
      'config.toml',
      'config.toml has nothing that a settings file can declare (security.confirmation_mode (line 2): a settings file cannot contain it: confirmation_mode must be true or false, null or a reference; security.auto (line 3): no setting of the service).',
    ],
    [
      'a file nested without end',
      { 'mcp.json': `{"mcpServers": ${'{"a":'.repeat(5000)}1${'}'.repeat(5001)}` },
      'mcp.json',
      'mcp.json is nested deeper than 64 levels.',
    ],
    [
      'aliases that multiply',
      {
        'docker-compose.yml': `a0: &a0 [CANARY, CANARY]\n${Array.from({ length: 20 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}, *a${at}, *a${at}]`).join('\n')}\n`,
      },
      'docker-compose.yml',
      'docker-compose.yml is made of aliases that repeat too much.',
    ],
    [
      'a large file',
      { '.env': `LLM_API_KEY=${'CANARY'.repeat(200_000)}\n` },
      '.env',
      '.env is larger than 1048576 bytes.',
    ],
  ];
  for (const [what, files, from, message] of CASES)
    it(`${what}: a sentence with its place, and no file`, async () => {
      const cwd = here(files);
      const ended = await setpoint(['init', '--from', from], { cwd });
      expect(ended.code).toBe(3);
      expect(ended.stderr.split('\n')[0]).toBe(`setpoint: ${message}`);
      expect(ended.stdout + ended.stderr).not.toContain('CANARY');
      expect(existsSync(join(cwd, 'settings.yaml'))).toBe(false);
    });

  it('bytes that are no text', async () => {
    const cwd = here();
    writeFileSync(join(cwd, '.env'), Buffer.from([0xff, 0xfe, 0x00, 0x80]));
    const { code, stderr } = await setpoint(['init', '--from', '.env'], { cwd });
    expect([code, stderr.split('\n')[0]]).toEqual([3, 'setpoint: .env is not UTF-8 text.']);
  });

  it('a settings file that is there is kept', async () => {
    const cwd = here({ '.env': 'LLM_MODEL=x\n', 'settings.yaml': 'mine' });
    const { code, stderr } = await setpoint(['init', '--from', '.env'], { cwd });
    expect([code, read(cwd)]).toEqual([3, 'mine']);
    expect(stderr).toContain('settings.yaml exists already, and init does not overwrite it.');
  });
});

describe('init --from, what it says', () => {
  it('names the variables that a .env lacks, and where their values are', async () => {
    const cwd = here({
      '.env': 'LLM_MODEL=gpt\nLLM_API_KEY=CANARY-1\n',
      'mcp.json': '{"mcpServers": {"a": {"command": "npx", "env": {"A_TOKEN": "CANARY-2"}}}}',
    });
    const { stdout } = await setpoint(['init', '--from', '.env', '--from', 'mcp.json'], { cwd });
    expect(stdout).toContain(
      'Add these variables to .env:\n  A_TOKEN: its value is in mcp.json: mcpServers.a\nNext: setpoint plan --dotenv .env.\n',
    );
  });

  it('reads nothing of a server whose address it writes, and takes its key from the files', async () => {
    const cwd = here({ '.env': 'LLM_MODEL=gpt\nSESSION_API_KEY=CANARY-1\n' });
    const server = 'https://nothing.invalid';
    const { stdout, code } = await setpoint(['init', '--from', '.env', '--server', server], {
      cwd,
    });
    expect(code).toBe(0);
    expect(stdout).toContain('The service was not read: only its address is in the file.');
    expect(read(cwd)).toContain(
      `url: ${server}\n  # The key that the service needs.\n  api_key: \${env:SESSION_API_KEY}`,
    );
  });

  it('the value that a later file has is the one that holds', async () => {
    const cwd = here({ 'a.env': 'LLM_MODEL=first\n', 'b.env': 'LLM_MODEL=second\n' });
    const { from } = await initFrom(cwd, ['a.env', 'b.env']);
    expect(read(cwd)).toContain('llm_model: second');
    expect(from.left).toEqual([
      {
        file: 'a.env',
        place: 'LLM_MODEL',
        line: 1,
        reason: 'b.env has another value and comes later',
      },
    ]);
  });

  it('the names of variables do not meet: those of templates and those that are made', async () => {
    const cwd = here({
      'mcp.json': JSON.stringify({
        mcpServers: {
          a: { command: 'npx', env: { A_TOKEN: 'CANARY-1' } },
          b: { command: 'npx', env: { B_TOKEN: '${A_TOKEN}' } },
        },
      }),
    });
    await initFrom(cwd, ['mcp.json']);
    expect(read(cwd)).toContain('A_TOKEN: ${env:A_TOKEN_2}');
    expect(read(cwd)).toContain('B_TOKEN: ${env:A_TOKEN}');
  });

  it('writes a command with a secret among its words as a reference', async () => {
    const commands = {
      flag: 'run --password plain-canary',
      quoted: "sh -c 'API_KEY=plain-canary npx x'",
      open: 'npx server',
    };
    const servers = Object.entries(commands).map(([name, command]) => [name, { command }]);
    const cwd = here({ 'mcp.json': JSON.stringify({ mcpServers: Object.fromEntries(servers) }) });
    const { variables } = await initFrom(cwd, ['mcp.json']);
    expect(variables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['FLAG_COMMAND', 'QUOTED_COMMAND']),
    );
    expect(read(cwd)).toContain('command: npx server');
  });

  it('names the line of what is left out, whatever the file is written in', async () => {
    const cwd = examples();
    const files = ['config.toml', 'docker-compose.yml', 'mcp.json'];
    const { from } = await initFrom(cwd, [...files, 'openhands', '--dialect=agent-server']);
    for (const { file, place, line } of from.left) {
      if (place.startsWith('env_file')) continue;
      const written = read(cwd, file).split('\n')[(line ?? 0) - 1] ?? '';
      const keys = place
        .replaceAll(/\[(?:"([^"]+)"|\d+)\]/g, '.$1')
        .split('.')
        .filter((key) => key !== '');
      expect([file, place, keys.some((key) => written.includes(key))]).toEqual([file, place, true]);
    }
    const placed = from.left.map(({ file, place, line }) => `${file}:${line}: ${place}`);
    expect(placed).toEqual(
      expect.arrayContaining([
        'config.toml:7: core.jwt_secret',
        'docker-compose.yml:17: services.db.environment.POSTGRES_PASSWORD',
        'openhands.env:11: POSTGRES_PASSWORD',
        'mcp.json:24: mcpServers.notion.alwaysAllow',
      ]),
    );
  });

  it('reads what a compose file names with env_file; what it says itself holds', async () => {
    const cwd = here({
      'sub/compose.yaml':
        'services:\n  a:\n    env_file: [app.vars, gone.env]\n    environment: { LLM_MODEL: mine }\n',
      'sub/app.vars': 'LLM_MODEL=other\nLLM_API_KEY=CANARY-1\n',
    });
    const { from } = await initFrom(cwd, ['sub/compose.yaml']);
    expect(read(cwd)).toContain('llm_model: mine');
    expect(read(cwd)).toContain('llm_api_key: ${env:LLM_API_KEY}');
    expect(from.values).toEqual([
      { variable: 'LLM_API_KEY', file: 'sub/app.vars', place: 'LLM_API_KEY', encrypted: false },
    ]);
    expect(from.left.map(({ place, reason }) => [place, reason])).toEqual([
      ['LLM_MODEL', 'sub/compose.yaml has another value and comes later'],
      ['env_file["gone.env"]', 'not there'],
    ]);
  });

  it('takes no milliseconds for seconds', async () => {
    const server = (timeout: number) => ({ command: 'x', timeout });
    const cwd = here({
      'mcp.json': JSON.stringify({
        mcpServers: {
          seconds: server(60),
          doubtful: server(3600),
          long: server(60_000),
        },
      }),
      'settings.json': JSON.stringify({
        agent_settings: { mcp_config: { own: server(3600) } },
      }),
    });
    const args = ['mcp.json', 'settings.json', '--dialect=agent-server'];
    const { from } = await initFrom(cwd, args);
    const times = [...read(cwd).matchAll(/^ {2}(\w+):\n(?: {4}.*\n)*? {4}timeout: (\d+)$/gm)];
    expect(times.map(([, name, time]) => `${name} ${time}`)).toEqual([
      'seconds 60',
      'long 60',
      'own 3600',
    ]);
    expect(from.left).toMatchObject([{ place: 'mcpServers.doubtful.timeout' }]);
  });
});

describe('init -e NAME --from, into a file', () => {
  const FIRST = `# mine
version: 1
server: { url: "embedded:" }
settings:
  language: en
  llm_model: a/b # as all have it
`;

  it('adds an environment, and changes nothing else', async () => {
    const cwd = here({
      'settings.yaml': FIRST,
      'prod.env': 'LLM_MODEL=a/b\nLLM_API_KEY=CANARY-1\nMAX_ITERATIONS=7\n',
    });
    const { variables } = await initFrom(cwd, ['prod.env', '--env=production']);
    expect(variables.map(({ name }) => name)).toEqual(['LLM_API_KEY']);
    expect(read(cwd)).toBe(`${FIRST}environments:
  default: {}
  production:
    settings:
      llm_api_key: \${env:LLM_API_KEY}
      max_iterations: 7
`);
    const { stdout, code } = await setpoint(['plan', '-e', 'production', '--dotenv', 'prod.env'], {
      cwd,
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining('Plan: 4 to set.')]);
  });

  it('writes its address and its key, and takes no name that is there', async () => {
    const cwd = here({ 'settings.yaml': FIRST, '.env': 'LLM_MODEL=c\nSESSION_API_KEY=CANARY-1\n' });
    const args = ['.env', '--env=staging', '--server=https://staging.example.com'];
    await initFrom(cwd, args);
    expect(read(cwd)).toContain(`  staging:
    server:
      url: https://staging.example.com
      api_key: \${env:SESSION_API_KEY}
    settings:
      llm_model: c
`);
    const again = await setpoint(['init', '--from', '.env', '-e', 'staging'], { cwd });
    expect(again).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('The environment staging exists already.') as string,
    });
  });
});
